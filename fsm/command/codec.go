package command

import (
	"fmt"

	"dormouse/internal/protocode"
)

// Coded is a message of the log with generated code. Equal messages have equal encodings. Strings
// are not checked for UTF-8; see commitShape.
type Coded = protocode.Message

// Marshal encodes m.
func Marshal(m Coded) []byte { return m.Encode() }

// Unmarshal decodes raw into m, which must be new, as Decode merges.
func Unmarshal(raw []byte, m Coded) error { return m.Decode(raw) }

// UnmarshalShared is Unmarshal without copies: the fields of bytes share raw's memory, which must
// not change afterwards.
func UnmarshalShared(raw []byte, m Coded) error { return m.DecodeAs(protocode.Shared, raw) }

// Decode decodes a row of M. noun and id name the row in the error.
func Decode[M any, P interface {
	*M
	Coded
}](raw []byte, noun, id string) (*M, error) {
	m := new(M)
	if err := Unmarshal(raw, P(m)); err != nil {
		return nil, fmt.Errorf("decode %s %q: %w", noun, id, err)
	}
	return m, nil
}
