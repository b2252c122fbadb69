package protocode

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Each Put function writes a field so that it ends before b[i], and returns the
// index of its first byte. A field with its type's zero value is not written, save
// one with presence.

// integer is the type of a field with the wire type varint, other than bool.
type integer interface {
	~int32 | ~int64 | ~uint32 | ~uint64
}

// text is the type of a field of bytes.
type text interface {
	~string | ~[]byte
}

func putVarint(b []byte, i int, v uint64) int {
	if v < 0x80 {
		i--
		b[i] = byte(v)
		return i
	}
	i -= protowire.SizeVarint(v)
	binary.PutUvarint(b[i:], v)
	return i
}

func putTag(b []byte, i int, n protowire.Number, t protowire.Type) int {
	return putVarint(b, i, protowire.EncodeTag(n, t))
}

// PutUnknown writes encoded fields.
func PutUnknown(b []byte, i int, raw []byte) int {
	i -= len(raw)
	copy(b[i:], raw)
	return i
}

// PutInt writes an integer or an enum value.
func PutInt[T integer](b []byte, i int, n protowire.Number, v T) int {
	if v == 0 {
		return i
	}
	return putTag(b, putVarint(b, i, uint64(v)), n, protowire.VarintType)
}

// PutOptionalInt writes an integer unless v is nil.
func PutOptionalInt[T integer](b []byte, i int, n protowire.Number, v *T) int {
	if v == nil {
		return i
	}
	return putTag(b, putVarint(b, i, uint64(*v)), n, protowire.VarintType)
}

// PutInts writes a packed list of integers.
func PutInts[T integer](b []byte, i int, n protowire.Number, list []T) int {
	if len(list) == 0 {
		return i
	}
	end := i
	for at := len(list) - 1; at >= 0; at-- {
		i = putVarint(b, i, uint64(list[at]))
	}
	return putTag(b, putVarint(b, i, uint64(end-i)), n, protowire.BytesType)
}

// PutBool writes a bool.
func PutBool(b []byte, i int, n protowire.Number, v bool) int {
	if !v {
		return i
	}
	return putTag(b, putVarint(b, i, 1), n, protowire.VarintType)
}

// PutOptionalBool writes a bool unless v is nil.
func PutOptionalBool(b []byte, i int, n protowire.Number, v *bool) int {
	if v == nil {
		return i
	}
	return putTag(b, putVarint(b, i, protowire.EncodeBool(*v)), n, protowire.VarintType)
}

// PutDouble writes a double.
func PutDouble(b []byte, i int, n protowire.Number, v float64) int {
	bits := math.Float64bits(v)
	if bits == 0 { // a negative zero is written
		return i
	}
	i -= 8
	binary.LittleEndian.PutUint64(b[i:], bits)
	return putTag(b, i, n, protowire.Fixed64Type)
}

// PutFloats writes a packed list of floats.
func PutFloats(b []byte, i int, n protowire.Number, list []float32) int {
	if len(list) == 0 {
		return i
	}
	i -= 4 * len(list)
	for at, v := range list {
		binary.LittleEndian.PutUint32(b[i+4*at:], math.Float32bits(v))
	}
	return putTag(b, putVarint(b, i, uint64(4*len(list))), n, protowire.BytesType)
}

// PutText writes a string or bytes.
func PutText[T text](b []byte, i int, n protowire.Number, v T) int {
	if len(v) == 0 {
		return i
	}
	return putText(b, i, n, v)
}

func putText[T text](b []byte, i int, n protowire.Number, v T) int {
	i -= len(v)
	copy(b[i:], v)
	return putTag(b, putVarint(b, i, uint64(len(v))), n, protowire.BytesType)
}

// PutTexts writes a list of strings or bytes.
func PutTexts[T text](b []byte, i int, n protowire.Number, list []T) int {
	for at := len(list) - 1; at >= 0; at-- {
		i = putText(b, i, n, list[at])
	}
	return i
}

// PutMessage writes the tag and the length of a message whose encoding is
// b[begin:end].
func PutMessage(b []byte, begin, end int, n protowire.Number) int {
	return putTag(b, putVarint(b, begin, uint64(end-begin)), n, protowire.BytesType)
}
