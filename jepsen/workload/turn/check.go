package turn

import (
	"context"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check judges each group separately. No call spans two groups, so if each is
// linearizable, all of them together are (linearizability is local).
//
// First come the rules that one or two calls break, because their findings are the
// clearest. If they hold, every version of every object has one writer, and a
// dependency graph shows whether all calls fit one order that keeps real time.
func (*turn) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "turn", h, func(key string, ops []history.Op, f *workload.Findings) error {
		g := &group{Ledger: workload.NewLedger(key, ops, f), commits: map[int]*turnMade{}, asks: map[int]turnAsk{}, reads: map[int]*turnState{}}
		if err := g.load(); err != nil {
			return err
		}
		g.place()
		if !g.Disordered {
			g.judge()
		}
		return nil
	})
}

// group is the history of one group. Calls are identified by their index in Ops.
type group struct {
	*workload.Ledger
	commits map[int]*turnMade
	asks    map[int]turnAsk
	reads   map[int]*turnState // reads with an answer
}

type turnMade struct {
	in     turnCommit
	writes []workload.Write // the writes of in
	out    *committed       // nil if the call has no answer
}

// version returns the version of an object in a read. A thread's versions are its
// revs, so the entry at seq makes version seq + 1.
func (s *turnState) version(object string) uint64 {
	return s.Threads[object].Rev + s.Checkpoints[object].Revision
}

func (g *group) load() error {
	for call, op := range g.Ops {
		switch {
		case op.Call == "commit":
			made := &turnMade{}
			var err error
			if made.in, err = history.Decode[turnCommit](op.In); err != nil {
				return err
			}
			if op.Outcome == history.OK {
				out, err := history.Decode[committed](op.Out)
				if err != nil {
					return err
				}
				made.out = &out
			}
			g.commits[call] = made
			made.writes = made.in.writes()
			for _, w := range made.writes {
				g.Authored(call, w.Object, w.Name)
			}
		case op.Call == "read" && op.Outcome == history.OK:
			state, err := history.Decode[turnState](op.Out)
			if err != nil {
				return err
			}
			g.reads[call] = &state
			if g.asks[call], err = history.Decode[turnAsk](op.In); err != nil {
				return err
			}
		}
	}
	return nil
}

// place determines which write made which version of which object.
func (g *group) place() {
	for call := range g.Ops {
		if made := g.commits[call]; made != nil && made.out != nil {
			g.placeCommit(call, made)
		}
		state := g.reads[call]
		if state == nil {
			continue
		}
		for _, thread := range threads {
			t := state.Threads[thread]
			for i, name := range t.By {
				g.Saw(name, thread, t.Rev-uint64(len(t.By))+uint64(i)+1, call)
			}
		}
		for _, checkpoint := range checkpoints {
			if c := state.Checkpoints[checkpoint]; c.Revision > 0 {
				g.Saw(c.By, checkpoint, c.Revision, call)
			}
		}
	}
	g.Settle()
}

// placeCommit adds the versions in the answer of a commit.
func (g *group) placeCommit(call int, made *turnMade) {
	for i, a := range made.in.Appends {
		seqs := made.out.Seqs[i]
		if len(seqs) != a.Entries {
			g.Findings.Add("torn append", g.Key, g.Of(call), "%s appended %d entries to %s and the answer has %d", workload.NameOf(g.Ops[call]), a.Entries, a.Thread, len(seqs))
			continue
		}
		if a.Rev != nil && seqs[0] != *a.Rev {
			g.Findings.Add("expectation ignored", g.Key, g.Of(call), "%s expected %s at rev %d and went to seq %d", workload.NameOf(g.Ops[call]), a.Thread, *a.Rev, seqs[0])
		}
		for i, seq := range seqs {
			g.Saw(made.in.entry(i), a.Thread, seq+1, call)
		}
	}
	for i, put := range made.in.Puts {
		revision := made.out.Revisions[i]
		if put.Revision != nil && revision != *put.Revision+1 {
			g.Findings.Add("expectation ignored", g.Key, g.Of(call), "%s expected %s at revision %d and made revision %d",
				workload.NameOf(g.Ops[call]), put.Checkpoint, *put.Revision, revision)
		}
		g.Saw(made.in.By, put.Checkpoint, revision, call)
	}
}

// judge applies all rules. Every version that was seen has a writer.
func (g *group) judge() {
	transactions := map[int]*model.Transaction{}
	for call := range g.Ops {
		if made := g.commits[call]; made != nil {
			g.judgeTorn(call, made)
			if writes := g.newest(made); len(writes) > 0 {
				transactions[call] = &model.Transaction{Writes: writes}
			}
		}
		if state := g.reads[call]; state != nil {
			g.judgeRead(call, state)
			// A stale read is at some index: it may take effect before its invocation.
			t := &model.Transaction{Early: g.asks[call].Stale}
			for _, object := range objects {
				t.Reads = append(t.Reads, model.Access{Object: object, Version: state.version(object)})
			}
			transactions[call] = t
		}
	}
	g.judgeIndexes()
	g.JudgeOrder(transactions)
}

// newest returns the newest version of each object that a commit is known to have
// made; none if the commit is not known to be applied.
func (g *group) newest(made *turnMade) (all []model.Access) {
	for _, w := range made.writes { // writes to one object are consecutive
		version := g.Object(w.Object).Version[w.Name]
		last := len(all) - 1
		switch {
		case version == 0:
		case last >= 0 && all[last].Object == w.Object:
			all[last].Version = max(all[last].Version, version)
		default:
			all = append(all, model.Access{Object: w.Object, Version: version})
		}
	}
	return all
}

// judgeTorn checks that the entries of one append are consecutive.
func (g *group) judgeTorn(call int, made *turnMade) {
	for i := 1; i < len(made.writes); i++ {
		one, next := made.writes[i-1], made.writes[i]
		if one.Object != next.Object {
			continue
		}
		o := g.Object(one.Object)
		if at, then := o.Version[one.Name], o.Version[next.Name]; at > 0 && then > 0 && then != at+1 {
			g.Findings.Add("torn append", g.Key, g.Of(call), "the entries that %s appended to %s are apart: they made versions %d and %d",
				workload.NameOf(g.Ops[call]), one.Object, at, then)
		}
	}
}
