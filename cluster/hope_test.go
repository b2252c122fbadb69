package cluster

import (
	"testing"
	"time"

	"dormouse/agent"
)

// What the proposer does not wait for, though callers were just answered.
func TestNobodyIsKeptWaitingForCallersWhoMayNotComeBack(t *testing.T) {
	for name, c := range map[string]struct {
		answered int
		p        *proposer
		hopes    bool
	}{
		"several callers":               {answered: 2, p: &proposer{}, hopes: true},
		"one, and another that waits":   {answered: 1, p: &proposer{queue: make([]waiting, 1)}, hopes: true},
		"one alone":                     {answered: 1, p: &proposer{}},
		"reads alone":                   {answered: 0, p: &proposer{queue: make([]waiting, 2)}},
		"a read waits":                  {answered: 2, p: &proposer{readers: make([]chan reading, 1)}},
		"an entry is full":              {answered: 2, p: &proposer{bytes: batchBytesMax}},
		"nothing is taken any more":     {answered: 2, p: &proposer{closed: errStopping()}},
		"they did not come back lately": {answered: 2, p: &proposer{returns: returns{rest: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			settled := &batch{done: make([]func(agent.Decided, error), c.answered), took: 4 * time.Millisecond}
			if got := c.p.hope(settled); got != c.hopes {
				t.Errorf("hopes: %v", got)
			}
		})
	}
	var p proposer
	p.asked.Store(7)
	if p.hope(&batch{done: make([]func(agent.Decided, error), 2)}) {
		t.Error("hopes while somebody on another node waits to hear")
	}
}
