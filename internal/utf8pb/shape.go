// Package utf8pb reports whether the strings of an encoded protobuf message are
// UTF-8, as proto3 requires. Package protocode checks strings only while it decodes, and only
// in the mode Checked. A message's shape is compiled once, so that a check costs far less than
// reflection.
package utf8pb

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"dormouse/internal/protocode"
)

// Shape says where the strings of a message type are. It is immutable and may be used
// concurrently.
type Shape struct {
	name   protoreflect.FullName
	fields map[protowire.Number]field
	small  [smallFields]field // those of low numbers, which are nearly all
}

const smallFields = 64

// field is a string, or a message that may contain strings; the zero field is neither.
type field struct {
	text bool
	sub  *Shape
}

// unchecked are lists of messages that are most of an answer, and whose strings were checked before
// they were stored. The client checks them when it decodes them.
var unchecked = map[protoreflect.FullName]bool{"dormouse.api.v1.Thawed.entries": true}

// shapes caches the shapes: full name → *Shape.
var shapes sync.Map

// Of returns the shape of a message type.
func Of(d protoreflect.MessageDescriptor) *Shape {
	if s, ok := shapes.Load(d.FullName()); ok {
		return s.(*Shape) //nolint:forcetypeassert // nothing else is stored
	}
	s := compile(d, map[protoreflect.FullName]*Shape{})
	shapes.Store(d.FullName(), s)
	return s
}

// compile returns a type's shape; known are the shapes under construction, for types
// that contain themselves.
func compile(d protoreflect.MessageDescriptor, known map[protoreflect.FullName]*Shape) *Shape {
	if s, ok := known[d.FullName()]; ok {
		return s
	}
	s := &Shape{name: d.FullName(), fields: map[protowire.Number]field{}}
	known[d.FullName()] = s
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		var at field
		switch f.Kind() {
		case protoreflect.StringKind:
			at.text = true
		case protoreflect.MessageKind: // a map's entries too
			if unchecked[f.FullName()] {
				continue
			}
			at.sub = compile(f.Message(), known)
		default:
			continue
		}
		s.fields[f.Number()] = at
		if f.Number() < smallFields {
			s.small[f.Number()] = at
		}
	}
	return s
}

func (s *Shape) field(n protowire.Number) field {
	if n < smallFields {
		return s.small[n]
	}
	return s.fields[n]
}

// Check returns an error that names the first string that is not UTF-8, or says that
// raw is no message. It ignores unknown fields.
func (s *Shape) Check(raw []byte) error {
	for len(raw) > 0 {
		if begin, end := protocode.ShortBytes(raw); end > 0 { // what most fields are
			if err := s.checkField(protowire.Number(raw[0]>>3), raw[begin:end]); err != nil {
				return err
			}
			raw = raw[end:]
			continue
		}
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return fmt.Errorf("%s: %w", s.name, protowire.ParseError(n))
		}
		raw = raw[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
				return fmt.Errorf("%s: %w", s.name, protowire.ParseError(n))
			}
			raw = raw[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(raw)
		if n < 0 {
			return fmt.Errorf("%s: %w", s.name, protowire.ParseError(n))
		}
		raw = raw[n:]
		if err := s.checkField(number, value); err != nil {
			return err
		}
	}
	return nil
}

// checkField is Check for one field.
func (s *Shape) checkField(number protowire.Number, value []byte) error {
	f := s.field(number)
	if f.text && !utf8.Valid(value) {
		return fmt.Errorf("%s: the string of field %d is not UTF-8", s.name, number)
	}
	if f.sub != nil {
		return f.sub.Check(value)
	}
	return nil
}
