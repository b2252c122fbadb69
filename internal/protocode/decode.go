package protocode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is one field of an encoded message.
type Field struct {
	Mode   Mode // of what is read from it
	Number protowire.Number
	Raw    []byte // the tag and the value; shares the message's memory

	kind  protowire.Type
	value uint64 // of a varint, or of a fixed number
	bytes []byte // shares the message's memory
}

// Next reads the first field of raw and returns what follows it.
func (f *Field) Next(raw []byte) (rest []byte, err error) {
	if begin, end := ShortBytes(raw); end > 0 { // what most fields are
		f.Number, f.kind, f.Raw, f.bytes = protowire.Number(raw[0]>>3), protowire.BytesType, raw[:end], raw[begin:end]
		return raw[end:], nil
	}
	return f.next(raw)
}

// next is Next for any field.
func (f *Field) next(raw []byte) (rest []byte, err error) {
	number, kind, n := consumeTag(raw)
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
	return f.checkText()
}

// checkText returns an error if Mode has Checked and the text is not UTF-8.
func (f *Field) checkText() error {
	if f.Mode&Checked != 0 && !utf8.Valid(f.bytes) {
		return fmt.Errorf("the string of field %d is not UTF-8", f.Number)
	}
	return nil
}

// Strings appends a string to a list.
func (f *Field) Strings(to *[]string) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	*to = append(*to, string(f.bytes))
	return f.checkText()
}

// Bytes reads bytes, which are not nil then.
func (f *Field) Bytes(to *[]byte) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	*to = f.own()
	return nil
}

// own returns the field's bytes in the memory that Mode says; not nil.
func (f *Field) own() []byte {
	if f.Mode&Shared != 0 && len(f.bytes) > 0 {
		return f.bytes[:len(f.bytes):len(f.bytes)] // an append does not write into what follows
	}
	return append(make([]byte, 0, len(f.bytes)), f.bytes...)
}

// BytesList appends bytes to a list.
func (f *Field) BytesList(to *[][]byte) error {
	*to = append(*to, f.own())
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
	return decodePart(f, *to)
}

// Subs appends a message to a list. Shared messages of a list have memory in common.
func Subs[T any, M pointer[T]](f *Field, to *[]M) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	list := *to
	var m M
	if f.Mode&Shared != 0 {
		list = withRoom(list)
		m = list[:len(list)+1][len(list)]
	}
	if m == nil {
		m = new(T)
	}
	*to = append(list, m)
	return decodePart(f, m)
}

// Defer appends a field, and those of the same number and kind that follow it in rest, to unknown
// fields. It returns what follows them. In a shared mode the fields are not copied if they are the
// first of the unknown ones.
func (f *Field) Defer(to *[]byte, rest []byte) ([]byte, error) {
	if err := f.want(protowire.BytesType); err != nil {
		return nil, err
	}
	fields := f.Raw // has the rest of the message as its capacity
	number := f.Number
	for len(rest) > 0 && rest[0] == fields[0] {
		after, err := f.Next(rest)
		if err != nil {
			return nil, err
		}
		if f.Number != number {
			break
		}
		fields, rest = fields[:len(fields)+len(rest)-len(after)], after
	}
	if f.Mode&Shared != 0 && len(*to) == 0 {
		*to = fields[:len(fields):len(fields)]
	} else {
		*to = append(*to, fields...)
	}
	return rest, nil
}

// roomMax is the most messages for which withRoom makes room at once.
const roomMax = 64

// withRoom returns a list that has room for another message. The room that it makes holds empty
// messages, which are allocated together.
func withRoom[T any, M pointer[T]](list []M) []M {
	if len(list) < cap(list) {
		return list
	}
	n := len(list)
	more := min(max(1, 3*n), roomMax)
	grown, slab := make([]M, n+more), make([]T, more)
	copy(grown, list)
	for i := range slab {
		grown[n+i] = &slab[i]
	}
	return grown[:n]
}

// decodePart decodes a message inside another.
func decodePart(f *Field, m Message) error {
	if f.Mode&SharedByPart != 0 {
		return m.DecodeAs(f.Mode^SharedByPart|Shared, bytes.Clone(f.bytes))
	}
	return m.DecodeAs(f.Mode, f.bytes)
}
