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
	// clockSlack bounds the difference of two monotonic clocks over one holding.
	clockSlack = 50 * time.Millisecond
	// lapseSlack is how much longer than its ttl a holding may validly last.
	lapseSlack = time.Second
	// seenWithin bounds the time until the run notices a new leader.
	seenWithin = 2 * time.Second
)

// term is a holding with its times.
type term struct {
	epoch  uint64
	holder string
	arms   []int         // calls that set its ttl
	ttl    time.Duration // 0 if unknown
	ended  time.Duration // invocation of the first call that may have ended it early; Never if there is none
	doubt  bool          // an unknown renewal may have extended it
}

// JudgeTerms judges by real time. While a holding must be valid, no other holder gets
// the claim and its holder is not refused. After it must have expired, no call
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
			c.Findings.Add("under a lapsed holding", c.Key, c.Of(last, call), "%s was under epoch %d, which %s had last given a ttl of %v, %v before",
				workload.NameOf(op), epoch, workload.NameOf(c.Ops[last]), t.ttl, (op.Invoke - c.Ops[last].Return).Round(time.Millisecond))
		}
	}
}

// terms returns the holdings whose beginning and ttl are known.
func (c *Claimed) terms() (all []*term) {
	for _, epoch := range slices.Sorted(maps.Keys(c.began)) {
		begin := c.began[epoch]
		t := &term{epoch: epoch, holder: c.Changes[begin].Out.Holder, ttl: c.Changes[begin].In.TTL, arms: []int{begin}, ended: history.Never}
		if t.ttl == 0 {
			continue // a handover: the ttl is that of the previous holding
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
				t.ended = min(t.ended, op.Invoke) // the holder may take its own claim again
			}
		}
		slices.SortFunc(t.arms, func(a, b int) int { return cmp.Compare(c.Ops[a].Return, c.Ops[b].Return) })
		all = append(all, t)
	}
	return all
}

// judgeStanding judges a call while a holding must have been valid.
func (c *Claimed) judgeStanding(t *term, arm, call int) {
	op := c.Ops[call]
	wrong := func(rule, format string, args ...any) {
		c.Findings.Add(rule, c.Key, c.Of(arm, call), format, args...)
	}
	made, got, w := c.Changes[call], c.Gets[call], c.Writes[call]
	switch begun := c.Begun(call); {
	case begun > 0 && begun != t.epoch:
		wrong("two holders", "%s was given epoch %d, while epoch %d, which %s had given a ttl of %v, was valid", workload.NameOf(op), begun, t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case got != nil && got.Epoch != t.epoch:
		wrong("holding unseen", "%s found the claim at epoch %d, while epoch %d, which %s had given a ttl of %v, was valid", workload.NameOf(op), got.Epoch, t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case refusedAsEnded(op) && (w != nil && w.In.Epoch == t.epoch || made != nil && made.In.Epoch == t.epoch && made.In.Holder == t.holder):
		wrong("fenced for no reason", "%s was refused, while its epoch %d, which %s had given a ttl of %v, was valid", workload.NameOf(op), t.epoch, workload.NameOf(c.Ops[arm]), t.ttl)
	case workload.RefusedAs(op, agent.CodeAlreadyClaimed) && made != nil && made.In.Holder == t.holder:
		wrong("fenced for no reason", "%s was refused by its own holding at epoch %d", workload.NameOf(op), t.epoch)
	}
}

// undisturbed reports whether a period has no fault and no change of leader: a new
// leader restarts the ttl of all holdings.
func (c *Claimed) undisturbed(from, to time.Duration) bool {
	return c.faultFree.Between(from, to) && !slices.ContainsFunc(c.leaders, func(e history.Event) bool { return from <= e.At && e.At <= to+seenWithin })
}

// refusedAsEnded reports whether a call was refused because its holding had ended,
// with a code of claims or of sessions.
func refusedAsEnded(op history.Op) bool {
	return workload.RefusedAs(op, agent.CodeFenced) || workload.RefusedAs(op, agent.CodeStaleSessionLease) || workload.RefusedAs(op, agent.CodeSessionLeaseExpired)
}
