package claim

import (
	"context"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// The ledger's names of the objects of a claim's history. The thread and the value
// have their own versions. The versions of the claim derive from its epochs: a holding
// begins at 2·epoch and ends at 2·epoch+1 if it is released.
const (
	TheClaim    = "the claim"
	fencedValue = "the value"
	FencedLog   = "the thread"
)

// Check judges each claim separately: the order of writes under its epochs, and the
// log's indexes. It judges holdings that by real time alone must have been valid or
// over. Finally it searches for one order of all calls.
func (*claim) Check(ctx context.Context, h *history.History) check.Result {
	faultFree, leaders := workload.FaultFreeOf(h), LeadersOf(h)
	return workload.ByKey(ctx, "claim", h, func(key string, ops []history.Op, f *workload.Findings) error {
		c := NewClaimed(key, ops, f, faultFree, leaders)
		if err := c.load(); err != nil {
			return err
		}
		kept := len(f.Kept)
		c.Place()
		c.JudgeEpochs()
		c.JudgeFence()
		c.JudgeTerms()
		if !c.Disordered {
			c.judgeCalls()
		}
		c.Draw(f.Kept[kept:])
		return nil
	})
}

// Claimed is the history of one claim. Calls are identified by their index in Ops.
type Claimed struct {
	*workload.Ledger
	faultFree workload.FaultFree
	leaders   []history.Event
	Changes   map[int]*Changed // takes, renewals, releases
	Gets      map[int]*Seen
	Writes    map[int]*Fenced
	Loads     map[int]*FencedSeen
	began     map[uint64]int // :: epoch → the call that began the holding
}

// NewClaimed returns the history of the claim key, whose calls are ops. Findings go to
// f.
func NewClaimed(key string, ops []history.Op, f *workload.Findings, faultFree workload.FaultFree, leaders []history.Event) *Claimed {
	return &Claimed{
		Ledger: workload.NewLedger(key, ops, f), faultFree: faultFree, leaders: leaders, Changes: map[int]*Changed{}, Gets: map[int]*Seen{},
		Writes: map[int]*Fenced{}, Loads: map[int]*FencedSeen{}, began: map[uint64]int{},
	}
}

// Changed is a call on the claim itself.
type Changed struct {
	Does string // DoesTake, DoesRenew or DoesRelease
	In   Call
	Out  *Seen // nil if the call has no answer
}

// The calls on a claim, by their names in the claim workload.
const (
	DoesTake    = "take"
	DoesRenew   = "renew"
	DoesRelease = "release"
)

// Fenced is a write under the fence.
type Fenced struct {
	In  FencedWrite
	Out *FencedWrote // nil if the call has no answer
}

func (c *Claimed) load() (err error) {
	for call, op := range c.Ops {
		answered := op.Outcome == history.OK
		switch {
		case op.Call == DoesTake || op.Call == DoesRenew || op.Call == DoesRelease:
			made := &Changed{Does: op.Call}
			if made.In, err = history.Decode[Call](op.In); err == nil && answered {
				made.Out = &Seen{}
				*made.Out, err = history.Decode[Seen](op.Out)
			}
			c.Changes[call] = made
			if made.In.Mark != "" {
				c.Authored(call, FencedLog, made.In.Mark)
			}
		case op.Call == "write":
			made := &Fenced{}
			if made.In, err = history.Decode[FencedWrite](op.In); err == nil && answered {
				made.Out = &FencedWrote{}
				*made.Out, err = history.Decode[FencedWrote](op.Out)
			}
			c.Writes[call] = made
			c.Authored(call, FencedLog, made.In.Name)
			if made.In.Value {
				c.Authored(call, fencedValue, made.In.Name)
			}
		case op.Call == "get" && answered:
			var out Seen
			out, err = history.Decode[Seen](op.Out)
			c.Gets[call] = &out
		case op.Call == "load" && answered:
			var out FencedSeen
			out, err = history.Decode[FencedSeen](op.Out)
			c.Loads[call] = &out
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Place determines which write made which version, and which call began which holding.
func (c *Claimed) Place() {
	for call, op := range c.Ops {
		if w := c.Writes[call]; w != nil && w.Out != nil {
			c.Saw(w.In.Name, FencedLog, w.Out.Seq+1, call)
			if w.In.Value {
				c.Saw(w.In.Name, fencedValue, w.Out.Revision, call)
			}
		}
		if made := c.Changes[call]; made != nil && made.Out != nil && made.In.Mark != "" {
			c.Saw(made.In.Mark, FencedLog, made.Out.Rev, call)
		}
		if l := c.Loads[call]; l != nil {
			if tail, err := history.Decode[uint64](op.In); err != nil || uint64(len(l.Entries)) != workload.TailOf(l.Rev, tail) {
				c.Findings.Add("entries missing", c.Key, c.Of(call), "%s found a thread at rev %d with %d entries", workload.NameOf(op), l.Rev, len(l.Entries))
			}
			for i, name := range l.Entries {
				c.Saw(name, FencedLog, l.Rev-uint64(len(l.Entries))+uint64(i)+1, call)
			}
			if l.Revision > 0 {
				c.Saw(l.Value, fencedValue, l.Revision, call)
			}
		}
		c.judgeAnswer(call)
		if begun := c.Begun(call); begun > 0 {
			if other, again := c.began[begun]; again {
				c.Disordered = true
				c.Findings.Add("epoch used again", c.Key, c.Of(other, call), "%s and %s were both given epoch %d", workload.NameOf(c.Ops[other]), workload.NameOf(op), begun)
			}
			c.began[begun] = call
		}
	}
	c.Settle()
}

// judgeAnswer checks that the call left the claim in the requested state.
func (c *Claimed) judgeAnswer(call int) {
	made := c.Changes[call]
	if made == nil || made.Out == nil {
		return
	}
	holder, right := made.In.Holder, made.Out.Epoch > 0
	switch made.Does {
	case DoesRenew:
		right = made.Out.Epoch == made.In.Epoch
	case DoesRelease:
		holder = made.In.To
		right = made.Out.Epoch > made.In.Epoch || holder == "" && made.Out.Epoch == 0
	}
	if !right || made.Out.Holder != holder {
		c.Findings.Add("another holding", c.Key, c.Of(call), "%s of %q, with epoch %d, left the claim to %q at epoch %d",
			workload.NameOf(c.Ops[call]), made.In.Holder, made.In.Epoch, made.Out.Holder, made.Out.Epoch)
	}
}

// Begun returns the epoch that a call is known to have begun, 0 if none.
func (c *Claimed) Begun(call int) uint64 {
	made := c.Changes[call]
	if made == nil || made.Out == nil || made.Does == DoesRenew {
		return 0
	}
	return made.Out.Epoch
}

// judgeCalls searches for one order of all calls. Every call under a holding reads the
// holding.
func (c *Claimed) judgeCalls() {
	transactions := map[int]*model.Transaction{}
	for call := range c.Ops {
		t := &model.Transaction{}
		holds := func(epoch uint64) { t.Reads = append(t.Reads, model.Access{Object: TheClaim, Version: 2 * epoch}) }
		switch made, got, w, l := c.Changes[call], c.Gets[call], c.Writes[call], c.Loads[call]; {
		case made != nil && made.Out != nil:
			switch begun := c.Begun(call); {
			case begun > 0:
				t.Writes = append(t.Writes, model.Access{Object: TheClaim, Version: 2 * begun})
			case made.Does == DoesRelease:
				t.Writes = append(t.Writes, model.Access{Object: TheClaim, Version: 2*made.In.Epoch + 1})
			default:
				holds(made.In.Epoch)
			}
			if version := c.Object(FencedLog).Version[made.In.Mark]; version > 0 {
				t.Writes = append(t.Writes, model.Access{Object: FencedLog, Version: version})
			}
		case got != nil && got.Epoch > 0:
			holds(got.Epoch)
		case w != nil:
			if t.Writes = c.wrote(w); len(t.Writes) > 0 {
				holds(w.In.Epoch)
			}
		case l != nil:
			t.Reads = append(t.Reads, model.Access{Object: FencedLog, Version: l.Rev}, model.Access{Object: fencedValue, Version: l.Revision})
		}
		if len(t.Reads)+len(t.Writes) > 0 {
			transactions[call] = t
		}
	}
	c.JudgeOrder(transactions)
}

// wrote returns the versions that a write is known to have made; none if the write is
// not known to be applied.
func (c *Claimed) wrote(w *Fenced) (all []model.Access) {
	for _, object := range []string{FencedLog, fencedValue} {
		if version := c.Object(object).Version[w.In.Name]; version > 0 {
			all = append(all, model.Access{Object: object, Version: version})
		}
	}
	return all
}

// LeadersOf returns the events about leaders.
func LeadersOf(h *history.History) (events []history.Event) {
	for _, e := range h.Events {
		if e.Kind == history.EventLeader {
			events = append(events, e)
		}
	}
	return events
}
