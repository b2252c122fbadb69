package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
)

func TestAPrefixIsDeletedFromTheCommandLine(t *testing.T) {
	n := newRealNode(t)
	const keys = 700 // more than one log entry removes
	for _, op := range []string{
		`{"op":"put_value","key":%q,"bytes":"eA=="}`, `{"op":"put_checkpoint","key":%q,"state":{}}`, `{"op":"append_thread","thread":%q,"entries":[{}]}`,
	} {
		var ops []string
		for i := range keys {
			ops = append(ops, fmt.Sprintf(op, fmt.Sprintf("runs/%03d", i)))
		}
		n.run(`{"ops":[`+strings.Join(ops, ",")+`]}`, kit.ExitOK, "commit", "-f", "-")
	}
	for _, noun := range []string{"values", "checkpoints", "threads"} {
		n.terminal = true
		if _, errs := n.run("no\n", kit.ExitUsage, noun, "rm", "--prefix", "runs/"); !strings.Contains(errs, "permanently delete all "+noun+` whose name begins with "runs/" in scope "default"? Type yes: `) {
			t.Errorf("it asked %q", errs)
		}
		n.terminal = false
		n.run("yes\n", kit.ExitUsage, noun, "rm", "--prefix", "runs/") // there is no terminal to ask on
		out, _ := n.run("", kit.ExitOK, noun, "rm", "--prefix", "runs/", "--yes", "-o", "json")
		var d document.PrefixDeletion
		if err := json.Unmarshal([]byte(out), &d); err != nil || !d.Complete || d.Removed != keys || d.Kind != noun {
			t.Fatalf("deleted: %v: %s", err, out)
		}
		if again, _ := n.run("", kit.ExitOK, "deletions", "get", d.ID, "-o", "json"); again != out {
			t.Errorf("the receipt again: %s", again)
		}
		if left, _ := n.run("", kit.ExitOK, noun, "ls", "--prefix", "runs/", "-o", "json"); !strings.Contains(left, `"items":[]`) {
			t.Errorf("left: %s", left)
		}
	}
	n.run("", kit.ExitOK, "threads", "get", "t")
	n.terminal = true
	if _, errs := n.run("yes\n", kit.ExitOK, "threads", "rm", "--all"); !strings.Contains(errs, "delete all threads in scope") {
		t.Errorf("it asked %q", errs)
	}
	n.run("", kit.ExitNotFound, "threads", "get", "t")
}

// On a terminal the progress of a removal is a bar, which is removed at its end.
func TestTheBarOfARemovalIsRemoved(t *testing.T) {
	n := newRealNode(t)
	var ops []string
	for i := range 700 { // more than one log entry removes
		ops = append(ops, fmt.Sprintf(`{"op":"put_value","key":"runs/%03d","bytes":"eA=="}`, i))
	}
	n.run(`{"ops":[`+strings.Join(ops, ",")+`]}`, kit.ExitOK, "commit", "-f", "-")
	n.terminal = true
	_, errs := n.run("", kit.ExitOK, "values", "rm", "--prefix", "runs/", "--yes")
	drawn := strings.Split(errs, "\r")
	if !strings.Contains(errs, "removing") || strings.TrimSpace(drawn[len(drawn)-1]) != "" {
		t.Errorf("the bar is %q", errs)
	}
}
