package membership

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
)

// Voters says how many members vote, and when one is replaced. The leader's counts.
type Voters struct {
	Target    int           // number of voters; the other members are spares; 0 means that all vote
	DeadAfter time.Duration // a spare replaces a voter that has not answered for this time
}

// voterDeadAfter is the default of Voters.DeadAfter. Most restarts are shorter.
const voterDeadAfter = 5 * time.Minute

// elector is a member that wants to vote.
type elector struct {
	id, zone string
	self     bool // it is the leader
	voter    bool // it votes now
	ready    bool // it answers, and has caught up
	dead     bool // it has not answered for Voters.DeadAfter
}

// nextVote returns the next change: a member that gets a vote, or one that loses it; ""
// for none. With a target it gives a vote to the replacement before it takes one, so there
// are at most target+1 voters and no fewer than before. A dead voter keeps its vote while
// no spare is ready.
func nextVote(members []elector, target int) (promote, demote string) {
	chosen := members
	votes := 0
	for _, m := range members {
		if m.voter {
			votes++
		}
	}
	if target > 0 {
		chosen = choose(members, target)
		if votes > target {
			return "", dispensable(members, chosen)
		}
	}
	for _, m := range chosen {
		if !m.voter && m.ready {
			return m.id, ""
		}
	}
	return "", ""
}

// dispensable returns a voter that was not chosen, a dead one first; "" if all were.
func dispensable(members, chosen []elector) (id string) {
	for _, m := range members {
		switch {
		case !m.voter || m.self || slices.ContainsFunc(chosen, func(c elector) bool { return c.id == m.id }):
		case m.dead:
			return m.id
		case id == "":
			id = m.id
		}
	}
	return id
}

// choose returns the members that should vote: the leader first, then those of the zones
// with the fewest so far, voters before spares. Dead voters and spares that are not ready
// come last.
func choose(members []elector, target int) []elector {
	left := slices.Clone(members)
	var chosen []elector
	in := make(map[string]int) // zone → chosen members
	for len(chosen) < target && len(left) > 0 {
		best := slices.IndexFunc(left, func(m elector) bool { return m.self })
		if best < 0 {
			best = 0
			for i := range left {
				if prefer(left[i], left[best], in) < 0 {
					best = i
				}
			}
		}
		chosen = append(chosen, left[best])
		in[left[best].zone]++
		left = slices.Delete(left, best, best+1)
	}
	return chosen
}

// prefer is negative if a is the better next choice than b.
func prefer(a, b elector, in map[string]int) int {
	unfit := func(m elector) bool { return m.dead || !m.voter && !m.ready }
	return cmp.Or(
		compareBool(unfit(a), unfit(b)),
		compareBool(!a.voter && !a.ready, !b.voter && !b.ready), // a dead voter rather than a spare that cannot vote yet
		cmp.Compare(in[a.zone], in[b.zone]),
		compareBool(!a.voter, !b.voter),
		cmp.Compare(a.id, b.id),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// electors returns the members that want to vote, in the order of their names.
func (l *Leader) electors(rows map[string]layout.Member) []elector {
	var members []elector
	for id, server := range l.servers() {
		row, known := rows[id]
		if !known || !row.WantVote {
			continue
		}
		members = append(members, elector{
			id: id, zone: row.Zone, self: id == l.Self.Node, voter: server.Suffrage == raft.Voter,
			ready: l.Followers.steady(row.Incarnation), dead: l.Followers.silent(row.Incarnation, time.Now()) >= l.Voters.DeadAfter,
		})
	}
	slices.SortFunc(members, func(a, b elector) int { return cmp.Compare(a.id, b.id) })
	return members
}

// moveVotes makes the next change of votes, if there is one.
func (l *Leader) moveVotes(ctx context.Context, rows map[string]layout.Member) (changed bool) {
	promote, lose := nextVote(l.electors(rows), l.Voters.Target)
	switch {
	case promote != "":
		l.finish(ctx, "promote", promote, addVoter(promote, rows[promote].RaftAddr))
		return true
	case lose != "" && l.quorumWithout(ctx, lose) == "":
		l.finish(ctx, "demote", lose, demote(lose))
		return true
	}
	return false
}
