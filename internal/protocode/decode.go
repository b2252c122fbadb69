package protocode

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is one field of an encoded message.
type Field struct {
	Number protowire.Number
	Raw    []byte // the tag and the value; shares the message's memory

	kind  protowire.Type
	value uint64 // of a varint, or of a fixed number
	bytes []byte // shares the message's memory
}

// Next reads the first field of raw and returns what follows it.
func (f *Field) Next(raw []byte) (rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(raw)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	if number > protowire.MaxValidNumber {
		return nil, fmt.Errorf("field number %d is above %d", number, protowire.MaxValidNumber)
	}
	size := 0
	switch kind {
	case protowire.VarintType:
		f.value, size = protowire.ConsumeVarint(raw[n:])
	case protowire.BytesType:
		f.bytes, size = protowire.ConsumeBytes(raw[n:])
	case protowire.Fixed64Type:
		f.value, size = protowire.ConsumeFixed64(raw[n:])
	case protowire.Fixed32Type:
		var v uint32
		v, size = protowire.ConsumeFixed32(raw[n:])
		f.value = uint64(v)
	default:
		size = protowire.ConsumeFieldValue(number, kind, raw[n:])
	}
	if size < 0 {
		return nil, fmt.Errorf("field %d: %w", number, protowire.ParseError(size))
	}
	n += size
	f.Number, f.kind, f.Raw = number, kind, raw[:n]
	return raw[n:], nil
}

// want returns an error unless the field has a wire type.
func (f *Field) want(kind protowire.Type) error {
	if f.kind != kind {
		return fmt.Errorf("field %d has the wire type %d, want %d", f.Number, f.kind, kind)
	}
	return nil
}

// Bool reads a bool.
func (f *Field) Bool(to *bool) error {
	*to = protowire.DecodeBool(f.value)
	return f.want(protowire.VarintType)
}

// Double reads a double.
func (f *Field) Double(to *float64) error {
	*to = math.Float64frombits(f.value)
	return f.want(protowire.Fixed64Type)
}

// String reads a string.
func (f *Field) String(to *string) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	*to = string(f.bytes)
	return nil
}

// Strings appends a string to a list.
func (f *Field) Strings(to *[]string) error {
	*to = append(*to, string(f.bytes))
	return f.want(protowire.BytesType)
}

// Bytes reads bytes, which are not nil then.
func (f *Field) Bytes(to *[]byte) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	*to = append(make([]byte, 0, len(f.bytes)), f.bytes...)
	return nil
}

// BytesList appends bytes to a list.
func (f *Field) BytesList(to *[][]byte) error {
	*to = append(*to, append(make([]byte, 0, len(f.bytes)), f.bytes...))
	return f.want(protowire.BytesType)
}

// Floats appends to a list of floats, which may be packed.
func (f *Field) Floats(to *[]float32) error {
	if f.kind == protowire.Fixed32Type {
		*to = append(*to, math.Float32frombits(uint32(f.value)))
		return nil
	}
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	if len(f.bytes)%4 != 0 {
		return fmt.Errorf("field %d: a packed list of floats has %d bytes, no multiple of 4", f.Number, len(f.bytes))
	}
	list := append(make([]float32, 0, len(*to)+len(f.bytes)/4), *to...)
	for raw := f.bytes; len(raw) > 0; raw = raw[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	*to = list
	return nil
}

// Int reads an integer or an enum value.
func Int[T integer](f *Field, to *T) error {
	*to = T(f.value)
	return f.want(protowire.VarintType)
}

// OptionalInt reads an integer with presence.
func OptionalInt[T integer](f *Field, to **T) error {
	v := T(f.value)
	*to = &v
	return f.want(protowire.VarintType)
}

// Ints appends to a list of integers, which may be packed.
func Ints[T integer](f *Field, to *[]T) error {
	if f.kind == protowire.VarintType {
		*to = append(*to, T(f.value))
		return nil
	}
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	count := 0
	for _, c := range f.bytes {
		if c < 0x80 { // the last byte of a varint
			count++
		}
	}
	list := append(make([]T, 0, len(*to)+count), *to...)
	for raw := f.bytes; len(raw) > 0; {
		v, n := protowire.ConsumeVarint(raw)
		if n < 0 {
			return fmt.Errorf("field %d: %w", f.Number, protowire.ParseError(n))
		}
		list, raw = append(list, T(v)), raw[n:]
	}
	*to = list
	return nil
}

// pointer is a pointer to a message with generated code.
type pointer[T any] interface {
	*T
	Message
}

// Sub merges a message into *to, which it makes if it is nil.
func Sub[T any, M pointer[T]](f *Field, to *M) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	if *to == nil {
		*to = new(T)
	}
	return (*to).Decode(f.bytes)
}

// Subs appends a message to a list.
func Subs[T any, M pointer[T]](f *Field, to *[]M) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	m := M(new(T))
	*to = append(*to, m)
	return m.Decode(f.bytes)
}
