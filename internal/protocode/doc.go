// Package protocode is the runtime of the encoders and decoders that
// internal/protogen generates. It reads and writes the wire format of Protocol
// Buffers (https://protobuf.dev/programming-guides/encoding) with one call for
// each field, so that generated code has about one line for each. Functions do
// not retain the buffers that they are given.
//
// Strings are not checked for UTF-8; see package utf8pb.
package protocode

// Message is a message with generated code.
type Message interface {
	// Encode returns the encoding. Equal messages have equal encodings: fields are
	// in the order of their numbers, then unknown fields, and there are no maps.
	Encode() []byte
	// EncodedSize returns the number of bytes of the encoding.
	EncodedSize() int
	// EncodeBackward writes the encoding to the end of b and returns the index of
	// its first byte. It panics if b is shorter than EncodedSize.
	EncodeBackward(b []byte) int
	// Decode merges an encoded message into this one. It copies what it keeps.
	Decode(raw []byte) error
}
