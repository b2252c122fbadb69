package blob

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The protocol of dormblob, over its stdin and stdout:
//
//	dormblob URL starts. It writes a hello: a line of JSON, {"protocol":1} or {"error":"…"}.
//	A request is a line of JSON, {"op":"put","name":"a/b","size":7}. Ops are put, get, list, dirs and
//	delete.
//	After the line of a put comes a body, of about size bytes if that is there.
//	An answer is a line of JSON: {}, {"error":"…","code":"not_found"}, {"objects":[…]} or {"dirs":[…]}.
//	One with the code too_many has both an error and the first objects.
//	After the line of a get without an error comes a body.
//	A body is chunks: a length of 4 bytes, big-endian, and as many bytes. Length 0 ends it. Length
//	2³²−1 says that its sender failed: for a get, another answer with the error follows.
//
// One request is under way at a time. dormblob ends at the end of its stdin. Credentials and
// endpoints come from its environment.
const (
	protocolVersion = 1
	chunkBytes      = 256 << 10
	chunkFailed     = 1<<32 - 1
	codeNotFound    = "not_found"
	codeTooMany     = "too_many"
)

type hello struct {
	Protocol int    `json:"protocol,omitempty"`
	Error    string `json:"error,omitempty"`
}

type request struct {
	Op   string `json:"op"`
	Name string `json:"name"`
	Size int64  `json:"size,omitempty"` // programs before 2026-12 send and read none
}

type answer struct {
	Error   string   `json:"error,omitempty"`
	Code    string   `json:"code,omitempty"`
	Objects []Object `json:"objects,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
}

// answerOf returns the answer with an error.
func answerOf(err error) answer {
	if errors.Is(err, ErrNotFound) {
		return answer{Error: err.Error(), Code: codeNotFound}
	}
	if errors.Is(err, ErrTooMany) {
		return answer{Error: err.Error(), Code: codeTooMany}
	}
	return answer{Error: err.Error()}
}

// err returns the error of an answer, or nil.
func (a answer) err() error {
	switch {
	case a.Code == codeNotFound:
		return ErrNotFound
	case a.Code == codeTooMany:
		return ErrTooMany
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

func writeLine(w io.Writer, document any) error {
	raw, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

func readLine(r *bufio.Reader, into any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// sendBody writes what r returns as a body. sent is an error of w, and failed one of r.
func sendBody(w io.Writer, r io.Reader) (failed, sent error) {
	buffer := make([]byte, 4+chunkBytes)
	for {
		n, err := fill(r, buffer[4:])
		if n > 0 {
			binary.BigEndian.PutUint32(buffer, uint32(n))
			if _, err := w.Write(buffer[:4+n]); err != nil {
				return nil, err
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // any other error, such as io.ErrUnexpectedEOF of a connection, is no end
			binary.BigEndian.PutUint32(buffer, 0)
			_, err := w.Write(buffer[:4])
			return nil, err
		case err != nil:
			binary.BigEndian.PutUint32(buffer, chunkFailed)
			_, sent := w.Write(buffer[:4])
			return err, sent
		}
	}
}

// fill reads until p is full or r returns an error, and returns that error.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = r.Read(p[n:])
		n += more
	}
	return n, err
}

// errBodyFailed means that the sender of a body could not go on.
var errBodyFailed = errors.New("the sender of the object failed")

// body reads a body. Read returns errBodyFailed if its sender failed, and io.EOF at its end.
type body struct {
	r    io.Reader
	left uint32
	end  error
}

func (b *body) Read(p []byte) (int, error) {
	for b.left == 0 {
		if b.end != nil {
			return 0, b.end
		}
		var length [4]byte
		if _, err := io.ReadFull(b.r, length[:]); err != nil {
			return 0, fmt.Errorf("read the next chunk: %w", noEOF(err))
		}
		switch b.left = binary.BigEndian.Uint32(length[:]); {
		case b.left == 0:
			b.end = io.EOF
		case b.left == chunkFailed:
			b.left, b.end = 0, errBodyFailed
		case b.left > chunkBytes:
			return 0, fmt.Errorf("a chunk has %d bytes, more than %d", b.left, chunkBytes)
		}
	}
	n, err := b.r.Read(p[:min(uint64(len(p)), uint64(b.left))])
	b.left -= uint32(n)
	return n, noEOF(err)
}

// noEOF returns err, and another error for io.EOF: the program has ended inside a body.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
