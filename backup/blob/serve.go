package blob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Serve answers the requests of a caller of OpenProgram from r until its end, with a store. opened
// is the error of opening the store: the caller learns of it, and Serve returns it.
func Serve(ctx context.Context, store Store, opened error, r io.Reader, w io.Writer) error {
	in, out := bufio.NewReaderSize(r, chunkBytes), bufio.NewWriterSize(w, chunkBytes)
	first := hello{Protocol: protocolVersion}
	if opened != nil {
		first = hello{Error: opened.Error()}
	}
	if err := errors.Join(writeLine(out, first), out.Flush(), opened); err != nil {
		return err
	}
	for {
		var asked request
		if err := readLine(in, &asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := serveOne(ctx, store, asked, in, out); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// serveOne answers one request. An error means that the streams are unusable.
func serveOne(ctx context.Context, store Store, asked request, in io.Reader, out io.Writer) error {
	done := func(a answer, err error) error {
		if err != nil {
			objects := a.Objects
			if a = answerOf(err); a.Code == codeTooMany {
				a.Objects = objects
			}
		}
		return writeLine(out, a)
	}
	switch asked.Op {
	case "put":
		content := &body{r: in}
		put := checkName(asked.Name)
		if put == nil {
			put = store.Put(ctx, asked.Name, content, asked.Size)
		}
		// What the store did not read is still in the stream.
		if _, err := io.Copy(io.Discard, content); err != nil && !errors.Is(err, errBodyFailed) {
			return err
		}
		return done(answer{}, put)
	case "get":
		return serveGet(ctx, store, asked.Name, out)
	case "list":
		objects, err := store.List(ctx, asked.Name)
		return done(answer{Objects: objects}, err)
	case "dirs":
		dirs, err := store.Dirs(ctx)
		return done(answer{Dirs: dirs}, err)
	case "delete":
		return done(answer{}, store.Delete(ctx, asked.Name))
	}
	return done(answer{}, fmt.Errorf("there is no op %q", asked.Op))
}

func serveGet(ctx context.Context, store Store, name string, out io.Writer) error {
	content, err := store.Get(ctx, name)
	if err != nil {
		return writeLine(out, answerOf(err))
	}
	defer content.Close() //nolint:errcheck // it was only read
	if err := writeLine(out, answer{}); err != nil {
		return err
	}
	failed, sent := sendBody(out, content)
	if failed != nil && sent == nil {
		return writeLine(out, answerOf(failed))
	}
	return sent
}
