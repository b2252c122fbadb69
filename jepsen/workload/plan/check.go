package plan

import (
	"cmp"
	"context"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check treats the plans of each instance as a list that only grows, in the order of
// the log. It compares this order with the epochs of the owners.
func (w *plan) Check(ctx context.Context, h *history.History) check.Result {
	placed := 0
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		if key == "" {
			return nil
		}
		l := &plans{Journal: workload.NewJournal(key, f), owners: workload.NewOwners(key, f)}
		if err := l.collect(ops); err != nil {
			return err
		}
		l.judge()
		placed += len(l.placed())
		return nil
	})
	r.Counts["plans put in the order of epochs"] = placed
	return r
}

// plans is the judgement of one instance's plans.
type plans struct {
	*workload.Journal
	owners *workload.Owners
	made   []made
	reads  []plansRead
}

// made is a plan with an answer.
type made struct {
	op   history.Op
	name string
	seen planSeen
	at   uint64 // its index in the order of the log, if a read found it
}

type plansRead struct {
	op    history.Op
	names []string
}

// collect records the calls and their answers.
func (l *plans) collect(ops []history.Op) error {
	for _, op := range ops {
		in, err := history.Decode[planCall](op.In)
		if err != nil {
			return err
		}
		if op.Call == callPlan {
			l.Write(&workload.Written{Ops: []history.Op{op}, Invoke: op.Invoke, Outcome: op.Outcome, Entries: []string{in.Name}})
		}
		if op.Outcome != history.OK {
			continue
		}
		out, err := history.Decode[planSeen](op.Out)
		if err != nil {
			return err
		}
		switch op.Call {
		case callPlan:
			l.made = append(l.made, made{op: op, name: in.Name, seen: out})
		case workload.CallRead:
			l.reads = append(l.reads, plansRead{op, out.Plans})
		}
	}
	return nil
}

func (l *plans) judge() {
	for _, r := range l.reads {
		l.Holds(r.op, 0, r.names)
		l.Stood(r.op, uint64(len(r.names)), uint64(len(r.names)))
	}
	for i := range l.made {
		l.judgeMade(&l.made[i])
	}
	l.Judge()
	l.owners.Judge()
	l.judgeOwners()
}

// judgeMade checks that an answered plan exists, and that it comes after all plans
// that were answered before its invocation.
func (l *plans) judgeMade(m *made) {
	l.owners.Answer(m.op, m.seen.Node, m.seen.Epoch)
	at, there := l.Where[m.name]
	if there {
		m.at = at
		l.Stood(m.op, at, at+1)
		return
	}
	for _, r := range l.reads {
		if m.op.Return < r.op.Invoke {
			l.Findings.Add("lost plan", l.Key, []history.Op{m.op, r.op}, "call %d made plan %s, and call %d did not find it", m.op.ID, m.name, r.op.ID)
			return
		}
	}
}

// placed returns the answered plans that a read found, in the order of the log.
func (l *plans) placed() []made {
	placed := slices.DeleteFunc(slices.Clone(l.made), func(m made) bool {
		_, there := l.Where[m.name]
		return !there
	})
	slices.SortFunc(placed, func(a, b made) int { return cmp.Compare(a.at, b.at) })
	return placed
}

// judgeOwners checks that epochs do not decrease in the order of the plans. A plan
// with an uncertain epoch had this epoch or a lower one.
func (l *plans) judgeOwners() {
	var newest made // of the plans with a certain epoch
	for _, m := range l.placed() {
		if m.seen.Epoch < newest.seen.Epoch {
			l.Findings.Add("effect of a stale owner", l.Key, []history.Op{newest.op, m.op}, "plan %s was made under epoch %d (call %d), and comes after plan %s, which was made under epoch %d (call %d)",
				m.name, m.seen.Epoch, m.op.ID, newest.name, newest.seen.Epoch, newest.op.ID)
		}
		if m.seen.First && m.seen.Epoch > newest.seen.Epoch {
			newest = m
		}
	}
}
