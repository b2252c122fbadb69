package main

import (
	"testing"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
)

// A watch follows the incarnation whose entries were shown: it ends if the thread is deleted and created again
// meanwhile.
func TestAFollowedThreadIsTheOneThatWasShown(t *testing.T) {
	c := newConsole()
	result, err := c.store.Commit(t.Context(), agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "note"}, {Kind: "note"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	incarnation := result.Results[0].(*agent.ThreadResult).Thread.Incarnation
	for _, each := range []struct {
		args []string
		want agent.Watch
	}{
		{[]string{"tail", "t", "-f"}, agent.Watch{From: 2, Incarnation: incarnation}},
		{[]string{"watch", "t"}, agent.Watch{Incarnation: incarnation}},
		{[]string{"watch", "t", "--from", "1"}, agent.Watch{From: 1}},
	} {
		if _, errs, code := c.run("", append([]string{"threads"}, each.args...)...); code != kit.ExitNotFound {
			t.Fatalf("%v: exit %d: %s", each.args, code, errs)
		}
		each.want.Scope, each.want.Thread = agent.DefaultScope, "t"
		if c.store.watched != each.want {
			t.Errorf("%v asks for %+v, want %+v", each.args, c.store.watched, each.want)
		}
	}
}
