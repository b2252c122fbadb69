package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// inputBytesMax bounds what is read from a file or stdin for one call: no
// commit is larger, whatever it holds.
const inputBytesMax = 4 * agent.CommitBytesMax

// bytesArg is an argument's content: the text itself, what is in @FILE, or
// what comes from stdin for "-".
func (a *app) bytesArg(what, arg string) ([]byte, error) {
	switch {
	case arg == "-":
		return readBounded(what+" from stdin", a.stdin)
	case strings.HasPrefix(arg, "@"):
		return a.file(what, arg[1:])
	default:
		return []byte(arg), nil
	}
}

// file is the content of a file, or of stdin for "-".
func (a *app) file(what, path string) (content []byte, err error) {
	if path == "-" {
		return readBounded(what+" from stdin", a.stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%s: %w", what, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return readBounded(what+" from "+path, f)
}

func readBounded(what string, r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, inputBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	if len(content) > inputBytesMax {
		return nil, usagef("%s has more than %d bytes: no commit is that large", what, inputBytesMax)
	}
	return content, nil
}

// objectArg is an argument that holds a JSON object.
func (a *app) objectArg(what, arg string) (agent.JSON, error) {
	raw, err := a.bytesArg(what, arg)
	if err != nil {
		return nil, err
	}
	return agent.CompactObject(what, raw)
}

// optionalObject is objectArg for flags: empty means absent.
func (a *app) optionalObject(what, arg string) (agent.JSON, error) {
	if arg == "" {
		return nil, nil
	}
	return a.objectArg(what, arg)
}

// draftDoc is an entry as callers write it.
type draftDoc struct {
	ID      string         `json:"id"`
	At      *int64         `json:"at"`
	Kind    string         `json:"kind"`
	Payload jsontext.Value `json:"payload"`
	Refs    jsontext.Value `json:"refs"`
	Seq     *uint64        `json:"seq"` // taken and ignored: the thread numbers its entries
}

func (d draftDoc) draft() agent.Draft {
	return agent.Draft{ID: d.ID, At: d.At, Kind: d.Kind, Payload: agent.JSON(d.Payload), Refs: agent.JSON(d.Refs)}
}

// drafts reads entries: a JSON array of them, or one a line.
func (a *app) drafts(path string) ([]agent.Draft, error) {
	raw, err := a.file("entries", path)
	if err != nil {
		return nil, err
	}
	var docs []draftDoc
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if err := strict(raw, &docs); err != nil {
			return nil, usagef("entries: %w", err)
		}
	} else {
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, inputBytesMax+1)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var doc draftDoc
			if err := strict(bytes.Clone(lines.Bytes()), &doc); err != nil {
				return nil, usagef("entries, line %d: %w", n, err)
			}
			docs = append(docs, doc)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read entries: %w", err)
		}
	}
	drafts := make([]agent.Draft, len(docs))
	for i, doc := range docs {
		drafts[i] = doc.draft()
	}
	return drafts, nil
}

// strict decodes JSON and refuses members that it has no place for.
func strict(raw []byte, into any) error {
	err := strictjson.Unmarshal(raw, into)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		where := string(semantic.JSONPointer)
		if where == "" {
			where = "the document"
		}
		if semantic.Err != nil {
			return fmt.Errorf("%s: %w", where, semantic.Err)
		}
		return fmt.Errorf("%s: a JSON %s has no place there", where, semantic.JSONKind)
	}
	return err
}
