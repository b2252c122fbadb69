package instance

import (
	"cmp"
	"context"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check combines the answers about each counter's thread, compares the state with it,
// and orders the turns by the epochs of their owners.
func (w *instance) Check(ctx context.Context, h *history.History) check.Result {
	owned := 0
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		if key == "" {
			return nil
		}
		turns, err := JudgeCounter(key, ops, f)
		owned += turns
		return err
	})
	r.Counts["turns put in the order of epochs"] = owned
	return r
}

// counter is the judgement of one counter.
type counter struct {
	*workload.Journal
	owners *workload.Owners
	turns  []tenure // turns that show the thread's rev
	states []stateSeen
}

// tenure is a turn, the epoch of its owner, and the thread's rev: at most before when
// the turn began, and at least after when it ended.
type tenure struct {
	op            history.Op
	epoch         uint64
	before, after uint64
	exact         bool // the epoch is the turn's; otherwise the turn may have had a lower one
}

// stateSeen is a state in an answer, and its rev.
type stateSeen struct {
	op    history.Op
	rev   uint64
	state CounterState
}

// JudgeCounter judges the calls on one counter. It returns how many turns it ordered
// by epochs.
func JudgeCounter(key string, ops []history.Op, f *workload.Findings) (turns int, err error) {
	c := &counter{Journal: workload.NewJournal(key, f), owners: workload.NewOwners(key, f)}
	err = c.judgeAll(ops)
	return len(c.turns), err
}

func (c *counter) judgeAll(ops []history.Op) error {
	ins, outs := make([]CounterCall, len(ops)), make([]*CounterSeen, len(ops))
	for i, op := range ops {
		var err error
		if ins[i], err = history.Decode[CounterCall](op.In); err != nil {
			return err
		}
		switch op.Call {
		case CallIncrement, callCast:
			c.collect(op, ins[i])
		case workload.CallGet, callLookup, workload.CallRead:
		default:
			continue
		}
		if op.Outcome != history.OK {
			continue
		}
		out, err := history.Decode[CounterSeen](op.Out)
		if err != nil {
			return err
		}
		outs[i] = &out
	}
	for i, op := range ops {
		if outs[i] != nil {
			c.judgeAnswer(op, ins[i], outs[i])
		}
	}
	c.Judge()
	c.judgeStates()
	c.owners.Judge()
	c.judgeOwners()
	return nil
}

// collect records an increment or a repetition of one. An accepted cast may be lost.
func (c *counter) collect(op history.Op, in CounterCall) {
	outcome := op.Outcome
	if op.Call == callCast && outcome == history.OK {
		outcome = history.Unknown
	}
	w := c.Writers[in.Name]
	if w == nil {
		c.Write(&workload.Written{Ops: []history.Op{op}, Invoke: op.Invoke, Outcome: outcome, Entries: []string{in.Name}})
		return
	}
	w.Ops = append(w.Ops, op)
	if w.Outcome == history.Refused || outcome == history.OK {
		w.Outcome = outcome
	}
}

// judgeAnswer records what one answer shows of the counter and of its owner.
func (c *counter) judgeAnswer(op history.Op, in CounterCall, out *CounterSeen) {
	if out.Epoch > 0 {
		c.owners.Answer(op, out.Node, out.Epoch)
	}
	t := tenure{op: op, epoch: out.Epoch, before: out.Rev, after: out.Rev, exact: true}
	switch op.Call {
	case callCast:
		return
	case CallIncrement:
		if out.Rev == 0 {
			c.Findings.Add("increment that left nothing", c.Key, []history.Op{op}, "call %d was answered at rev 0", op.ID)
			return
		}
		t.before, t.exact = out.Rev-1, out.First
		c.Holds(op, t.before, []string{in.Name})
		if in.Again { // its turn may have been long before
			c.Stood(op, workload.Unbounded, t.after)
			c.turns = append(c.turns, t)
			return
		}
	case workload.CallRead:
		c.Holds(op, 0, out.Names)
	}
	c.Stood(op, t.before, t.after)
	if out.State != nil {
		c.states = append(c.states, stateSeen{op, out.Rev, *out.State})
	}
	if out.Epoch > 0 && (op.Call != callLookup || out.Awake) { // a hibernated instance was read before its owner was looked up
		c.turns = append(c.turns, t)
	}
}

// judgeStates checks that the state counts the thread's entries and names the last
// one.
func (c *counter) judgeStates() {
	for _, s := range c.states {
		want := ""
		if s.rev > 0 && s.rev <= uint64(len(c.Slots)) {
			want = c.Slots[s.rev-1].Entry
		}
		if s.state.Count != s.rev || want != "" && s.state.By != want {
			c.Findings.Add("state and thread apart", c.Key, []history.Op{s.op}, "call %d found %d increments in the state, the last by %q, and a thread at rev %d, whose last is %q",
				s.op.ID, s.state.Count, s.state.By, s.rev, want)
		}
	}
}

// judgeOwners checks that the effect of a turn is visible to any turn of a later
// epoch. A turn with an uncertain epoch had this epoch or a lower one.
func (c *counter) judgeOwners() {
	slices.SortStableFunc(c.turns, func(a, b tenure) int { return cmp.Compare(a.epoch, b.epoch) })
	var most, under tenure // the turns with the highest after: of lower epochs, and of this epoch
	for _, t := range c.turns {
		if t.epoch > under.epoch && under.after > most.after {
			most = under
		}
		if t.exact && t.before < most.after {
			c.Findings.Add("effect of a stale owner", c.Key, []history.Op{t.op, most.op}, "call %d found the counter at %d under epoch %d, and call %d left it at %d under epoch %d, which had ended by then",
				t.op.ID, t.before, t.epoch, most.op.ID, most.after, most.epoch)
		}
		if t.epoch > under.epoch || t.after > under.after {
			under = t
		}
	}
}
