package assign

import (
	"context"
	"time"

	"dormouse/agent/layout"
)

// Takeover is how this node came to lead in its term.
type Takeover struct {
	Term  uint64
	Tick  uint64    // the log's time when the term began
	Began time.Time // when this node could propose
	Heard time.Time // when it last received entries of another leader; zero if it has not since it started
}

// A change of leader gives each lease its whole time again, since no process could renew its own in the
// meantime. A leader that fell silent would so keep its partitions for a whole lease after it was
// replaced. Therefore the next leader ends that lease once it has lapsed for its holder, by the clock of
// the next leader: this node received all entries of earlier terms before Takeover.Heard, and a process
// counts its lease from before it asked for the renewal. So a whole lease after Heard, no process holds a
// lease by a renewal of an earlier term. The state machine keeps a lease that was renewed in this term.

// predecessor is the node that led before this one.
type predecessor struct {
	node string // "" if it is not known, or is this node itself
	term uint64 // of this node, in which it has dealt with the predecessor's lease
	led  bool   // this node led when it looked last
}

// follow records the leader that this node sees, on a node that does not lead.
func (p *predecessor) follow(self, leader string) {
	if p.led {
		*p = predecessor{}
	}
	if leader != "" && leader != self { // a node names itself before its term is open
		p.node = leader
	}
}

// lapse ends the predecessor's lease once that has lapsed for its holder, and returns how long to wait
// until then; assignInterval if there is nothing to wait for. It leaves a predecessor that lives the time
// to renew at this node.
func (a *Assigner) lapse(ctx context.Context, before *predecessor) time.Duration {
	takeover, leads := a.Leadership.Takeover()
	if !leads {
		leader, _ := a.Leadership.Leader()
		before.follow(a.Self.Node, leader)
		return assignInterval
	}
	before.led = true
	if before.node == "" || before.term == takeover.Term || takeover.Heard.IsZero() || a.Machine.FeatureLevel() < layout.LapseLevel {
		return assignInterval
	}
	for _, l := range a.Table.NodeLeases() {
		if l.Node != before.node || l.ArmedTick > takeover.Tick {
			continue
		}
		if wait := max(time.Until(takeover.Heard.Add(l.TTL)), time.Until(takeover.Began.Add(l.TTL/3))); wait > 0 {
			return wait
		}
		if _, err := a.Commit(ctx, a.Table.EncodeLapseNodeLease(l.Node, l.Life, takeover.Term)); err != nil {
			a.Logger.Info("the lease of the leader before was not ended yet", "node", l.Node, "error", err)
			return assignInterval
		}
		a.Logger.Info("ended the lease of the leader before, unless it was renewed meanwhile", "node", l.Node)
	}
	before.term = takeover.Term
	return assignInterval
}
