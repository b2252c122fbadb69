package agent

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is one compact JSON value: tokens, member order and number literals as
// the caller wrote them, without insignificant white space. nil means absent.
type JSON []byte

// emptyObject is the value of an omitted object. It must not be written to.
var emptyObject = JSON("{}")

// Compact checks that raw is one JSON value and removes its insignificant white space;
// everything else stays as written. Duplicate member names, invalid UTF-8 and nesting
// deeper than JSONDepthMax are invalid.
//
// If raw is compact already, the result shares its memory; Compact never writes to
// raw.
func Compact(raw []byte) (JSON, error) {
	// Scan first: it bounds the depth before the recursive check.
	loose, depth := scan(raw)
	if depth > JSONDepthMax {
		return nil, Invalid("", "JSON is nested deeper than %d levels: flatten it", JSONDepthMax)
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, invalidJSON(raw)
	}
	if loose {
		return squeeze(raw), nil
	}
	return raw[:len(raw):len(raw)], nil
}

// CompactObject is Compact for a value that must be a JSON object. Errors name field.
func CompactObject(field string, raw []byte) (JSON, error) {
	value, err := Compact(raw)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Field = field
			e.Detail = field + ": " + e.Detail
		}
		return nil, err
	}
	if value[0] != '{' {
		return nil, Invalid(field, "%s must be a JSON object, not a %s: wrap it in one", field, jsontext.Value(value).Kind())
	}
	return value, nil
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
func squeeze(raw []byte) JSON {
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
func invalidJSON(raw []byte) *Error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw))
	_, err := decoder.ReadValue()
	if errors.Is(err, io.EOF) {
		return Invalid("", "a JSON value is missing")
	}
	if err == nil {
		_, err = decoder.ReadToken()
	}
	if err == nil || errors.Is(err, io.EOF) {
		return Invalid("", "there is more than one JSON value: send exactly one")
	}
	return Invalid("", "not valid JSON: %v", err)
}

// isNull reports whether raw is absent or the literal null. Both mean the default.
func isNull(raw JSON) bool {
	if len(raw) == 0 {
		return true
	}
	trimmed := bytes.Trim(raw, " \t\r\n")
	return len(trimmed) == 4 && string(trimmed) == "null"
}

// without returns a compact object without the member of that name, also if the name
// is written with escapes. It copies only if the member exists.
func without(object JSON, name string) (JSON, error) {
	if !bytes.Contains(object, []byte(name)) && !bytes.Contains(object, []byte(`\u00`)) {
		return object, nil
	}
	found, out := false, append(make([]byte, 0, len(object)), '{')
	err := members(object, func(rawName []byte, value JSON) error {
		plain, err := unquote(rawName)
		if err != nil {
			return err
		}
		if plain == name {
			found = true
			return nil
		}
		out = appendMember(out, rawName, value)
		return nil
	})
	if err != nil || !found {
		return object, err
	}
	return append(out, '}'), nil
}

// members calls yield with the quoted name and the value of each member of a compact
// object, in order. Both alias object and stay valid: a decoder over a bytes.Buffer
// reads in place and never writes to it.
func members(object JSON, yield func(rawName []byte, value JSON) error) error {
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
		if err := yield(name, JSON(value)); err != nil {
			return err
		}
	}
	return nil
}

// appendMember adds a member to an unfinished object, which has at least its opening
// brace.
func appendMember(object, rawName, value []byte) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(object, rawName...)
	object = append(object, ':')
	return append(object, value...)
}

// unquote returns the value of a quoted JSON string.
func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) >= 2 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	return string(plain), err
}
