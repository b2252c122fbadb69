package proto_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
	_ "dormouse/proto/snapfile" // a part of the log's package
)

var rewrite = flag.Bool("rewrite", false, "add the new fields to testdata/frozen.txt")

// TestSchemasOfTheLogAreFrozen fails when a field of what logs and snapshots hold
// changes or goes, and when one is not recorded yet.
func TestSchemasOfTheLogAreFrozen(t *testing.T) {
	const golden = "testdata/frozen.txt"
	raw, err := os.ReadFile(golden)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	frozen := strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
	now := fields(oppb.File_proto_op_op_proto.Package(), logpb.File_proto_log_log_proto.Package())
	for _, line := range frozen {
		if !slices.Contains(now, line) {
			t.Errorf("%q is in logs and snapshots that nodes have written: put it back, and add a field instead", line)
		}
	}
	if *rewrite && !t.Failed() {
		if err := os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range now {
		if !slices.Contains(frozen, line) {
			t.Errorf("%q is new: give it a feature level, then run this test with -rewrite", line)
		}
	}
}

// fields lists the fields and enum values of packages, sorted.
func fields(packages ...protoreflect.FullName) (lines []string) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !slices.Contains(packages, file.Package()) {
			return true
		}
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			for j := range m.Fields().Len() {
				lines = append(lines, fieldLine(m.Fields().Get(j)))
			}
		}
		for i := range file.Enums().Len() {
			for j := range file.Enums().Get(i).Values().Len() {
				v := file.Enums().Get(i).Values().Get(j)
				lines = append(lines, fmt.Sprintf("%s = %d", v.FullName(), v.Number()))
			}
		}
		return true
	})
	slices.Sort(lines)
	return lines
}

func fieldLine(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	label := f.Cardinality().String()
	if f.HasPresence() && f.Message() == nil {
		label = "presence"
	}
	return fmt.Sprintf("%s = %d %s %s", f.FullName(), f.Number(), label, kind)
}
