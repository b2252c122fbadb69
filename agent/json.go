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

// emptyObject stands where an object was left out. Nobody writes to it.
var emptyObject = JSON("{}")

// Compact checks that raw is one JSON value and strips its insignificant white
// space; everything else stays as it is written. Duplicate member names,
// invalid UTF-8 and nesting past JSONDepthMax are invalid.
//
// What is compact already is returned as it is, without copying: the result
// may share memory with raw, which is never written to.
func Compact(raw []byte) (JSON, error) {
	// The scan comes first: it bounds the depth before anything recurses.
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

// CompactObject is Compact for what must be a JSON object; field names it in
// the error.
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

// scan tells, whether or not raw is valid, if there is white space outside of
// strings and how deep the nesting goes.
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

// stringEnd is the place of the quote that closes the string opened at start;
// len(raw) where none does. It goes from quote to quote: most text has few.
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

// invalidJSON finds out what IsValid did not like.
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

// isNull tells whether raw is absent or the literal null, which take the
// default wherever there is one (SEMANTICS §1.2).
func isNull(raw JSON) bool {
	if len(raw) == 0 {
		return true
	}
	trimmed := bytes.Trim(raw, " \t\r\n")
	return len(trimmed) == 4 && string(trimmed) == "null"
}

// without is the compact object less the member of that name, wherever the
// name is spelled with escapes too. It copies only if there is such a member.
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

// members calls yield with each member of a compact object, in order: its name
// as it is quoted, and its value. Both alias object, and stay good: a decoder
// over a bytes.Buffer reads it in place and never writes to it.
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

// appendMember adds a member to an object that is being written; object holds
// at least its opening brace.
func appendMember(object, rawName, value []byte) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(object, rawName...)
	object = append(object, ':')
	return append(object, value...)
}

// unquote is the string that a quoted JSON string stands for.
func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) >= 2 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	return string(plain), err
}
