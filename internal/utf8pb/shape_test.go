package utf8pb_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"

	"dormouse/internal/utf8pb"
	apipb "dormouse/proto/api"
)

// nested is a type that contains itself, with a string three levels deep, and
// bytes in options that may be anything.
func nested(name string) *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{
		Name: proto.String("a.proto"),
		MessageType: []*descriptorpb.DescriptorProto{{
			NestedType: []*descriptorpb.DescriptorProto{{NestedType: []*descriptorpb.DescriptorProto{{Name: proto.String(name)}}}},
		}},
	}
}

// encode gives a message's bytes with a string replaced by one that no encoder
// would let through.
func encode(t *testing.T, m proto.Message, replace, with string) []byte {
	t.Helper()
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(replace) != len(with) || !strings.Contains(string(raw), replace) {
		t.Fatalf("%q cannot take the place of %q", with, replace)
	}
	return []byte(strings.ReplaceAll(string(raw), replace, with))
}

// The entries of a thaw are not looked at, and what is beside them is.
func TestTheEntriesOfAThawAreNotChecked(t *testing.T) {
	shape := utf8pb.Of((&apipb.Thawed{}).ProtoReflect().Descriptor())
	if err := shape.Check((&apipb.Thawed{Entries: []*apipb.Entry{{Id: "\xff"}}}).Encode()); err != nil {
		t.Error(err)
	}
	if err := shape.Check((&apipb.Thawed{Checkpoint: &apipb.Checkpoint{Key: "\xff"}}).Encode()); err == nil {
		t.Error("the key of a checkpoint is not checked")
	}
}

// Lengths of one byte, of two, and longer ones are read alike.
func TestStringsOfAnyLengthAreChecked(t *testing.T) {
	shape := utf8pb.Of((&apipb.Checkpoint{}).ProtoReflect().Descriptor())
	for _, n := range []int{1, 127, 128, 16383, 16384, 100_000} {
		text := strings.Repeat("x", n-1)
		if err := shape.Check((&apipb.Checkpoint{Key: text + "x", Revision: 1 << 40}).Encode()); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		raw := (&apipb.Checkpoint{Key: text + "\xff", Revision: 1 << 40}).Encode()
		if err := shape.Check(raw); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := shape.Check(raw[:n/2+1]); err == nil {
			t.Errorf("%d bytes that were cut off passed", n)
		}
	}
}

func TestStringsThatAreNotUTF8AreFoundWhereverTheyAre(t *testing.T) {
	file := utf8pb.Of((&descriptorpb.FileDescriptorProto{}).ProtoReflect().Descriptor())
	value := utf8pb.Of((&structpb.Value{}).ProtoReflect().Descriptor())
	list, err := structpb.NewValue(map[string]any{"key": []any{"text", 1.5, true}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		shape *utf8pb.Shape
		raw   []byte
		want  string
	}{
		"deep":     {file, encode(t, nested("abcd"), "abcd", "a\xffcd"), "google.protobuf.DescriptorProto: the string of field 1"},
		"top":      {file, encode(t, nested("abcd"), "a.pr", "\xc3.pr"), "google.protobuf.FileDescriptorProto: the string of field 1"},
		"fine":     {file, encode(t, nested("abcd"), "abcd", "a\u00e9d"), ""},
		"list":     {value, encode(t, list, "text", "te\xfft"), "google.protobuf.Value: the string of field 3"},
		"map key":  {value, encode(t, list, "key", "k\xffy"), "FieldsEntry: the string of field 1"},
		"valid":    {value, encode(t, list, "key", "kay"), ""},
		"cut":      {value, encode(t, list, "key", "kay")[:5], "unexpected EOF"},
		"bare tag": {value, []byte{0x08}, "unexpected EOF"},
		"no tag":   {value, []byte{0x80}, "unexpected EOF"},
		"unknown":  {value, []byte("\xf2\x3f\x02\xff\xfe"), ""}, // field 1022
	} {
		err := c.shape.Check(c.raw)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Whatever the bytes are, Check takes them where protobuf does, and neither
// takes a string that is not UTF-8.
func FuzzCheck(f *testing.F) {
	d := (&structpb.Value{}).ProtoReflect().Descriptor()
	f.Add([]byte("\x1a\x03abc"))
	f.Add([]byte("\x1a\x03a\xffc"))
	f.Add([]byte("\x32\x05\x0a\x03\x1a\x01\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := proto.Unmarshal(raw, &structpb.Value{})
		got := utf8pb.Of(d).Check(raw)
		if err == nil && got != nil {
			t.Fatalf("%x is refused: %v", raw, got)
		}
		if err != nil && strings.Contains(err.Error(), "UTF-8") && got == nil {
			t.Fatalf("%x is taken, though %v", raw, err)
		}
	})
}
