package cluster

import (
	"context"
	"time"

	"dormouse/agent"
)

// Afar is a group as other nodes use it, which then wait until what they asked
// for is applied there.
//
// A follower hears that an entry is committed with the next one, or when raft has
// said nothing for a while (its CommitTimeout: a twentieth of a second, and up
// to twice that). So where no other entry is due soon after one that somebody
// afar waits for, an empty one follows.
type Afar struct{ *Group }

// Afar returns that view of g.
func (g *Group) Afar() Afar { return Afar{g} }

// tellAfter is how long an entry that others wait for may be without another
// after it: who writes one thing after another needs no empty ones in between.
const tellAfter = time.Millisecond

// Submit is Group.Submit for a commit of another node's.
func (a Afar) Submit(cmd []byte, done func(agent.Decided, error)) {
	a.submit(waiting{cmd: cmd, done: done, afar: true})
}

// BarrierFor is Barrier for reads on another node, which has applied as much.
func (a Afar) BarrierFor(ctx context.Context, applied uint64) (uint64, error) {
	index, err := a.Barrier(ctx)
	if err == nil && index > applied {
		a.proposer.tell(index)
	}
	return index, err
}

// tell sees to it that other nodes soon hear that the entry at index is
// committed.
func (p *proposer) tell(index uint64) {
	for {
		asked := p.asked.Load()
		if asked >= index {
			return
		}
		if p.asked.CompareAndSwap(asked, index) {
			p.nudge()
			return
		}
	}
}
