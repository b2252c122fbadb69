package kit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/cli"
)

// inputBytesMax bounds the input of one call from a file or stdin: no commit is
// larger.
const inputBytesMax = 4 * agent.CommitBytesMax

// BytesArg returns the content of an argument: the text itself, the content of @FILE,
// or stdin for "-".
func (a *App) BytesArg(what, arg string) ([]byte, error) {
	switch {
	case arg == "-":
		return readBounded(what+" from stdin", a.Stdin)
	case strings.HasPrefix(arg, "@"):
		return a.File(what, arg[1:])
	default:
		return []byte(arg), nil
	}
}

// File returns the content of a file, or stdin for "-".
func (a *App) File(what, path string) (content []byte, err error) {
	if path == "-" {
		return readBounded(what+" from stdin", a.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("%s: %w", what, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	return readBounded(what+" from "+path, f)
}

func readBounded(what string, r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, inputBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	if len(content) > inputBytesMax {
		return nil, cli.Usagef("%s has more than %d bytes: no commit is that large", what, inputBytesMax)
	}
	return content, nil
}

// ObjectArg returns the content of an argument that must be a JSON object.
func (a *App) ObjectArg(what, arg string) (agent.JSON, error) {
	raw, err := a.BytesArg(what, arg)
	if err != nil {
		return nil, err
	}
	return agent.CompactObject(what, raw)
}

// OptionalObject is ObjectArg for flags: an empty one is absent.
func (a *App) OptionalObject(what, arg string) (agent.JSON, error) {
	if arg == "" {
		return nil, nil
	}
	return a.ObjectArg(what, arg)
}

// Drafts reads entries from a file: a JSON array, or one JSON object a line.
func (a *App) Drafts(path string) ([]agent.Draft, error) {
	raw, err := a.File("entries", path)
	if err != nil {
		return nil, err
	}
	var docs document.Drafts
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if err := document.Decode(raw, &docs, "the document"); err != nil {
			return nil, BadDocument("entries", err)
		}
	} else {
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, inputBytesMax+1)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var doc document.Draft
			if err := document.Decode(bytes.Clone(lines.Bytes()), &doc, "the document"); err != nil {
				return nil, BadDocument(fmt.Sprintf("entries, line %d", n), err)
			}
			docs = append(docs, doc)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read entries: %w", err)
		}
	}
	return docs.ToAgent(), nil
}

// BadDocument returns the usage error of an invalid document. what names the
// document; "" if the error does.
func BadDocument(what string, err error) error {
	var e *agent.Error
	errors.As(err, &e)
	if e != nil && e.Op >= 0 {
		what += fmt.Sprintf(", op %d", e.Op)
	}
	if what != "" {
		what += ": "
	}
	if e != nil && e.Code == agent.CodeInvalid {
		return cli.Usagef("%s%s", what, e.Detail)
	}
	return cli.Usagef("%s%w", what, err)
}
