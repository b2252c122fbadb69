package document

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// Duration converts milliseconds to a duration; field names the member in the error.
func Duration(field string, ms uint64) (time.Duration, error) {
	if ms > uint64(agent.TTLMax/time.Millisecond) {
		return 0, agent.Invalid(field, "%d ms is more than ten years", ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// bodyError is an error about a member, with the member's name in the body.
type bodyError struct{ err *agent.Error }

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// Decode decodes a document strictly (see strictjson). Its errors name the wrong
// member; whole is the name of the document.
func Decode(raw []byte, into any, whole string) error {
	if err := strictjson.Unmarshal(raw, into); err != nil {
		return invalidJSON(err, whole)
	}
	return nil
}

// invalidJSON returns the error of a document that cannot be decoded. whole names the
// document, for errors that are about no member.
func invalidJSON(err error, whole string) error { return &bodyError{invalidDocument(err, whole)} }

// Reason says what is wrong with a document that cannot be decoded, in words of JSON.
func Reason(err error, whole string) string { return invalidDocument(err, whole).Detail }

func invalidDocument(err error, whole string) *agent.Error {
	var coded *agent.Error
	if errors.As(err, &coded) {
		return coded
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldAt(semantic.JSONPointer, whole)
		if errors.Is(err, strictjson.ErrEmpty) {
			return agent.Invalid(field, "%s is empty: leave it out, or give it a value", field)
		}
		if errors.Is(err, json.ErrUnknownName) {
			return agent.Invalid(field, "there is no member %s", field)
		}
		want := wanted(semantic.GoType)
		if want == inBase64 && semantic.JSONKind == '"' {
			return agent.Invalid(field, "%s is not base64: encode its bytes so, with padding", field)
		}
		return agent.Invalid(field, "%s is %s, and should be %s", field, named(semantic), want)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		field := fieldAt(syntactic.JSONPointer, whole)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return agent.Invalid(field, "the member %s occurs twice: give it once", field)
		}
		return agent.Invalid(field, "not valid JSON at byte %d: %v", syntactic.ByteOffset, syntactic.Err)
	}
	return agent.Invalid(whole, "not valid JSON: %v", err)
}

// fieldAt converts a JSON pointer to the form of the field member: entries[0].kind.
func fieldAt(pointer jsontext.Pointer, whole string) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		switch {
		case b.Len() > 0 && token != "" && strings.Trim(token, "0123456789") == "":
			fmt.Fprintf(&b, "[%s]", token)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	if b.Len() == 0 {
		return whole
	}
	return b.String()
}

// named describes the JSON value of the document.
func named(e *json.SemanticError) string {
	if len(e.JSONValue) > 0 && len(e.JSONValue) <= 64 {
		return string(e.JSONValue)
	}
	switch e.JSONKind {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	case '[', ']':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "something else"
	}
}

// inBase64 describes the JSON of bytes.
const inBase64 = "a string in base64"

// wanted describes the JSON that a Go type accepts.
func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 to 2^64-1"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number of 64 bits"
	case reflect.Float32:
		return "a number from -3.4e38 to 3.4e38"
	case reflect.Float64:
		return "a number that a double can hold"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return inBase64
		}
		return "an array"
	default:
		return "an object"
	}
}

// decodeNamed decodes a document into the type that its name, the member under key,
// selects. It returns the name too.
func decodeNamed[N, T any](raw JSON, key string, nameOf func(N) string, kinds map[string]func() T) (name string, decoded T, err error) {
	var nothing T
	var named N
	if err := json.Unmarshal(raw, &named); err != nil {
		return "", nothing, invalidJSON(err, key)
	}
	name = nameOf(named)
	empty, ok := kinds[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
		return "", nothing, agent.Invalid(key, "%s is %q, and should be one of %s", key, name, known)
	}
	wire := empty()
	if err := Decode(raw, wire, key); err != nil {
		return "", nothing, err
	}
	return name, wire, nil
}
