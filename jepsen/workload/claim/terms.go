package claim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

const (
	// clockSlack is how far two monotonic clocks may be apart over one holding.
	clockSlack = 50 * time.Millisecond
	// lapseSlack is by how much longer than its ttl a holding may stand while
	// nothing is wrong.
	lapseSlack = time.Second
	// seenWithin is how long a new leader may go unnoticed by the run.
	seenWithin = 2 * time.Second
)

// term is a holding as real time shows it.
type term struct {
	epoch  uint64
	holder string
	arms   []int         // calls that gave it its ttl
	ttl    time.Duration // 0 where it is unknown
	ended  time.Duration // the first invocation of what may have ended it early; Never for none
	doubt  bool          // an unknown renewal may have made it longer
}

// JudgeTerms judges by real time. While a holding must be valid, no other holder
// gets the claim and its holder is not refused. After it must have expired, no call
// succeeds under it.
func (c *Claimed) JudgeTerms() {
	for _, t := range c.terms() {
		for _, arm := range t.arms {
			stands := min(c.Ops[arm].Invoke+t.ttl-clockSlack, t.ended)
			first, _ := slices.BinarySearchFunc(c.Ops, c.Ops[arm].Return+1, func(op history.Op, when time.Duration) int { return cmp.Compare(op.Invoke, when) })
			for call := first; call < len(c.Ops) && c.Ops[call].Invoke < stands; call++ {
				if c.Ops[call].Return < stands {
					c.judgeStanding(t, arm, call)
				}
			}
		}
		if t.doubt || len(c.leaders) == 0 { // without these events the leaders are not known
			continue
		}
		last := t.arms[len(t.arms)-1]
		lapsed := c.Ops[last].Return + t.ttl + lapseSlack
		for call, op := range c.Ops {
			epoch, index := c.under(call)
			if index == 0 || epoch != t.epoch || op.Invoke < lapsed || !c.undisturbed(c.Ops[last].Invoke, op.Return) {
				continue
			}
			c.Findings.Add("under a lapsed holding", c.Key, c.Of(last, call), "%s was under epoch %d, which %s had last given %v, %v before",
				workload.NameOf(op), epoch, workload.NameOf(c.Ops[last]), t.ttl, (op.Invoke - c.Ops[last].Return).Round(time.Millisecond))
		}
	}
}

// terms are the holdings of which it is known who began them, and for how long.
func (c *Claimed) terms() (all []*term) {
	for _, epoch := range slices.Sorted(maps.Keys(c.began)) {
		begin := c.began[epoch]
		t := &term{epoch: epoch, holder: c.Changes[begin].Out.Holder, ttl: c.Changes[begin].In.TTL, arms: []int{begin}, ended: history.Never}
		if t.ttl == 0 {
			continue // a handover: the ttl is that of the holding before
		}
		for call, op := range c.Ops {
			made := c.Changes[call]
			switch {
			case made == nil || call == begin || op.Outcome == history.Refused:
			case made.Does == DoesRenew && made.In.Epoch == epoch && made.Out != nil:
				t.arms = append(t.arms, call)
			case made.Does == DoesRenew && made.In.Epoch == epoch:
				t.doubt = true
			case made.Does == DoesRelease && made.In.Epoch == epoch, made.Does == DoesTake && made.In.Holder == t.holder && op.Return > c.Ops[begin].Invoke:
				t.ended = min(t.ended, op.Invoke) // it may take its own claim again
			}
		}
		slices.SortFunc(t.arms, func(a, b int) int { return cmp.Compare(c.Ops[a].Return, c.Ops[b].Return) })
		all = append(all, t)
	}
	return all
}

// judgeStanding judges a call that was made while a holding must have been valid.
func (c *Claimed) judgeStanding(t *term, arm, call int) {
	op := c.Ops[call]
	wrong := func(rule, format string, args ...any) {
		c.Findings.Add(rule, c.Key, c.Of(arm, call), format, args...)
	}
	made, got, w := c.Changes[call], c.Gets[call], c.Writes[call]
	switch begun := c.Begun(call); {
	case begun > 0 && begun != t.epoch:
		wrong("two holders", "%s was given epoch %d, while epoch %d, which %s had given %v, stood", workload.NameOf(op), begun, t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case got != nil && got.Epoch != t.epoch:
		wrong("holding unseen", "%s found the claim at epoch %d, while epoch %d, which %s had given %v, stood", workload.NameOf(op), got.Epoch, t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case turnedAway(op) && (w != nil && w.In.Epoch == t.epoch || made != nil && made.In.Epoch == t.epoch && made.In.Holder == t.holder):
		wrong("fenced for nothing", "%s was refused, while its epoch %d, which %s had given %v, stood", workload.NameOf(op), t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case workload.RefusedAs(op, agent.CodeAlreadyClaimed) && made != nil && made.In.Holder == t.holder:
		wrong("fenced for nothing", "%s was refused by its own holding at epoch %d", workload.NameOf(op), t.epoch)
	}
}

// undisturbed reports whether there was no fault and no change of leader in a
// period: a new leader gives all holdings their full ttl again.
func (c *Claimed) undisturbed(from, to time.Duration) bool {
	return c.faultFree.Between(from, to) && !slices.ContainsFunc(c.leaders, func(e history.Event) bool { return from <= e.At && e.At <= to+seenWithin })
}

// turnedAway reports whether a call was refused because its holding had ended, with
// the code of a claim or of a session.
func turnedAway(op history.Op) bool {
	return workload.RefusedAs(op, agent.CodeFenced) || workload.RefusedAs(op, agent.CodeStaleSessionLease) || workload.RefusedAs(op, agent.CodeSessionLeaseExpired)
}
