package workload

import (
	"context"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// The objects of a claim's history, as its ledger calls them. What is written
// under the fence has versions of its own; the claim's are made of its epochs:
// a holding begins at twice its epoch and ends, where somebody releases it,
// one later.
const (
	theClaim    = "the claim"
	fencedValue = "the value"
	fencedLog   = "the thread"
)

// Check judges each claim by itself: by the order of what was written under
// its epochs, by the log's indexes, by real time where that alone shows that a
// holding stood or had ended, and by one order of all calls.
func (*claim) Check(ctx context.Context, h *history.History) check.Result {
	still, leaders := CalmOf(h), leadersOf(h)
	return ByKey(ctx, "claim", h, func(key string, ops []history.Op, f *Findings) error {
		c := newClaimed(key, ops, f, still, leaders)
		if err := c.load(); err != nil {
			return err
		}
		kept := len(f.Kept)
		c.place()
		c.judgeEpochs()
		c.judgeFence()
		c.judgeTerms()
		if !c.Disordered {
			c.judgeCalls()
		}
		c.draw(f.Kept[kept:])
		return nil
	})
}

// claimed is the history of one claim. Calls go by their place in it.
type claimed struct {
	*Ledger
	calm    Calm
	leaders []history.Event
	changes map[int]*changed // takes, renewals, releases
	gets    map[int]*claimSeen
	writes  map[int]*fenced
	loads   map[int]*fencedSeen
	began   map[uint64]int // :: epoch → the call that began its holding
}

func newClaimed(key string, ops []history.Op, f *Findings, still Calm, leaders []history.Event) *claimed {
	return &claimed{
		Ledger: NewLedger(key, ops, f), calm: still, leaders: leaders, changes: map[int]*changed{}, gets: map[int]*claimSeen{},
		writes: map[int]*fenced{}, loads: map[int]*fencedSeen{}, began: map[uint64]int{},
	}
}

type changed struct {
	does string // doesTake, doesRenew or doesRelease
	in   claimCall
	out  *claimSeen // of one that was answered
}

// What a call may do to a claim: what the claim workload's calls are called.
const (
	doesTake    = "take"
	doesRenew   = "renew"
	doesRelease = "release"
)

type fenced struct {
	in  fencedWrite
	out *fencedWrote // of one that was answered
}

func (c *claimed) load() (err error) {
	for call, op := range c.Ops {
		answered := op.Outcome == history.OK
		switch {
		case op.Call == doesTake || op.Call == doesRenew || op.Call == doesRelease:
			made := &changed{does: op.Call}
			if made.in, err = history.Decode[claimCall](op.In); err == nil && answered {
				made.out = &claimSeen{}
				*made.out, err = history.Decode[claimSeen](op.Out)
			}
			c.changes[call] = made
		case op.Call == "write":
			made := &fenced{}
			if made.in, err = history.Decode[fencedWrite](op.In); err == nil && answered {
				made.out = &fencedWrote{}
				*made.out, err = history.Decode[fencedWrote](op.Out)
			}
			c.writes[call] = made
			c.Authored(call, fencedLog, made.in.Name)
			if made.in.Value {
				c.Authored(call, fencedValue, made.in.Name)
			}
		case op.Call == "get" && answered:
			var out claimSeen
			out, err = history.Decode[claimSeen](op.Out)
			c.gets[call] = &out
		case op.Call == "load" && answered:
			var out fencedSeen
			out, err = history.Decode[fencedSeen](op.Out)
			c.loads[call] = &out
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place finds out which write made what, and which call began which claimCall.
func (c *claimed) place() {
	for call, op := range c.Ops {
		if w := c.writes[call]; w != nil && w.out != nil {
			c.Saw(w.in.Name, fencedLog, w.out.Seq+1, call)
			if w.in.Value {
				c.Saw(w.in.Name, fencedValue, w.out.Revision, call)
			}
		}
		if l := c.loads[call]; l != nil {
			if tail, err := history.Decode[uint64](op.In); err != nil || uint64(len(l.Entries)) != TailOf(l.Rev, tail) {
				c.Findings.Add("entries missing", c.Key, c.Of(call), "%s found a thread at rev %d with %d entries", NameOf(op), l.Rev, len(l.Entries))
			}
			for i, name := range l.Entries {
				c.Saw(name, fencedLog, l.Rev-uint64(len(l.Entries))+uint64(i)+1, call)
			}
			if l.Revision > 0 {
				c.Saw(l.Value, fencedValue, l.Revision, call)
			}
		}
		c.judgeAnswer(call)
		if begun := c.begun(call); begun > 0 {
			if other, again := c.began[begun]; again {
				c.Disordered = true
				c.Findings.Add("epoch used again", c.Key, c.Of(other, call), "%s and %s were both given epoch %d", NameOf(c.Ops[other]), NameOf(op), begun)
			}
			c.began[begun] = call
		}
	}
	c.Settle()
}

// judgeAnswer: a claim is left as the call asked for.
func (c *claimed) judgeAnswer(call int) {
	made := c.changes[call]
	if made == nil || made.out == nil {
		return
	}
	holder, right := made.in.Holder, made.out.Epoch > 0
	switch made.does {
	case doesRenew:
		right = made.out.Epoch == made.in.Epoch
	case doesRelease:
		holder = made.in.To
		right = made.out.Epoch > made.in.Epoch || holder == "" && made.out.Epoch == 0
	}
	if !right || made.out.Holder != holder {
		c.Findings.Add("another holding", c.Key, c.Of(call), "%s of %q, with epoch %d, left the claim to %q at epoch %d",
			NameOf(c.Ops[call]), made.in.Holder, made.in.Epoch, made.out.Holder, made.out.Epoch)
	}
}

// begun is the epoch that a call surely began; 0 for none.
func (c *claimed) begun(call int) uint64 {
	made := c.changes[call]
	if made == nil || made.out == nil || made.does == doesRenew {
		return 0
	}
	return made.out.Epoch
}

// judgeCalls looks for one order of all calls: a holding is read by all that
// is done under it.
func (c *claimed) judgeCalls() {
	transactions := map[int]*model.Transaction{}
	for call := range c.Ops {
		t := &model.Transaction{}
		holds := func(epoch uint64) { t.Reads = append(t.Reads, model.Access{Object: theClaim, Version: 2 * epoch}) }
		switch made, got, w, l := c.changes[call], c.gets[call], c.writes[call], c.loads[call]; {
		case made != nil && made.out != nil:
			switch begun := c.begun(call); {
			case begun > 0:
				t.Writes = append(t.Writes, model.Access{Object: theClaim, Version: 2 * begun})
			case made.does == doesRelease:
				t.Writes = append(t.Writes, model.Access{Object: theClaim, Version: 2*made.in.Epoch + 1})
			default:
				holds(made.in.Epoch)
			}
		case got != nil && got.Epoch > 0:
			holds(got.Epoch)
		case w != nil:
			if t.Writes = c.wrote(w); len(t.Writes) > 0 {
				holds(w.in.Epoch)
			}
		case l != nil:
			t.Reads = append(t.Reads, model.Access{Object: fencedLog, Version: l.Rev}, model.Access{Object: fencedValue, Version: l.Revision})
		}
		if len(t.Reads)+len(t.Writes) > 0 {
			transactions[call] = t
		}
	}
	c.JudgeOrder(transactions)
}

// wrote is what a write is known to have made; nothing where nobody knows that
// it applied.
func (c *claimed) wrote(w *fenced) (all []model.Access) {
	for _, object := range []string{fencedLog, fencedValue} {
		if version := c.Object(object).Version[w.in.Name]; version > 0 {
			all = append(all, model.Access{Object: object, Version: version})
		}
	}
	return all
}

// leadersOf are the events that say who leads.
func leadersOf(h *history.History) (events []history.Event) {
	for _, e := range h.Events {
		if e.Kind == history.EventLeader {
			events = append(events, e)
		}
	}
	return events
}
