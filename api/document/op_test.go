package document_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/api/document"
)

// declared returns the types of package agent that have a marker method.
func declared(t *testing.T, marker string) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../agent/*.go")
	if err != nil {
		t.Fatal(err)
	}
	method := regexp.MustCompile(`(?m)^func \((?:\w+ )?\*(\w+)\) ` + marker + `\(`)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range method.FindAllStringSubmatch(string(raw), -1) {
			names = append(names, match[1])
		}
	}
	return names
}

// contractName returns a Go name in the spelling of the HTTP API.
func contractName(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_${2}"))
}

// Ops that only nodes commit, and the read that only nodes make.
var (
	nodeOps   = []string{"FailTimer", "AnswerSignal", "ImportScope"}
	nodeReads = []string{"GetAnswer"}
)

func TestEachOpOfTheDomainHasADocument(t *testing.T) {
	types := document.OpTypes()
	for _, op := range declared(t, "validateOp") {
		_, known := types[contractName(op)]
		if internal := slices.Contains(nodeOps, op); known == internal {
			t.Errorf("op %s: the table has it: %t, only nodes commit it: %t", contractName(op), known, internal)
		}
		delete(types, contractName(op))
	}
	for name := range types {
		t.Errorf("the table has op %s, which package agent lacks", name)
	}
}

// need holds the members that an op must have to be decoded.
var need = map[string]string{"put_checkpoint": `,"state":{}`, "index_metadata": `,"keys":[]`, "set_ttl": `,"ttl_ms":0`}

func TestEachOpIsDecodedIntoItsType(t *testing.T) {
	for name := range document.OpTypes() {
		op, err := document.DecodeOp(document.JSON(`{"op":"` + name + `"` + need[name] + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if made := contractName(reflect.TypeOf(op).Elem().Name()); made != name {
			t.Errorf("op %s is decoded into %s", name, made)
		}
	}
}

func TestEachReadOfTheDomainHasADocument(t *testing.T) {
	types := document.ReadTypes()
	for _, read := range declared(t, "isRead") {
		name := contractName(read)
		_, known := types[name]
		if internal := slices.Contains(nodeReads, read); known == internal {
			t.Errorf("read %s: the table has it: %t, only nodes read it: %t", name, known, internal)
		}
		delete(types, name)
		if !known {
			continue
		}
		body := document.ReadsBody{Reads: []document.ReadDocument{{JSON: document.JSON(`{"read":"` + name + `"}`)}}}
		reads, err := body.ToReads()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if made := reflect.TypeOf(reads[0]).Elem().Name(); made != read {
			t.Errorf("read %s is decoded into %s", name, made)
		}
	}
	for name := range types {
		t.Errorf("the table has read %s, which package agent lacks", name)
	}
}

// HTTP and dormctl once had separate decoders of ops, and only one of them decoded a
// value's metadata.
func TestAPutValueHasMetadata(t *testing.T) {
	op, err := document.DecodeOp(document.JSON(`{"op":"put_value","key":"k","bytes":"dg==","metadata":{"kind":"draft"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if put := op.(*agent.PutValue); string(put.Metadata) != `{"kind":"draft"}` || string(put.Bytes) != "v" {
		t.Errorf("decoded into %+v", put)
	}
}
