package command

import "dormouse/internal/protocode"

// Coded is a message of the log with generated code. Equal messages have equal encodings. Strings
// are not checked for UTF-8; see commitShape.
type Coded = protocode.Message

// Marshal encodes m.
func Marshal(m Coded) []byte { return m.Encode() }

// Unmarshal decodes raw into m, which must be new, as Decode merges.
func Unmarshal(raw []byte, m Coded) error { return m.Decode(raw) }
