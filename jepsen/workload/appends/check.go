package appends

import (
	"context"
	"math"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check combines the answers about each thread, and recomputes its chain.
func (w *appends) Check(ctx context.Context, h *history.History) check.Result {
	chained := 0
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		t := &thread{Journal: workload.NewJournal(key, f), stamps: map[string]int64{}, stamped: map[string]bool{}}
		n, err := t.judgeAll(ops)
		chained += n
		return err
	})
	r.Counts["heads recomputed"] = chained
	return r
}

// thread is the judgement of one thread: its journal and its chain.
type thread struct {
	*workload.Journal
	stamped     map[string]bool  // entries that get the log's time
	stamps      map[string]int64 // the log's times of those entries
	heads       []headSeen
	incarnation *history.Op // the first call that showed the incarnation
	number      uint64      // that incarnation
}

// headSeen is a head in the answer of a call.
type headSeen struct {
	op   history.Op
	rev  uint64
	head string
}

// judgeAll judges a thread's calls and returns the number of recomputed heads.
func (t *thread) judgeAll(ops []history.Op) (heads int, err error) {
	answers := make([]answer, len(ops))
	for i, op := range ops {
		if answers[i], err = answerTo(op); err != nil {
			return 0, err
		}
		if op.Call == workload.CallAppend {
			t.collect(answers[i])
		}
	}
	for _, a := range answers {
		if a.op.Outcome == history.OK {
			t.judgeAnswer(a)
		}
	}
	t.Judge()
	return t.judgeHeads(), nil
}

// collect records an append or a repetition of one.
func (t *thread) collect(a answer) {
	outcome := a.op.Outcome
	if a.out.Refused {
		outcome = history.Refused
	}
	if a.op.Code == string(agent.CodeDuplicateEntry) {
		t.Findings.Add("refused for no reason", t.Key, []history.Op{a.op}, "call %d was refused because other entries have its ids, which no other append uses", a.op.ID)
	}
	w := t.Writers[a.in.id(0)]
	if w == nil {
		t.Write(&workload.Written{Ops: []history.Op{a.op}, Invoke: a.op.Invoke, Outcome: outcome, Entries: a.in.ids()})
		for _, entry := range a.in.ids() {
			t.stamped[entry] = a.in.Stamped
		}
		return
	}
	w.Ops = append(w.Ops, a.op)
	if w.Outcome == history.Refused || outcome == history.OK {
		w.Outcome = outcome
	}
}

// judgeAnswer judges one answer alone, and records what it shows of the thread.
func (t *thread) judgeAnswer(a answer) {
	if a.out.Wrong != "" {
		t.Findings.Add("damaged answer", t.Key, []history.Op{a.op}, "call %d: %s", a.op.ID, a.out.Wrong)
		return
	}
	t.sameIncarnation(a.op, a.out)
	t.times(a.op, a.out)
	switch {
	case a.op.Call == workload.CallAppend && !a.out.Refused:
		t.judgeAppend(a.op, a.in, a.out)
	case a.op.Call == workload.CallAppend:
		t.judgeConflict(a.op, a.in, a.out)
	case a.op.Call == workload.CallRead && a.read.At != nil:
		t.judgeReadAt(a.op, *a.read.At, a.out)
	default:
		t.judgeRead(a.op, a.read, a.out)
	}
	t.Holds(a.op, a.out.From, a.out.IDs)
	if a.out.Head != "" {
		t.heads = append(t.heads, headSeen{a.op, a.out.Rev, a.out.Head})
	}
}

// judgeAppend checks that the answer places the entries where the append expected the
// thread to be.
func (t *thread) judgeAppend(op history.Op, in appendIn, out appendOut) {
	n, end := uint64(in.Entries), out.From+uint64(in.Entries)
	if uint64(len(out.IDs)) != n || out.Rev < end || out.Rev > end && !in.Again {
		t.Findings.Add("append answered wrong", t.Key, []history.Op{op}, "call %d appended %d entries, and the answer has %d of them from seq %d to rev %d",
			op.ID, n, len(out.IDs), out.From, out.Rev)
	}
	if in.Rev != nil && *in.Rev != out.From {
		t.Findings.Add("append at another rev", t.Key, []history.Op{op}, "call %d expected rev %d, and was applied at %d", op.ID, *in.Rev, out.From)
	}
	if in.Head != "" {
		t.heads = append(t.heads, headSeen{op, out.From, in.Head})
	}
	before := out.From
	if in.Again { // the entries may have existed before
		before = out.Rev
	}
	t.Stood(op, before, out.Rev)
}

// judgeConflict checks that an append is refused only if the thread is not as
// expected.
func (t *thread) judgeConflict(op history.Op, in appendIn, out appendOut) {
	switch {
	case in.Rev != nil && *in.Rev == out.Rev, in.Head != "" && in.Head == out.Head, in.Rev == nil && in.Head == "":
		t.Findings.Add("refused for no reason", t.Key, []history.Op{op}, "call %d was refused by a thread at rev %d, head %s, which is what it asked for", op.ID, out.Rev, out.Head)
	}
	t.Stood(op, out.Rev, out.Rev)
}

// judgeReadAt checks that every rev that a call has seen remains readable.
func (t *thread) judgeReadAt(op history.Op, at uint64, out appendOut) {
	if out.Refused || out.Missing {
		t.Stood(op, out.Rev, out.Rev)
		if out.Rev >= at {
			t.Findings.Add("refused for no reason", t.Key, []history.Op{op}, "call %d asked for rev %d of a thread at rev %d, and was refused", op.ID, at, out.Rev)
		}
		return
	}
	if out.Rev != at || out.From != 0 || uint64(len(out.IDs)) != at {
		t.Findings.Add("gap in a read", t.Key, []history.Op{op}, "call %d asked for the thread as of rev %d, and got %d entries from seq %d on, as of rev %d", op.ID, at, len(out.IDs), out.From, out.Rev)
	}
	t.Stood(op, workload.Unbounded, at)
}

// judgeRead checks that a read returns every requested entry.
func (t *thread) judgeRead(op history.Op, read readIn, out appendOut) {
	t.Stood(op, out.Rev, out.Rev)
	if op.Call == workload.CallMeta {
		return
	}
	want := out.Rev
	if read.Tail > 0 {
		want = min(want, read.Tail)
	}
	if uint64(len(out.IDs)) != want || want > 0 && out.From != out.Rev-want {
		t.Findings.Add("gap in a read", t.Key, []history.Op{op}, "call %d asked for the last %d entries of a thread at rev %d, and got %d from seq %d on", op.ID, want, out.Rev, len(out.IDs), out.From)
	}
}

// sameIncarnation checks that a thread keeps its incarnation, because no call deletes
// it.
func (t *thread) sameIncarnation(op history.Op, out appendOut) {
	switch {
	case out.Incarnation == 0:
	case t.incarnation == nil:
		t.incarnation, t.number = &op, out.Incarnation
	case t.number != out.Incarnation:
		t.Findings.Add("another incarnation", t.Key, []history.Op{*t.incarnation, op}, "call %d saw incarnation %d, and call %d saw %d", t.incarnation.ID, t.number, op.ID, out.Incarnation)
	}
}

// times records the times of entries that have the log's time.
func (t *thread) times(op history.Op, out appendOut) {
	left := out.Stamps
	for _, entry := range out.IDs {
		if !t.stamped[entry] {
			continue
		}
		if len(left) == 0 {
			break
		}
		if known, told := t.stamps[entry]; told && known != left[0] {
			t.Findings.Add("another time", t.Key, []history.Op{op}, "call %d says that entry %s happened at %d, and a call before it at %d", op.ID, entry, left[0], known)
		}
		t.stamps[entry] = left[0]
		left = left[1:]
	}
	if len(left) > 0 {
		t.Findings.Add("another time", t.Key, []history.Op{op}, "call %d saw %d times that are not those of their entries", op.ID, len(left))
	}
}

// judgeHeads recomputes the chain up to the first unknown entry and compares it with
// the heads in answers. It also checks that the log's time never decreases.
func (t *thread) judgeHeads() (judged int) {
	chain := []model.Head{{}}
	last := int64(math.MinInt64)
	for seq, at := range t.Slots {
		entry, ours := chained(at.Entry, t.stamps[at.Entry])
		if !ours || t.stamped[at.Entry] && t.stamps[at.Entry] == 0 {
			break
		}
		if t.stamped[at.Entry] && entry.At < last {
			t.Findings.Add("time runs back", t.Key, []history.Op{at.By}, "entry %s at seq %d happened at %d, and one before it at %d, by the log", at.Entry, seq, entry.At, last)
		}
		if t.stamped[at.Entry] {
			last = entry.At
		}
		chain = append(chain, chain[len(chain)-1].Next(entry))
	}
	for _, h := range t.heads {
		if h.rev >= uint64(len(chain)) {
			continue
		}
		judged++
		if want := chain[h.rev].String(); h.head != want {
			t.Findings.Add("wrong head", t.Key, []history.Op{h.op}, "call %d has head %s at rev %d, where the entries make %s", h.op.ID, h.head, h.rev, want)
		}
	}
	return judged
}
