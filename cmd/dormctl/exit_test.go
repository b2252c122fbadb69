package main

import (
	"bytes"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
)

func TestARefusedChangeOfMembersSpeaksOfNoThread(t *testing.T) {
	var out bytes.Buffer
	a := &kit.App{Stderr: &out}
	a.Explain(agent.Errorf(agent.CodeConflict, "node n1 is the last voter"))
	if got, want := out.String(), "dormctl: conflict: node n1 is the last voter\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	out.Reset()
	refused := agent.Errorf(agent.CodeConflict, `thread "t" is at rev 0: not at rev 5`)
	refused.Head = strings.Repeat("0", 64)
	a.Explain(refused)
	for _, want := range []string{"stored rev 0", "load the thread again"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}
