// Package strictjson decodes the documents of callers. It refuses what a lenient
// decoder ignores: unknown members, and empty strings, which differ from absent ones.
package strictjson

import (
	"bytes"
	"encoding"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Optional is implemented by the string types of free text, which may be empty:
// a note, a query. Every other string of a document is a name or one of a few words.
type Optional interface{ MayBeEmpty() }

// Text is a string that may be empty.
type Text string

// MayBeEmpty implements Optional.
func (Text) MayBeEmpty() {}

// ErrEmpty is the error of an empty string that is not Optional. A json.SemanticError
// wraps it and says where.
var ErrEmpty = errors.New("the string is empty: leave the member out, or give it a value")

// Unmarshal decodes a document. It refuses unknown and duplicate members,
// invalid UTF-8, and empty strings in any string type that is not Optional.
func Unmarshal(raw []byte, into any) error {
	if !bytes.Contains(raw, []byte(`""`)) {
		return json.Unmarshal(raw, into, json.RejectUnknownMembers(true))
	}
	return json.Unmarshal(raw, into, json.RejectUnknownMembers(true), json.WithUnmarshalers(noEmptyStrings))
}

var (
	optional    = reflect.TypeFor[Optional]()
	jsonDecoder = reflect.TypeFor[json.UnmarshalerFrom]()
	textDecoder = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// noEmptyStrings decodes the strings of all types that are not Optional.
var noEmptyStrings = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into any) error {
	pointer := reflect.TypeOf(into)
	if dec.PeekKind() != '"' || pointer.Elem().Kind() != reflect.String || pointer.Implements(optional) ||
		pointer.Implements(jsonDecoder) || pointer.Implements(textDecoder) {
		return errors.ErrUnsupported
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if token.String() == "" {
		return ErrEmpty
	}
	reflect.ValueOf(into).Elem().SetString(token.String())
	return nil
})
