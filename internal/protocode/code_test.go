package protocode_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"pgregory.net/rapid"

	"dormouse/internal/protocode"
	apipb "dormouse/proto/api"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
	peerpb "dormouse/proto/peer"
)

// eachMessage calls f with every type of message in package proto.
func eachMessage(f func(protoreflect.MessageType)) {
	for _, file := range []protoreflect.FileDescriptor{apipb.File_proto_api_api_proto, oppb.File_proto_op_op_proto, logpb.File_proto_log_log_proto, peerpb.File_proto_peer_peer_proto} {
		protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
			if m.Descriptor().ParentFile().Package() == file.Package() {
				f(m)
			}
			return true
		})
	}
}

// Generated code and reflection read what the other has written. The log's
// messages have one encoding, so replicas may compare what either has written.
func TestGeneratedCodeAgreesWithReflection(t *testing.T) {
	types := 0
	eachMessage(func(of protoreflect.MessageType) {
		types++
		t.Run(string(of.Descriptor().FullName()), rapid.MakeCheck(func(t *rapid.T) {
			m := of.New()
			fill(t, m, 3)
			if rapid.Bool().Draw(t, "has unknown fields") {
				m.SetUnknown([]byte{0xfa, 0xff, 0xff, 0xff, 0x0f, 0x01, 'x'}) // field 2^29-1
			}
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			got := m.Interface().(protocode.Message).Encode()
			if of.Descriptor().ParentFile().Package() != apipb.File_proto_api_api_proto.Package() && !bytes.Equal(got, want) {
				t.Fatalf("%x, want %x, of %v", got, want, m)
			}
			for _, raw := range [][]byte{want, got} {
				back := of.New().Interface()
				if err := back.(protocode.Message).Decode(raw); err != nil || !proto.Equal(back, m.Interface()) {
					t.Fatalf("Decode: %v: %v, want %v", err, back, m)
				}
				back = of.New().Interface()
				if err := proto.Unmarshal(raw, back); err != nil || !proto.Equal(back, m.Interface()) {
					t.Fatalf("Unmarshal: %v: %v, want %v", err, back, m)
				}
			}
		}))
	})
	if types < 270 {
		t.Errorf("only %d types of message were found", types)
	}
}

// Decode accepts of damaged bytes no more than reflection does, and what both
// accept they read alike. Strings may be other than UTF-8 here.
func TestDamagedMessagesAreRefusedOrReadAlike(t *testing.T) {
	eachMessage(func(of protoreflect.MessageType) {
		t.Run(string(of.Descriptor().FullName()), rapid.MakeCheck(func(t *rapid.T) {
			m := of.New()
			fill(t, m, 3)
			raw := m.Interface().(protocode.Message).Encode()
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				if len(raw) > 0 {
					raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
				}
			}
			raw = raw[:rapid.IntRange(0, len(raw)).Draw(t, "length")]
			got, want := of.New().Interface(), of.New().Interface()
			gotErr, wantErr := got.(protocode.Message).Decode(raw), proto.Unmarshal(raw, want)
			switch {
			case gotErr == nil && wantErr == nil:
				known := of.New().Interface() // reflection shortens the tags of unknown fields
				if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(got.(protocode.Message).Encode(), known); err != nil {
					t.Fatal(err)
				}
				if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, want); err != nil || !proto.Equal(known, want) {
					t.Fatalf("%x: %v, want %v", raw, got, want)
				}
			case gotErr == nil && !strings.Contains(wantErr.Error(), "UTF-8"):
				t.Fatalf("%x: accepted as %v, want %v", raw, got, wantErr)
			}
		}))
	})
}

func TestDecodeNamesTheFieldThatItRefuses(t *testing.T) {
	for _, c := range []struct {
		raw  []byte
		want string
	}{
		{[]byte{0x0a, 0x05, 'x'}, "field 1: unexpected EOF"},
		{[]byte{0x08, 0x01}, "field 1 has the wire type 0, want 2"},
		{[]byte{0x00}, "invalid field number"},
		{[]byte{0x0c}, "mismatching end group marker"},
	} {
		if err := (&apipb.GetValue{}).Decode(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: %v, want %q", c.raw, err, c.want)
		}
	}
}

// A message is equal in each mode. Copied bytes outlive the buffer that held the encoding; with
// SharedByPart, so do the bytes of the messages inside.
func TestModesDifferInMemoryOnly(t *testing.T) {
	eachMessage(func(of protoreflect.MessageType) {
		t.Run(string(of.Descriptor().FullName()), rapid.MakeCheck(func(t *rapid.T) {
			m := of.New()
			fill(t, m, 3)
			raw := m.Interface().(protocode.Message).Encode()
			for _, mode := range []protocode.Mode{protocode.Copied, protocode.Shared, protocode.SharedByPart, protocode.SharedByPart | protocode.Checked} {
				buffer, got := bytes.Clone(raw), of.New().Interface()
				if err := got.(protocode.Message).DecodeAs(mode, buffer); err != nil {
					t.Fatal(err)
				}
				if mode&protocode.Shared == 0 {
					clear(buffer)
				}
				if !proto.Equal(got, m.Interface()) {
					t.Fatalf("mode %d: %v, want %v", mode, got, m)
				}
			}
		}))
	})
}

// Lists that were left encoded are decoded later, also when other fields come between their parts.
func TestDeferredListsAreDecodedLater(t *testing.T) {
	deferred := 0
	rapid.Check(t, func(t *rapid.T) {
		var raw []byte
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			part := &apipb.Thawed{}
			fill(t, part.ProtoReflect(), 3)
			raw = append(raw, part.Encode()...)
		}
		want := &apipb.Thawed{}
		if err := want.Decode(raw); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []protocode.Mode{protocode.Copied, protocode.Shared, protocode.SharedByPart | protocode.Checked} {
			buffer, got, back := bytes.Clone(raw), &apipb.Thawed{}, &apipb.Thawed{}
			if err := got.DecodeAs(mode|protocode.Deferred, buffer); err != nil {
				t.Fatal(err)
			}
			if len(got.Entries) != 0 {
				t.Fatalf("mode %d: entries were decoded: %v", mode, got)
			}
			deferred += len(want.Entries)
			_ = append(got.ProtoReflect().GetUnknown(), "overwritten"...)
			if !bytes.Equal(buffer, raw) {
				t.Fatal("an append to the unknown fields changed the encoding")
			}
			if err := back.Decode(got.Encode()); err != nil || !proto.Equal(back, want) {
				t.Fatalf("mode %d: %v: %v, want %v", mode, err, back, want)
			}
		}
	})
	if deferred == 0 {
		t.Error("no entry was deferred")
	}
}

func TestSharedBytesAreNotAppendedToInPlace(t *testing.T) {
	raw := (&apipb.Entry{Payload: []byte("{}"), Refs: []byte("[]")}).Encode()
	e := &apipb.Entry{}
	if err := e.DecodeAs(protocode.Shared, raw); err != nil {
		t.Fatal(err)
	}
	if at := bytes.Index(raw, []byte("{}")); &e.Payload[0] != &raw[at] {
		t.Error("the payload was copied")
	}
	_ = append(e.Payload, "overwritten"...)
	if string(e.Refs) != "[]" {
		t.Errorf("the field after it is %q", e.Refs)
	}
}

func TestCheckedStringsAreUTF8(t *testing.T) {
	for _, m := range []interface {
		proto.Message
		protocode.Message
	}{
		&apipb.Entry{Id: "a\xff"},
		&apipb.Calls{Calls: []*apipb.Call{{Traceparent: "\xff"}}},
	} {
		raw := m.Encode()
		fresh := func() protocode.Message { return m.ProtoReflect().New().Interface().(protocode.Message) }
		if err := fresh().DecodeAs(protocode.Shared, raw); err != nil {
			t.Errorf("unchecked: %v", err)
		}
		for _, mode := range []protocode.Mode{protocode.Checked, protocode.Checked | protocode.SharedByPart} {
			if err := fresh().DecodeAs(mode, raw); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
				t.Errorf("%T in mode %d: %v", m, mode, err)
			}
		}
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
