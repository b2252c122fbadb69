package workload

import (
	"context"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// Check judges each group by itself: no call spans two, and what holds of each
// holds of all of them together (linearizability is local).
//
// First come the rules that one call breaks, or two, since they say plainest
// what is wrong. Where they hold, every version of every object has one
// writer, and a dependency graph tells whether all calls fit one order that
// keeps real time.
func (*turn) Check(ctx context.Context, h *history.History) check.Result {
	return byKey(ctx, "turn", h, func(key string, ops []history.Op, f *findings) error {
		g := &turnGroup{key: key, findings: f, writer: map[string]*turnMade{}, objects: map[string]*turnObject{}}
		if err := g.load(ops); err != nil {
			return err
		}
		g.place()
		if g.disordered {
			return nil // what has two histories has no order either
		}
		for i := range g.reads {
			g.judgeRead(&g.reads[i])
		}
		g.judgeIndexes()
		g.judgeOrder()
		return nil
	})
}

// turnGroup is the history of one group.
type turnGroup struct {
	key        string
	findings   *findings
	commits    []*turnMade          // by invocation; refused ones too
	writer     map[string]*turnMade // :: By → commit
	reads      []turnSaw
	objects    map[string]*turnObject
	disordered bool // a version has two writers, or one that nobody knows
}

// turnMade is a commit and what is known of where its writes went.
type turnMade struct {
	op       history.Op
	in       turnCommit
	out      *turnCommitted      // of an ok one
	versions map[string][]uint64 // :: object → versions that it made, in order; of one that applied
}

// turnSaw is a read.
type turnSaw struct {
	op    history.Op
	state turnState
}

// version is what the read saw of an object: a thread's versions are its revs,
// so the entry at seq makes version seq + 1.
func (r *turnSaw) version(object string) uint64 {
	return r.state.Threads[object].Rev + r.state.Checkpoints[object].Revision
}

// turnObject is who made which version of a thread or checkpoint.
type turnObject struct {
	writers  map[uint64]*turnMade
	versions []uint64 // the known ones, in order
}

func (g *turnGroup) load(ops []history.Op) error {
	for _, op := range ops {
		switch op.Call {
		case "commit":
			made := &turnMade{op: op, versions: map[string][]uint64{}}
			var err error
			if made.in, err = history.Decode[turnCommit](op.In); err != nil {
				return err
			}
			if op.Outcome == history.OK {
				out, err := history.Decode[turnCommitted](op.Out)
				if err != nil {
					return err
				}
				made.out = &out
			}
			g.commits = append(g.commits, made)
			g.writer[made.in.By] = made
		case "read":
			if op.Outcome != history.OK {
				continue
			}
			state, err := history.Decode[turnState](op.Out)
			if err != nil {
				return err
			}
			g.reads = append(g.reads, turnSaw{op, state})
		}
	}
	return nil
}

// place finds out which commit made which version of which object, by what
// commits were told and what reads saw.
func (g *turnGroup) place() {
	for _, made := range g.commits {
		if made.out == nil {
			continue
		}
		for i, a := range made.in.Appends {
			seqs := made.out.Seqs[i]
			if a.Rev != nil && len(seqs) > 0 && seqs[0] != *a.Rev {
				g.findings.add("expectation ignored", g.key, []history.Op{made.op},
					"commit %s expected %s at rev %d and went to seq %d", made.in.By, a.Thread, *a.Rev, seqs[0])
			}
			for _, seq := range seqs {
				g.wrote(made.in.By, a.Thread, seq+1, &made.op)
			}
		}
		for i, put := range made.in.Puts {
			revision := made.out.Revisions[i]
			if put.Revision != nil && revision != *put.Revision+1 {
				g.findings.add("expectation ignored", g.key, []history.Op{made.op},
					"commit %s expected %s at revision %d and made revision %d", made.in.By, put.Checkpoint, *put.Revision, revision)
			}
			g.wrote(made.in.By, put.Checkpoint, revision, &made.op)
		}
	}
	for i := range g.reads {
		r := &g.reads[i]
		for _, thread := range turnThreads {
			t := r.state.Threads[thread]
			for i, by := range t.By {
				g.wrote(by, thread, t.Rev-uint64(len(t.By))+uint64(i)+1, &r.op)
			}
		}
		for _, checkpoint := range turnCheckpoints {
			if c := r.state.Checkpoints[checkpoint]; c.Revision > 0 {
				g.wrote(c.By, checkpoint, c.Revision, &r.op)
			}
		}
	}
	for _, o := range g.objects {
		slices.Sort(o.versions)
	}
	for _, made := range g.commits {
		g.judgeWrites(made)
	}
}

// wrote notes that a commit made a version of an object, as witness says.
func (g *turnGroup) wrote(by, object string, version uint64, witness *history.Op) {
	made := g.writer[by]
	if made == nil {
		g.disordered = true
		g.findings.add("written by nobody", g.key, []history.Op{*witness},
			"call %d found version %d of %s to be by %s; there is no such commit", witness.ID, version, object, by)
		return
	}
	o := g.objects[object]
	if o == nil {
		o = &turnObject{writers: map[uint64]*turnMade{}}
		g.objects[object] = o
	}
	switch other := o.writers[version]; {
	case other == nil:
		o.writers[version] = made
		o.versions = append(o.versions, version)
		made.versions[object] = append(made.versions[object], version)
		if made.op.Outcome == history.Refused {
			g.findings.add("refused commit applied", g.key, []history.Op{made.op, *witness},
				"commit %s was refused (%s), and made version %d of %s all the same, as call %d shows", by, made.op.Code, version, object, witness.ID)
		}
	case other != made:
		g.disordered = true
		g.findings.add("two histories", g.key, []history.Op{other.op, made.op, *witness},
			"version %d of %s was made by commit %s and by commit %s, as call %d shows", version, object, other.in.By, by, witness.ID)
	}
}

// writes is how many versions of which object a commit was to make.
func (c turnCommit) writes() map[string]int {
	writes := make(map[string]int, len(c.Appends)+len(c.Puts))
	for _, a := range c.Appends {
		writes[a.Thread] = a.Entries
	}
	for _, put := range c.Puts {
		writes[put.Checkpoint] = 1
	}
	return writes
}

// judgeWrites holds what a commit is known to have written to what it was to.
func (g *turnGroup) judgeWrites(made *turnMade) {
	writes := made.in.writes()
	for _, object := range turnObjects {
		versions, want := made.versions[object], writes[object]
		if len(versions) == 0 {
			continue
		}
		slices.Sort(versions)
		first, last := versions[0], versions[len(versions)-1]
		switch {
		case want == 0:
			g.findings.add("wrote elsewhere", g.key, []history.Op{made.op}, "commit %s wrote %s, which it does not name", made.in.By, object)
		case len(versions) > want:
			g.findings.add("applied twice", g.key, []history.Op{made.op},
				"commit %s was to make %d versions of %s, and made %v", made.in.By, want, object, versions)
		case last-first >= uint64(want), made.out != nil && len(versions) < want:
			g.findings.add("torn append", g.key, []history.Op{made.op},
				"commit %s was to make %d versions of %s in a row, and made %v", made.in.By, want, object, versions)
		}
	}
}

// judgeOrder looks for an order of all calls that explains them.
func (g *turnGroup) judgeOrder() {
	var all []model.Transaction
	var ops []history.Op
	for _, made := range g.commits {
		if len(made.versions) == 0 {
			continue // nobody knows that it applied
		}
		t := model.Transaction{Span: spanOf(made.op)}
		for _, object := range turnObjects {
			if versions := made.versions[object]; len(versions) > 0 {
				t.Writes = append(t.Writes, model.Access{Object: object, Version: versions[len(versions)-1]})
			}
		}
		all, ops = append(all, t), append(ops, made.op)
	}
	for i := range g.reads {
		r := &g.reads[i]
		t := model.Transaction{Span: spanOf(r.op)}
		for _, object := range turnObjects {
			t.Reads = append(t.Reads, model.Access{Object: object, Version: r.version(object)})
		}
		all, ops = append(all, t), append(ops, r.op)
	}
	g.findings.contradiction(g.key, model.Contradiction(all), ops)
}
