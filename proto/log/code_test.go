package logpb_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"pgregory.net/rapid"

	logpb "dormouse/proto/log"
)

// eachLogMessage calls f with every type of message of the log's format.
func eachLogMessage(f func(protoreflect.MessageType)) {
	pkg := logpb.File_proto_log_log_proto.Package()
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		if m.Descriptor().ParentFile().Package() == pkg && !m.Descriptor().IsMapEntry() {
			f(m)
		}
		return true
	})
}

// The rows' own code does what reflection would, to the byte: what one wrote
// the other reads, and replicas may compare what either wrote.
func TestTheLogsCodeAgreesWithReflection(t *testing.T) {
	types := 0
	eachLogMessage(func(of protoreflect.MessageType) {
		types++
		t.Run(string(of.Descriptor().Name()), rapid.MakeCheck(func(t *rapid.T) {
			m := of.New()
			fill(t, m, 3)
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			coded := m.Interface().(interface {
				MarshalVTStrict() ([]byte, error)
			})
			got, err := coded.MarshalVTStrict()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v: %x, want %x, of %v", err, got, want, m)
			}
			back := of.New().Interface()
			if err := back.(interface{ UnmarshalVT([]byte) error }).UnmarshalVT(want); err != nil || !proto.Equal(back, m.Interface()) {
				t.Fatalf("%v: %v, want %v", err, back, m)
			}
		}))
	})
	if types < 50 {
		t.Errorf("only %d types of message were found", types)
	}
}

// fill sets some of a message's fields, and those of what is in it to a depth.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for n := range fields.Len() {
		field := fields.Get(n)
		name := string(field.Name())
		switch {
		case field.IsMap():
			t.Fatalf("%s is a map: its order would be anybody's", field.FullName())
		case field.Message() != nil && depth == 0, !rapid.Bool().Draw(t, "has "+name):
		case field.IsList():
			list := m.Mutable(field).List()
			for range rapid.IntRange(1, 3).Draw(t, "of "+name) {
				list.Append(value(t, field, list.NewElement, depth))
			}
		default:
			m.Set(field, value(t, field, func() protoreflect.Value { return m.NewField(field) }, depth))
		}
	}
}

// value is one of a field's kind. fresh makes an empty message.
func value(t *rapid.T, field protoreflect.FieldDescriptor, fresh func() protoreflect.Value, depth int) protoreflect.Value {
	name := string(field.Name())
	switch field.Kind() {
	case protoreflect.MessageKind:
		v := fresh()
		fill(t, v.Message(), depth-1)
		return v
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, name))
	case protoreflect.EnumKind:
		values := field.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(rapid.IntRange(0, values.Len()-1).Draw(t, name)).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, name))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, name))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, name))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, name))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, name))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rapid.Float32().Draw(t, name))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, name))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, name))
	default:
		t.Fatalf("%s is of kind %v, which the test does not know", field.FullName(), field.Kind())
		return protoreflect.Value{}
	}
}
