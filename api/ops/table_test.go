package ops

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// TestEachOpHasACodec compares the table with the ops of package agent and with the
// union of the schema.
func TestEachOpHasACodec(t *testing.T) {
	missing := map[string]bool{}
	for _, c := range codecs {
		missing[c.op.Elem().Name()] = true
	}
	files, err := filepath.Glob("../../agent/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*(\w+)\) validateOp\(`).FindAllStringSubmatch(string(raw), -1) {
			if !missing[op[1]] {
				t.Errorf("op %s has no codec: add it to the table", op[1])
			}
			delete(missing, op[1])
		}
	}
	for op := range missing {
		t.Errorf("the table has op %s, which package agent lacks", op)
	}
	if members := (&oppb.Op{}).ProtoReflect().Descriptor().Oneofs().ByName("op").Fields().Len(); members != len(byMember) {
		t.Errorf("the union Op has %d members, and the table converts %d", members, len(byMember))
	}
}

// notInOps are the fields of ops that the store sets, which the messages lack.
var notInOps = map[string][]string{
	"PutTimer": {"Generation", "NotBefore", "Attempts", "Parked", "LastError", "CreatedAt", "UpdatedAt"},
}

// TestEachFieldOfAnOpIsConverted fills every field of every op, and converts the op to
// its message and back.
func TestEachFieldOfAnOpIsConverted(t *testing.T) {
	for _, c := range codecs {
		name := c.op.Elem().Name()
		t.Run(name, func(t *testing.T) {
			filled := reflect.New(c.op.Elem())
			n := 0
			fill(filled.Elem(), &n, notInOps[name])
			op := filled.Interface().(agent.Op) //nolint:forcetypeassert // the table holds ops
			var out oppb.Op
			ToProto(&out, op)
			union := out.ProtoReflect()
			allSet(t, name, union.Get(union.WhichOneof(union.Descriptor().Oneofs().ByName("op"))).Message())
			back, err := FromProto(&out)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(op, back) {
				t.Errorf("converted there and back:\nfrom %+v\nto   %+v", op, back)
			}
		})
	}
}

// allSet fails for each field of a message that a filled op does not set. An expected
// value cannot be absent if it has bytes.
func allSet(t *testing.T, path string, m protoreflect.Message) {
	t.Helper()
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		name := fmt.Sprintf("%s.%s", path, f.Name())
		switch {
		case f.Name() == "absent":
		case !m.Has(f):
			t.Errorf("the message's field %s is not set", name)
		case f.Message() != nil && !f.IsList():
			allSet(t, name, m.Get(f).Message())
		}
	}
}

// fill sets every exported field of v to a value of its own, which validation need not
// accept. It skips the named fields.
func fill(v reflect.Value, n *int, skip []string) {
	*n++
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		v.SetInt(int64(time.Duration(*n) * time.Millisecond))
		return
	case reflect.TypeFor[agent.JSON]():
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
		return
	case reflect.TypeFor[agent.Head](), reflect.TypeFor[agent.TokenHash]():
		v.Index(0).SetUint(uint64(*n % 256))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case !f.IsExported(), slices.Contains(skip, f.Name):
			case f.Name == "Head":
				v.Field(i).SetString(strings.Repeat("0a", len(agent.Head{})))
			default:
				fill(v.Field(i), n, skip)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, skip)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n, skip)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic(fmt.Sprintf("a field of type %s cannot be filled", v.Type()))
	}
}
