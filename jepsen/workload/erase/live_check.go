package erase

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each instance separately. An erasure erases the marks that were
// answered before it began. A get that began after the erasure was complete must not
// see them. It does not judge marks with attempts that may still be in progress.
func (*live) Check(ctx context.Context, h *history.History) check.Result {
	judged := 0
	r := workload.ByKey(ctx, "erase-live", h, func(key string, ops []history.Op, f *workload.Findings) error {
		e := &liveErasures{key: key, findings: f, marks: map[string]history.Op{}}
		for _, op := range ops {
			if err := e.load(op); err != nil {
				return err
			}
		}
		judged += e.judge()
		return nil
	})
	r.Counts["gets after a complete erasure"] = judged
	return r
}

// liveErasures is the history of one instance.
type liveErasures struct {
	key      string
	findings *workload.Findings

	marks  map[string]history.Op // all marks that were sent
	sure   map[string]bool       // :: name of a mark without an attempt in progress after its return
	erased []history.Op          // erasures that were complete when they returned
	gets   []liveGet
}

// liveGet is a get and the marks in its answer.
type liveGet struct {
	history.Op
	names []string
}

func (e *liveErasures) load(op history.Op) error {
	in, err := history.Decode[liveCall](op.In)
	if err != nil {
		return err
	}
	var out liveSeen
	if op.Outcome == history.OK {
		if out, err = history.Decode[liveSeen](op.Out); err != nil {
			return err
		}
	}
	switch {
	case op.Call == callMark:
		e.marks[in.Name] = op
		if out.First {
			if e.sure == nil {
				e.sure = map[string]bool{}
			}
			e.sure[in.Name] = true
		}
	case op.Call == callErase && out.Complete:
		e.erased = append(e.erased, op)
	case op.Call == workload.CallGet && op.Outcome == history.OK:
		e.gets = append(e.gets, liveGet{op, out.Names})
	}
	return nil
}

// judge judges each get and returns how many began after a complete erasure.
func (e *liveErasures) judge() (judged int) {
	slices.SortFunc(e.erased, func(a, b history.Op) int { return cmp.Compare(a.Return, b.Return) })
	latest := make([]history.Op, len(e.erased)) // the erasure up to this index with the latest invocation
	for i, op := range e.erased {
		if latest[i] = op; i > 0 && latest[i-1].Invoke > op.Invoke {
			latest[i] = latest[i-1]
		}
	}
	for _, g := range e.gets {
		at, _ := slices.BinarySearchFunc(e.erased, g.Invoke, func(op history.Op, by time.Duration) int { return cmp.Compare(op.Return, by) })
		if at > 0 {
			judged++
		}
		for _, name := range g.names {
			mark, sent := e.marks[name]
			switch {
			case !sent:
				e.findings.Add("from nowhere", e.key, []history.Op{g.Op}, "call %d saw mark %q, which no call left", g.ID, name)
			case at > 0 && e.sure[name] && mark.Return < latest[at-1].Invoke:
				e.findings.Add("lived on", e.key, []history.Op{mark, latest[at-1], g.Op},
					"call %d saw the mark of call %d, though erasure %d began after that, and was complete before the get began", g.ID, mark.ID, latest[at-1].ID)
			}
		}
	}
	return judged
}
