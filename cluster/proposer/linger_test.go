package proposer

import (
	"testing"
	"time"

	"dormouse/agent"
)

func TestTheProposerLingersOnlyForCallersThatMayCallAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answered int
		p        *Proposer
		lingers  bool
	}{
		"several callers":               {answered: 2, p: &Proposer{}, lingers: true},
		"one, and another that waits":   {answered: 1, p: &Proposer{queue: fairQueue{count: 1}}, lingers: true},
		"one alone":                     {answered: 1, p: &Proposer{}},
		"reads alone":                   {answered: 0, p: &Proposer{queue: fairQueue{count: 2}}},
		"a read waits":                  {answered: 2, p: &Proposer{readers: make([]chan reading, 1)}},
		"an entry is full":              {answered: 2, p: &Proposer{queue: fairQueue{bytes: BatchBytesMax}}},
		"what is left of a tenant":      {answered: 2, p: &Proposer{queue: fairQueue{count: 1, shared: 1}}},
		"nothing is taken any more":     {answered: 2, p: &Proposer{closed: errStopping()}},
		"they did not come back lately": {answered: 2, p: &Proposer{linger: lingerStats{skipNext: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			settled := &batch{done: make([]func(agent.Decided, error), c.answered), took: 4 * time.Millisecond}
			if got := c.p.expect(settled); got != c.lingers {
				t.Errorf("lingers: %v", got)
			}
		})
	}
	if new(Proposer).expect(&batch{done: make([]func(agent.Decided, error), 2), err: errStopping()}) {
		t.Error("lingers after an entry that failed")
	}
	var p Proposer
	p.announceAt.Store(7)
	if p.expect(&batch{done: make([]func(agent.Decided, error), 2)}) {
		t.Error("lingers while a remote node waits to learn what is committed")
	}
}
