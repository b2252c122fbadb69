package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
)

func TestAConflictOfMembersHasNoHintAboutThreads(t *testing.T) {
	var out bytes.Buffer
	a := &kit.App{Stderr: &out}
	a.Explain(agent.Errorf(agent.CodeConflict, "node n1 is the last voter"))
	if got, want := out.String(), "dormctl: conflict: node n1 is the last voter\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	out.Reset()
	refused := agent.Errorf(agent.CodeConflict, `thread "t" is at rev 0: not at rev 5`)
	refused.Head = strings.Repeat("0", 64)
	a.Explain(&kit.CommitError{Err: refused})
	for _, want := range []string{"stored rev 0", "load the thread again"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

// TestADocumentOfAnErrorHasEveryFact sets each field of a refusal to a value of its own, and looks for it.
func TestADocumentOfAnErrorHasEveryFact(t *testing.T) {
	refused := &agent.Error{Code: agent.CodeConflict}
	facts := map[string]any{}
	fields := reflect.ValueOf(refused).Elem()
	for i := range fields.NumField() {
		name, field := fields.Type().Field(i).Name, fields.Field(i)
		switch field.Interface().(type) {
		case bool: // Final is for the client library, which decides by it whether to try again
		case agent.Code:
		case string:
			field.SetString("the " + name)
			facts[name] = field.String()
		case int, int64:
			field.SetInt(int64(1000 + i))
			facts[name] = float64(1000 + i)
		case uint64:
			field.SetUint(uint64(1000 + i))
			facts[name] = float64(1000 + i)
		default:
			t.Fatalf("the field %s has the type %s, which this test cannot set", name, field.Type())
		}
	}

	var out bytes.Buffer
	(&kit.App{Stderr: &out, Output: kit.OutputJSON}).Explain(refused)
	var document struct{ Error map[string]any }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	told := map[any]bool{}
	for _, value := range document.Error {
		told[value] = true
	}
	for name, value := range facts {
		if !told[value] {
			t.Errorf("no %s, %v, in %s", name, value, out.Bytes())
		}
	}
}

// A stored revision of 0 is a fact: a program goes on from it.
func TestADocumentOfAnErrorHasZeros(t *testing.T) {
	var out bytes.Buffer
	app := &kit.App{Stderr: &out, Output: kit.OutputJSON}
	app.Explain(&agent.Error{Code: agent.CodeConflict, Head: "0"})
	app.Explain(&agent.Error{Code: agent.CodeRevisionMismatch})
	for _, fact := range []string{`"rev":0`, `"revision":0`} {
		if strings.Count(out.String(), fact) != 1 {
			t.Errorf("not once %s: %s", fact, out.String())
		}
	}
}
