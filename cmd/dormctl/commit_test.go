package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"dormouse/agent"
)

// declared are the types of the domain that have a marker method.
func declared(t *testing.T, marker string) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../agent/*.go")
	if err != nil {
		t.Fatal(err)
	}
	method := regexp.MustCompile(`(?m)^func \(\*(\w+)\) ` + marker + `\(\)`)
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

// wireName is a Go name as documents write it.
func wireName(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_${2}"))
}

func TestCommitKnowsEachOpOfTheDomain(t *testing.T) {
	nodes := map[string]bool{"FailTimer": true, "AnswerSignal": true, "ImportScope": true} // what only they commit, and import --raw
	ops := declared(t, "isOp")
	if len(ops) != len(opNames)+len(nodes) {
		t.Errorf("the domain has %d ops, commit has %d, and %d are the nodes' own", len(ops), len(opNames), len(nodes))
	}
	for _, op := range ops {
		if _, known := opNames[wireName(op)]; known == nodes[op] {
			t.Errorf("op %s: commit has it: %v, it is the nodes' own: %v", wireName(op), known, nodes[op])
		}
	}
	for name, document := range opNames {
		op, err := document().op()
		if err != nil {
			continue // it needs members
		}
		if made := wireName(reflect.TypeOf(op).Elem().Name()); made != name {
			t.Errorf("op %s makes a %s", name, made)
		}
	}
}

func TestEachResultOfTheDomainIsShown(t *testing.T) {
	results := []agent.OpResult{
		&agent.ValueResult{}, &agent.CheckpointResult{}, &agent.ThreadResult{}, &agent.DeleteResult{}, &agent.ScopeResult{}, &agent.ClaimResult{},
		&agent.SessionResult{}, &agent.ReviewResult{}, &agent.MemoryResult{}, &agent.ForkedAgent{}, &agent.Erasure{}, &agent.ConversationResult{},
		&agent.MessageResult{}, &agent.ManagerResult{}, &agent.TimerResult{},
	}
	made := map[string]bool{"SignalResult": true, "ImportResult": true} // of what only nodes commit, and import --raw
	for _, r := range results {
		made[reflect.TypeOf(r).Elem().Name()] = true
		if document, row := shownResult(r); document == nil || len(row) != 4 || row[0] == "-" {
			t.Errorf("%T is shown as %v, %v", r, document, row)
		}
	}
	for _, name := range declared(t, "isOpResult") {
		if !made[name] {
			t.Errorf("result %s is not tried here", name)
		}
	}
}
