package fsm_test

import (
	"fmt"
	"testing"

	"dormouse/agent"
	"dormouse/fsm/txn"
)

// The compactions of one commit read a bounded number of pins, and so do those of one entry. The bound
// never refuses a commit's only compaction for good.
func TestThePinsThatCompactionsReadAreBounded(t *testing.T) {
	const pins = 1000
	const fit = agent.CompactionPinsMax/pins + 1
	r := newSubject(t)
	r.raise(txn.CompactionLevel - 1)
	many := make([]string, pins)
	for i := range many {
		many[i] = "{}"
	}
	do[*agent.ThreadResult](r, appendTo("t", many...))
	var ops []agent.Op
	for i := range pins - 1 {
		ops = append(ops, &agent.PutCheckpoint{Key: fmt.Sprint(i), Thread: &agent.Pointer{Thread: "t", Rev: pins}})
	}
	do[*agent.CheckpointResult](r, ops...)
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "fork"})
	next := uint64(0)
	compactions := func(n int) (c agent.Commit) {
		for range n {
			next++
			c.Ops = append(c.Ops, &agent.CompactThread{Thread: "t", BeforeSeq: next})
		}
		return c
	}
	do[*agent.ThreadResult](r, compactions(2*fit).Ops...) // below the level there is no bound

	r.record()
	e := r.refusal(agent.CodeTooLarge, compactions(fit+1).Ops...)
	if want := fmt.Sprintf("compaction_pins_max=%d", agent.CompactionPinsMax); e.Limit != want {
		t.Fatalf("refused by %q, want %q: %v", e.Limit, want, e)
	}
	next -= fit + 1
	do[*agent.ThreadResult](r, compactions(fit).Ops...)

	first, second := compactions(fit-1), compactions(2)
	third := compactions(1)
	decided := r.batch(first, second, third)
	for i, want := range []agent.Code{"", agent.CodeOverloaded, agent.CodeOverloaded} {
		if err := decided[i].Err; want == "" && err != nil || want != "" && (err == nil || err.Code != want || err.Final || err.RetryAfterMS == 0) {
			t.Fatalf("commit %d of the entry: %v, want %q", i, err, want)
		}
	}
	do[*agent.ThreadResult](r, second.Ops...)
	do[*agent.ThreadResult](r, third.Ops...)
	if got := read[*agent.Thread](r, &agent.GetThread{Thread: "t"}); got.Floor != next {
		t.Fatalf("the floor is %d, want %d", got.Floor, next)
	}
}
