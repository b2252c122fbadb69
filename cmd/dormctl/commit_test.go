package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

func TestEachResultOfTheDomainIsShown(t *testing.T) {
	results := []agent.OpResult{
		&agent.ValueResult{}, &agent.CheckpointResult{}, &agent.ThreadResult{}, &agent.DeleteResult{}, &agent.ScopeResult{}, &agent.ClaimResult{},
		&agent.SessionResult{}, &agent.ReviewResult{}, &agent.MemoryResult{}, &agent.ForkedAgent{}, &agent.Erasure{}, &agent.PrefixDeletion{}, &agent.ConversationResult{},
		&agent.MessageResult{}, &agent.ManagerResult{}, &agent.TimerResult{}, &agent.TokenResult{},
	}
	made := map[string]bool{"SignalResult": true, "ImportResult": true} // of what only nodes commit, and import --raw
	for _, r := range results {
		made[reflect.TypeOf(r).Elem().Name()] = true
		if row := resultRow(r); len(row) != 4 || row[0] == "-" {
			t.Errorf("%T is shown as %v", r, row)
		}
	}
	for _, name := range declared(t, "isOpResult") {
		if !made[name] {
			t.Errorf("result %s is not tried here", name)
		}
	}
}
