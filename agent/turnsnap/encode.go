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

// Encode returns the JSON object of a Go value, which must be a map or a struct: turn
// state or metadata, as field says. It uses json tags and the marshalling methods of
// types. Durations are nanoseconds, []byte is base64, a nil map or slice is empty, nil
// is {}.
//
// A value that JSON cannot represent is non_serializable_snapshot_value: a function, a
// channel, a complex number, NaN or an infinity, text that is not UTF-8, a map whose
// keys are not strings, a cycle, a struct without exported fields. The error's Field
// is its path, such as turn_state.tools[2].fn.
func Encode(field string, value any) (agent.JSON, error) {
	raw, err := (&walk{field: field}).marshal(value)
	if err != nil {
		again := &walk{field: field, at: field, keepsPath: true}
		_, _ = again.marshal(value) // the same error again, now with its path
		return nil, refusal(again.at, err)
	}
	if string(raw) == "null" {
		return agent.JSON("{}"), nil
	}
	return agent.CompactObject(field, raw)
}

// walk tracks the position in a value while it is encoded.
type walk struct {
	field     string
	keepsPath bool   // maintain at, which costs more than the encoding
	at        string // the path of the value that was last begun
	open      []node // the pointers, maps and slices being encoded, outermost first
}

// node is a value that could contain itself, and its position in the JSON.
type node struct {
	kind  reflect.Type
	at    uintptr
	depth int   // of the JSON
	index int64 // number of values before it at that depth, which identifies it
}

func (w *walk) marshal(value any) ([]byte, error) {
	return json.Marshal(value,
		json.WithMarshalers(json.MarshalToFunc(w.enter)),
		json.Deterministic(true), jsonv1.FormatDurationAsNano(true),
	)
}

// enter is called before each value is encoded, with a pointer to it. It leaves the
// encoding to the encoder, except for values that are JSON already.
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
			return fmt.Errorf("a map whose keys are %s, not strings", v.Type().Key())
		}
	case reflect.Pointer, reflect.Slice:
	default:
		return errors.ErrUnsupported
	}
	return w.descend(enc, v)
}

// descend records that v is being encoded, and returns an error if it is a cycle.
func (w *walk) descend(enc *jsontext.Encoder, v reflect.Value) error {
	if v.IsNil() || v.Kind() != reflect.Pointer && v.Len() == 0 {
		return errors.ErrUnsupported
	}
	depth := enc.StackDepth()
	_, index := enc.StackIndex(depth)
	for last := len(w.open) - 1; last >= 0; last-- { // remove those that are complete
		if n := w.open[last]; n.depth < depth || n.depth == depth && n.index == index {
			break
		}
		w.open = w.open[:last]
	}
	for _, above := range w.open {
		if above.kind == v.Type() && above.at == v.Pointer() {
			return errors.New("a value that contains itself (a cycle)")
		}
	}
	w.open = append(w.open, node{kind: v.Type(), at: v.Pointer(), depth: depth, index: index})
	return errors.ErrUnsupported
}

// path returns the position of the encoder, in Go notation.
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

// unescape decodes a name in a JSON pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// refusal returns the error of a value that could not be encoded because of the value
// at path.
func refusal(path string, err error) *agent.Error {
	why := err
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.Err != nil {
		why = semantic.Err
	} else if semantic != nil && semantic.GoType != nil {
		why = fmt.Errorf("a %s", semantic.GoType)
	}
	e := agent.Errorf(CodeNonSerializable, "%s cannot be written as JSON (%v): leave it out, or store the data that it was made from", path, why)
	e.Field = path
	return e
}
