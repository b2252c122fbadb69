package turnsnap

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"dormouse/agent"
)

// Encode makes the JSON object of a Go value, which is a map or a struct: turn
// state or metadata, as the field says. It goes by the json tags, and by the
// marshalling methods that types have. Durations are nanoseconds, []byte is
// base64, a nil map or slice is empty, nil is {}.
//
// What JSON has no words for is non_serializable_snapshot_value: a function, a
// channel, a complex number, NaN or an infinity, text that is not UTF-8, a map
// whose keys are not strings, a cycle, a struct of which nothing is exported.
// The error's Field is the path to it, such as turn_state.tools[2].fn.
func Encode(field string, value any) (agent.JSON, error) {
	raw, err := (&walk{field: field}).marshal(value)
	if err != nil {
		again := &walk{field: field, at: field, keepsPath: true}
		_, _ = again.marshal(value) // the same error: this time to learn where
		return nil, refusal(again.at, err)
	}
	if string(raw) == "null" {
		return agent.JSON("{}"), nil
	}
	return agent.CompactObject(field, raw)
}

// walk follows a value while it is written.
type walk struct {
	field     string
	keepsPath bool   // in at, which costs more than the writing
	at        string // the path of the value that was begun last
	open      []node // the pointers, maps and slices that are being written, outermost first
}

// node is something that may hold itself, and where in the JSON it is written.
type node struct {
	kind  reflect.Type
	at    uintptr
	depth int   // of the JSON
	index int64 // how much was written at that depth: the next value's differs
}

func (w *walk) marshal(value any) ([]byte, error) {
	return json.Marshal(value,
		json.WithMarshalers(json.MarshalToFunc(w.enter)),
		json.Deterministic(true), jsonv1.FormatDurationAsNano(true),
	)
}

// enter is called before each value is written, with a pointer to it. It leaves
// the writing to the encoder, save for JSON that is written already.
func (w *walk) enter(enc *jsontext.Encoder, value any) error {
	if w.keepsPath {
		w.at = w.path(enc)
	}
	if raw, ok := value.(*agent.JSON); ok {
		if len(*raw) == 0 {
			return enc.WriteToken(jsontext.Null)
		}
		return enc.WriteValue(jsontext.Value(*raw))
	}
	v := reflect.ValueOf(value).Elem()
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return fmt.Errorf("a map with keys of type %s, which are not strings", v.Type().Key())
		}
	case reflect.Pointer, reflect.Slice:
	default:
		return errors.ErrUnsupported
	}
	return w.descend(enc, v)
}

// descend notes that v is being written, and refuses it where it is already.
func (w *walk) descend(enc *jsontext.Encoder, v reflect.Value) error {
	if v.IsNil() || v.Kind() != reflect.Pointer && v.Len() == 0 {
		return errors.ErrUnsupported
	}
	depth := enc.StackDepth()
	_, index := enc.StackIndex(depth)
	for last := len(w.open) - 1; last >= 0; last-- { // those that have been written since
		if n := w.open[last]; n.depth < depth || n.depth == depth && n.index == index {
			break
		}
		w.open = w.open[:last]
	}
	for _, above := range w.open {
		if above.kind == v.Type() && above.at == v.Pointer() {
			return errors.New("a value that holds itself: a cycle")
		}
	}
	w.open = append(w.open, node{kind: v.Type(), at: v.Pointer(), depth: depth, index: index})
	return errors.ErrUnsupported
}

// path is where the encoder stands, as Go would write it.
func (w *walk) path(enc *jsontext.Encoder) string {
	var path strings.Builder
	path.WriteString(w.field)
	names := strings.Split(string(enc.StackPointer()), "/") // the first is empty
	depth := enc.StackDepth()
	for level := 1; level <= depth; level++ {
		kind, length := enc.StackIndex(level)
		switch {
		case kind == '[' && level < depth: // inside its last element
			fmt.Fprintf(&path, "[%d]", length-1)
		case kind == '[':
			fmt.Fprintf(&path, "[%d]", length)
		case length%2 == 1 || level < depth:
			name := unescape.Replace(names[level])
			if strings.ContainsAny(name, ".[]\" ") || name == "" {
				fmt.Fprintf(&path, "[%q]", name)
			} else {
				path.WriteString("." + name)
			}
		}
	}
	return path.String()
}

// unescape reads a name in a JSON pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// refusal is the error of a value that could not be written because of what is
// at a path.
func refusal(path string, err error) *agent.Error {
	why := err
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.Err != nil {
		why = semantic.Err
	} else if semantic != nil && semantic.GoType != nil {
		why = fmt.Errorf("a %s", semantic.GoType)
	}
	e := agent.Errorf(CodeNonSerializable, "%s cannot be written as JSON (%v): leave it out, or keep what it was made from", path, why)
	e.Field = path
	return e
}
