package hibernate

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// The ledger's names of the two objects of an agent. A version of the thread is a rev,
// so the entry at seq makes version seq + 1.
const (
	itsCheckpoint = "the checkpoint"
	itsThread     = "the thread"
)

// Check judges each agent separately: what one call shows alone, which call made which
// revision and entry, and whether one order explains all calls.
func (*hibernate) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "hibernate", h, func(key string, ops []history.Op, f *workload.Findings) error {
		a := &sleeper{
			Ledger: workload.NewLedger(key, ops, f), sleeps: map[int]*asleep{}, thaws: map[int]*thaw{},
			loads: map[int]*caughtUp{}, histories: map[int][]keptRevision{},
		}
		if err := a.load(); err != nil {
			return err
		}
		a.place()
		if !a.Disordered {
			a.judge()
		}
		return nil
	})
}

// sleeper is the history of one agent. Calls are identified by their index in Ops;
// reads are those with an answer.
type sleeper struct {
	*workload.Ledger
	sleeps    map[int]*asleep
	thaws     map[int]*thaw
	loads     map[int]*caughtUp
	histories map[int][]keptRevision
}

// asleep is a hibernation, or the append that may come before one.
type asleep struct {
	in    hibernation
	whole bool        // it puts a checkpoint
	out   *hibernated // nil if the call has no answer; an append has no revision
}

type thaw struct {
	in  thawing
	out thawed
}

func (a *sleeper) load() (err error) {
	for call, op := range a.Ops {
		answered := op.Outcome == history.OK
		switch {
		case op.Call == "hibernate" || op.Call == "append":
			err = a.loadSleep(call, op)
		case op.Call == "thaw" && answered:
			t := &thaw{}
			if t.in, err = history.Decode[thawing](op.In); err == nil {
				t.out, err = history.Decode[thawed](op.Out)
			}
			a.thaws[call] = t
		case op.Call == "load" && answered:
			var page caughtUp
			page, err = history.Decode[caughtUp](op.Out)
			a.loads[call] = &page
		case op.Call == "history" && answered:
			a.histories[call], err = history.Decode[[]keptRevision](op.Out)
		case op.Call == "thaw":
			err = a.judgeFailure(call, op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeFailure checks that the current checkpoint can be thawed. No call deletes these
// threads, and a compaction stops at the checkpoint's pointer. It may remove the
// entries of older revisions.
func (a *sleeper) judgeFailure(call int, op history.Op) error {
	in, err := history.Decode[thawing](op.In)
	if err != nil {
		return err
	}
	switch agent.Code(op.Code) {
	case agent.CodeCompacted:
		if in.Revision > 0 {
			return nil
		}
	case agent.CodeMissingThread, agent.CodeThreadMismatch:
	default:
		return nil
	}
	a.Findings.Add("cannot thaw", a.Key, a.Of(call), "%s failed with %s: %s", workload.NameOf(op), op.Code, op.Detail)
	return nil
}

func (a *sleeper) loadSleep(call int, op history.Op) (err error) {
	s := &asleep{whole: op.Call == "hibernate"}
	if s.in, err = history.Decode[hibernation](op.In); err != nil {
		return err
	}
	if op.Outcome == history.OK {
		s.out = &hibernated{}
		if s.whole {
			*s.out, err = history.Decode[hibernated](op.Out)
		} else {
			s.out.Rev, err = history.Decode[uint64](op.Out)
		}
	}
	a.sleeps[call] = s
	if s.whole {
		a.Authored(call, itsCheckpoint, s.in.By)
	}
	for _, name := range s.in.Entries[len(s.in.Entries)-s.in.New:] {
		a.Authored(call, itsThread, name)
	}
	return err
}

// place determines which call made which revision and which entry.
func (a *sleeper) place() {
	for call, op := range a.Ops {
		switch s, t, page := a.sleeps[call], a.thaws[call], a.loads[call]; {
		case s != nil && s.out != nil:
			a.placeSleep(call, s)
		case t != nil && t.out.Revision > 0:
			a.Saw(t.out.By, itsCheckpoint, t.out.Revision, call)
			a.sawEntries(t.out.Entries, t.out.Rev-uint64(len(t.out.Entries)), call)
		case page != nil:
			from, err := history.Decode[uint64](op.In)
			if from == 0 {
				from = page.Floor
			}
			if err != nil || page.Rev >= from && page.Rev-from != uint64(len(page.Entries)) {
				a.Findings.Add("entries missing", a.Key, a.Of(call), "%s asked for the entries from seq %d on of a thread at rev %d, and got %d",
					workload.NameOf(op), from, page.Rev, len(page.Entries))
			}
			a.sawEntries(page.Entries, from, call)
		}
	}
	for call, s := range a.sleeps {
		if s.out == nil && s.whole && a.Object(itsCheckpoint).Version[s.in.By] > 0 {
			a.sawEntries(s.in.Entries, s.in.From, call) // it was applied, so the entries are at their seqs
		}
	}
	a.Settle()
}

func (a *sleeper) sawEntries(names []string, from uint64, call int) {
	for i, name := range names {
		a.Saw(name, itsThread, from+uint64(i)+1, call)
	}
}

func (a *sleeper) placeSleep(call int, s *asleep) {
	name := workload.NameOf(a.Ops[call])
	if s.out.Rev != s.in.rev() {
		a.Findings.Add("another pointer", a.Key, a.Of(call), "%s was called at rev %d, and its result has rev %d", name, s.in.rev(), s.out.Rev)
	}
	a.sawEntries(s.in.Entries, s.in.From, call)
	if !s.whole {
		return
	}
	if s.in.Revision != nil && s.out.Revision != *s.in.Revision+1 {
		a.Findings.Add("expectation ignored", a.Key, a.Of(call), "%s expected revision %d and made revision %d", name, *s.in.Revision, s.out.Revision)
	}
	a.Saw(s.in.By, itsCheckpoint, s.out.Revision, call)
}
