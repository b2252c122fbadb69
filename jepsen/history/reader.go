package history

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// lineBytesMax bounds one line: a call's whole answer is on one.
const lineBytesMax = 256 << 20

// Read reads the file that a Recorder wrote, also if it is packed with gzip (".gz"). A
// call without a return is unknown. Read reads the file of an interrupted run up to
// the last whole line and sets Cut.
func Read(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", path, err)
		}
		in = unpacked
	}
	h, err := decode(in)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	return h, nil
}

// Parse is Read from a reader of the file.
func Parse(in io.Reader) (*History, error) {
	h, err := decode(in)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, nil
}

// decode reads the lines of a history.
func decode(in io.Reader) (*History, error) {
	r := reader{history: &History{Cut: true}, open: map[int64]int{}, names: map[string]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), lineBytesMax)
	number := 0
	for lines.Scan() {
		number++
		if err := r.line(lines.Bytes()); err != nil {
			if number > 1 && !lines.Scan() {
				break // the run ended while it wrote this line
			}
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if number == 0 {
		return nil, errors.New("the file is empty")
	}
	return r.history, nil
}

// reader builds a history line by line.
type reader struct {
	history *History
	open    map[int64]int     // :: id of a call without a return → its index in Ops
	names   map[string]string // the few names that all calls share
}

func (r *reader) line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	switch {
	case l.Header != nil:
		if l.Header.Format != Format {
			return fmt.Errorf("the format is %d, and this program reads only %d", l.Header.Format, Format)
		}
		r.history.Header = *l.Header
	case r.history.Header.Format == 0:
		return errors.New("the header is missing: is this a history file?")
	case l.Invoke != nil:
		op := *l.Invoke
		op.finish(ending{Outcome: Unknown})
		for _, name := range []*string{&op.Workload, &op.Node, &op.Call, &op.Key} {
			*name = r.shared(*name)
		}
		r.open[op.ID] = len(r.history.Ops)
		r.history.Ops = append(r.history.Ops, op)
	case l.Return != nil:
		at, open := r.open[l.Return.ID]
		if !open {
			return fmt.Errorf("a return of call %d, which is not in progress", l.Return.ID)
		}
		delete(r.open, l.Return.ID)
		r.history.Ops[at].finish(*l.Return)
	case l.Event != nil:
		r.history.Events = append(r.history.Events, *l.Event)
	case l.Closed:
		r.history.Cut = false
	default:
		return errors.New("the line is none of header, invoke, return, event and closed")
	}
	return nil
}

// shared returns the one copy of a name.
func (r *reader) shared(name string) string {
	if one, known := r.names[name]; known {
		return one
	}
	r.names[name] = name
	return name
}

// Decode decodes the input or the output of a call.
func Decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("decode %T: %w", v, err)
	}
	return v, nil
}
