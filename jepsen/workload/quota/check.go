package quota

import (
	"context"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each scope by how many threads it can have held, at least and at most, around each
// call. A write that may have been applied counts for the most, and not for the least.
func (w *quota) Check(ctx context.Context, h *history.History) check.Result {
	total := map[string]int{"refused at the quota": 0, "added": 0}
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{key: key, findings: f, counts: total}
		if err := j.collect(ops); err != nil {
			return err
		}
		return j.judge(ops)
	})
	for name, n := range total {
		r.Counts[name] = n
	}
	return r
}

// judge is the judgement of one scope.
type judge struct {
	key      string
	findings *workload.Findings
	counts   map[string]int
	changes  []change
	added    []adding
	removed  map[string]bool // :: thread → a call may have deleted it
}

// adding is a call that adds threads, and their names.
type adding struct {
	op    history.Op
	names []string
}

// change is a call that may have changed the number of threads.
type change struct {
	op history.Op
	by int // threads that it adds
}

func (j *judge) collect(ops []history.Op) error {
	j.removed = map[string]bool{}
	for _, op := range ops {
		if op.Call != CallAdd && op.Call != CallRemove {
			continue
		}
		in, err := history.Decode[In](op.In)
		if err != nil {
			return err
		}
		if op.Call == CallAdd {
			j.added = append(j.added, adding{op, in.Names})
		}
		if op.Outcome == history.Refused {
			continue
		}
		if op.Call == CallRemove {
			for _, name := range in.Names {
				j.removed[name] = true
			}
		}
		by := in.Threads
		if op.Call == CallRemove {
			by = -by
		} else if op.Outcome == history.OK {
			j.counts["added"]++
		}
		j.changes = append(j.changes, change{op, by})
	}
	return nil
}

// bounds returns how many threads the scope can have held at some moment from one time to another,
// without the change of a call itself.
func (j *judge) bounds(from, to time.Duration, itself history.Op) (least, most int) {
	for _, c := range j.changes {
		if c.op.ID == itself.ID {
			continue
		}
		applied := c.op.Outcome == history.OK && c.op.Return < from // applied before
		maybe := c.op.Invoke < to                                   // may have been applied by the end
		if applied || maybe && c.by < 0 {
			least += c.by
		}
		if applied || maybe && c.by > 0 {
			most += c.by
		}
	}
	return max(least, 0), most
}

func (j *judge) judge(ops []history.Op) error {
	for _, op := range ops {
		switch {
		case op.Call == workload.CallRead && op.Outcome == history.OK:
			out, err := history.Decode[Out](op.Out)
			if err != nil {
				return err
			}
			j.read(op, int(out.Threads))
			j.listed(op, out)
			j.whole(op, out.Names)
		case op.Call == CallAdd:
			in, err := history.Decode[In](op.In)
			if err != nil {
				return err
			}
			j.add(op, in.Threads)
		}
	}
	return nil
}

func (j *judge) read(op history.Op, threads int) {
	least, most := j.bounds(op.Invoke, op.Return, op)
	switch {
	case threads > Limit:
		j.findings.Add("over the quota", j.key, []history.Op{op}, "call %d read %d threads in a scope that may hold %d", op.ID, threads, Limit)
	case threads < least || threads > most:
		j.findings.Add("wrong count", j.key, []history.Op{op}, "call %d read %d threads, where the scope can have held from %d to %d", op.ID, threads, least, most)
	}
}

// listed checks that a read counts the threads that it lists, both at one index. Histories from before
// threads had names have no lists.
func (j *judge) listed(op history.Op, out Out) {
	named := len(out.Names) > 0 || slices.ContainsFunc(j.added, func(a adding) bool { return len(a.names) > 0 })
	if named && uint64(len(out.Names)) != out.Threads {
		j.findings.Add("count and list apart", j.key, []history.Op{op}, "call %d read a count of %d threads, and at the same index a list of %d: %v", op.ID, out.Threads, len(out.Names), out.Names)
	}
}

// whole checks that a read shows all threads of a commit or none.
func (j *judge) whole(op history.Op, names []string) {
	for _, a := range j.added {
		var has, lacks []string
		for _, name := range a.names {
			if slices.Contains(names, name) {
				has = append(has, name)
			} else if !j.removed[name] {
				lacks = append(lacks, name)
			}
		}
		calls := []history.Op{a.op, op}
		switch {
		case len(has) > 0 && a.op.Outcome == history.Refused:
			j.findings.Add("refused but there", j.key, calls, "call %d was refused (%s), and call %d found its thread %s", a.op.ID, a.op.Code, op.ID, has[0])
		case len(has) > 0 && len(lacks) > 0:
			j.findings.Add("torn commit", j.key, calls, "call %d found thread %s of call %d, and not %s, which no call has deleted", op.ID, has[0], a.op.ID, lacks[0])
		}
	}
}

// add judges a call that added n threads, or was refused.
func (j *judge) add(op history.Op, n int) {
	least, most := j.bounds(op.Invoke, op.Return, op)
	switch {
	case op.Outcome == history.OK && least+n > Limit:
		j.findings.Add("over the quota", j.key, []history.Op{op}, "call %d added %d threads to a scope that held at least %d and may hold %d", op.ID, n, least, Limit)
	case op.Outcome == history.Refused && op.Code == string(agent.CodeQuotaExceeded):
		j.counts["refused at the quota"]++
		if most+n <= Limit {
			j.findings.Add("refused below the quota", j.key, []history.Op{op}, "call %d was refused %d threads in a scope that held at most %d and may hold %d", op.ID, n, most, Limit)
		}
	}
}
