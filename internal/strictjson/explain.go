package strictjson

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Explain returns which member of a document that cannot be decoded is wrong, and why, in words of
// JSON. whole names the document, for errors that are about no member.
func Explain(err error, whole string) (field, why string) {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field = FieldAt(semantic.JSONPointer, whole)
		if errors.Is(err, ErrEmpty) {
			return field, fmt.Sprintf("%s is empty: leave it out, or give it a value", field)
		}
		if errors.Is(err, json.ErrUnknownName) {
			return field, fmt.Sprintf("there is no member %s", field)
		}
		want := wanted(semantic.GoType)
		if want == inBase64 && semantic.JSONKind == '"' {
			return field, fmt.Sprintf("%s is not base64: encode its bytes so, with padding", field)
		}
		return field, fmt.Sprintf("%s is %s, and should be %s", field, named(semantic), want)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		field = FieldAt(syntactic.JSONPointer, whole)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return field, fmt.Sprintf("the member %s occurs twice: give it once", field)
		}
		return field, fmt.Sprintf("not valid JSON at byte %d: %v", syntactic.ByteOffset, syntactic.Err)
	}
	return whole, fmt.Sprintf("not valid JSON: %v", err)
}

// FieldAt converts a JSON pointer to the form in which errors name members: entries[0].kind.
// whole names the document, which the empty pointer means.
func FieldAt(pointer jsontext.Pointer, whole string) string {
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
