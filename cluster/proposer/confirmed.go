package proposer

import (
	"github.com/hashicorp/raft"

	"dormouse/internal/seededbug"
)

// ConfirmedBy returns the index at which reads on another node may be served, once
// that node has applied it. term is the term in which that node was after the reads
// began, or 0 if it may not vote. ok is false unless it and this node are a majority
// of the voters, both in this node's term: the other node has then answered the
// question of a round before it was asked. No node had won a later term when the
// other node read its term, so every commit that was acknowledged before is at or
// below the commit index that this node reads now.
func (x *ReadIndex) ConfirmedBy(node string, term uint64) (index uint64, ok bool) {
	leads := x.p.Term.Load()
	if leads == nil || term != leads.Number && !seededbug.Is(seededbug.AnyTermConfirms) || !x.decides(node) {
		return 0, false
	}
	if index, ok = x.applicable(x.p.Raft.CommitIndex()); !ok {
		return 0, false
	}
	if x.p.Term.Load() != leads || x.p.Raft.CurrentTerm() != leads.Number {
		return 0, false
	}
	x.p.Metrics.rounds.Add(1)
	return index, true
}

// decides reports whether this node and another one are a majority of the voters.
func (x *ReadIndex) decides(node string) bool {
	configured := x.p.Raft.GetConfiguration()
	if configured.Error() != nil || node == x.Node {
		return false
	}
	voters, both := 0, 0
	for _, s := range configured.Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
		} else if !seededbug.Is(seededbug.NonVotersConfirm) {
			continue
		}
		if id := string(s.ID); id == node || id == x.Node {
			both++
		}
	}
	return both >= voters/2+1
}
