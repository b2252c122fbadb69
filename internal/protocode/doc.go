// Package protocode is the runtime of the encoders and decoders that
// internal/protogen generates. It reads and writes the wire format of Protocol
// Buffers (https://protobuf.dev/programming-guides/encoding) with one call for
// each field, so that generated code has about one line for each. Functions do
// not retain the buffers that they are given, unless Mode says so.
//
// Encoders do not check strings for UTF-8; see package utf8pb.
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
	// DecodeAs is Decode in a mode.
	DecodeAs(mode Mode, raw []byte) error
}

// Mode says how a message is decoded. Strings always have memory of their own, so that a name
// which is kept does not keep a whole message.
type Mode uint8

const (
	// Copied fields of bytes have memory of their own.
	Copied Mode = 0
	// Shared fields of bytes share the encoding's memory, which must not change afterwards.
	Shared Mode = 1 << (iota - 1)
	// SharedByPart copies each message in the outer one once, and its fields of bytes share that
	// copy. A caller that keeps one message of a frame does not keep the frame.
	SharedByPart
	// Checked makes a string that is not UTF-8 an error.
	Checked
	// Deferred leaves the lists that protogen names so among the unknown fields, encoded and
	// unchecked, for code that decodes them without generated messages.
	Deferred
)
