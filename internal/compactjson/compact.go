// Package compactjson reads and writes compact JSON: tokens, member order and number
// literals as their author wrote them, without insignificant white space.
package compactjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// DepthMax bounds the nesting of a value.
const DepthMax = 128

// Object is the empty object. It must not be written to.
var Object = []byte("{}")

// ErrSeveral says that text holds more than one value.
var ErrSeveral = errors.New("there is more than one JSON value: send exactly one")

// Compact checks that raw is one JSON value and removes its insignificant white space;
// everything else stays as written. Duplicate member names, invalid UTF-8 and nesting
// deeper than DepthMax are errors.
//
// If raw is compact already, the result shares its memory; Compact never writes to
// raw.
func Compact(raw []byte) ([]byte, error) {
	// Scan first: it bounds the depth before the recursive check.
	loose, depth := scan(raw)
	if depth > DepthMax {
		return nil, fmt.Errorf("JSON is nested deeper than %d levels: flatten it", DepthMax)
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, invalidJSON(raw)
	}
	if loose {
		return squeeze(raw), nil
	}
	return raw[:len(raw):len(raw)], nil
}

// scan reports whether raw has white space outside of strings, and how deep it nests.
// raw need not be valid.
func scan(raw []byte) (loose bool, depth int) {
	level := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			level++
			depth = max(depth, level)
		case '}', ']':
			level--
		case ' ', '\t', '\n', '\r':
			loose = true
		}
	}
	return loose, depth
}

// squeeze copies valid JSON without the white space between its tokens.
func squeeze(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			end := min(stringEnd(raw, i), len(raw)-1)
			out = append(out, raw[i:end+1]...)
			i = end
		case ' ', '\t', '\n', '\r':
		default:
			out = append(out, raw[i])
		}
	}
	return out
}

// stringEnd returns the index of the quote that closes the string opened at start, or
// len(raw). It searches from quote to quote, because most strings have few.
func stringEnd(raw []byte, start int) int {
	for from := start + 1; ; {
		next := bytes.IndexByte(raw[from:], '"')
		if next < 0 {
			return len(raw)
		}
		quote := from + next
		escapes := 0
		for quote-escapes > from && raw[quote-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// invalidJSON returns the error for a value that IsValid rejected.
func invalidJSON(raw []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw))
	_, err := decoder.ReadValue()
	if errors.Is(err, io.EOF) {
		return errors.New("a JSON value is missing")
	}
	if err == nil {
		_, err = decoder.ReadToken()
	}
	if err == nil || errors.Is(err, io.EOF) {
		return ErrSeveral
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// IsNull reports whether raw is absent or the literal null. Both mean the default.
func IsNull(raw []byte) bool {
	if len(raw) == 0 {
		return true
	}
	if raw[0] == '{' { // what nearly all are
		return false
	}
	trimmed := bytes.Trim(raw, " \t\r\n")
	return len(trimmed) == 4 && string(trimmed) == "null"
}

// Without returns a compact object without the member of that name, also if the name
// is written with escapes. It copies only if the member exists.
func Without(object []byte, name string) ([]byte, error) {
	if !bytes.Contains(object, []byte(name)) && !bytes.Contains(object, []byte(`\u00`)) {
		return object, nil
	}
	found, out := false, append(make([]byte, 0, len(object)), '{')
	err := Members(object, func(rawName, value []byte) error {
		plain, err := Unquote(rawName)
		if err != nil {
			return err
		}
		if plain == name {
			found = true
			return nil
		}
		out = AppendMember(out, rawName, value)
		return nil
	})
	if err != nil || !found {
		return object, err
	}
	return append(out, '}'), nil
}

// Members calls yield with the quoted name and the value of each member of a compact
// object, in order. Both alias object and stay valid: a decoder over a bytes.Buffer
// reads in place and never writes to it.
func Members(object []byte, yield func(rawName, value []byte) error) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(object))
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if err := yield(name, value); err != nil {
			return err
		}
	}
	return nil
}

// AppendMember adds a member to an unfinished object, which has at least its opening
// brace.
func AppendMember(object, rawName, value []byte) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(object, rawName...)
	object = append(object, ':')
	return append(object, value...)
}

// Unquote returns the value of a quoted JSON string.
func Unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) >= 2 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	return string(plain), err
}
