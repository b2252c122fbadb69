package timer

import (
	"context"
	"maps"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check compares every read of an instance's thread and timers with the timers that
// were set and cancelled. It compares the final read with the timers that must have
// fired.
func (w *timer) Check(ctx context.Context, h *history.History) check.Result {
	shifted := false // a clock that jumps skips more occurrences than are caught up
	for _, e := range h.Events {
		shifted = shifted || e.Kind == history.EventFault && e.Name == "clock"
	}
	unread, fired := 0, 0
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		if key == "" {
			return nil
		}
		a := &alarms{key: key, findings: f, set: map[string]*alarm{}, ids: map[string][]*alarm{}, shifted: shifted}
		if err := a.judge(ops); err != nil {
			return err
		}
		if a.last == nil {
			unread++
		}
		fired += a.fired
		return nil
	})
	r.Counts["occurrences that fired"] = fired
	if r.Verdict == check.OK && unread > 0 {
		r.Verdict, r.Why = check.Unknown, "not every key was read at the end"
	}
	return r
}

// alarms is the judgement of one instance's timers.
type alarms struct {
	key      string
	findings *workload.Findings
	set      map[string]*alarm   // :: name → the set
	all      []*alarm            // the sets, in the order of their calls
	ids      map[string][]*alarm // :: id → the sets of the timer, which one process makes one after the other
	last     *history.Op         // the final read
	fired    int                 // number of entries in the final read
	shifted  bool
}

// alarm is one set of a timer.
type alarm struct {
	timerCall
	op      history.Op  // the call that set it
	pended  *history.Op // a cancel that found it pending
	missed  *history.Op // a cancel, invoked after it was set, that did not find it
	cleared *history.Op // the first cancel to return, of those invoked after it was set, that succeeded
	dubious bool        // a cancel that does not say what it found, or that may have come before or after the set
	after   *alarm      // the next set of the timer, unless that was refused
	ended   *history.Op // the first call to return after which it fires no more; nil if there is none
	settled *settled    // the first read that began after ended returned
	setAt   int64       // of a recurring timer: when it was set, in Unix ms, as a read shows; 0 if no read does
}

func (a *alarms) judge(ops []history.Op) error {
	for _, op := range ops {
		if op.Call != callSet {
			continue
		}
		in, err := history.Decode[timerCall](op.In)
		if err != nil {
			return err
		}
		t := &alarm{timerCall: in, op: op}
		a.set[in.Name], a.all = t, append(a.all, t)
		if sets := a.ids[in.id()]; len(sets) > 0 && op.Outcome != history.Refused {
			sets[len(sets)-1].after = t
		}
		if len(a.ids[in.id()]) == 0 || op.Outcome != history.Refused {
			a.ids[in.id()] = append(a.ids[in.id()], t)
		}
	}
	for _, op := range ops {
		if op.Call != callCancel {
			continue
		}
		if err := a.cancelled(op); err != nil {
			return err
		}
	}
	reads, err := a.load(ops)
	if err != nil {
		return err
	}
	for _, t := range a.all {
		t.end()
	}
	for _, r := range reads {
		times := a.judgeRead(r.op, r.seen)
		a.judgeEnded(r.op, times)
		if r.op.Call == callFinal {
			a.last, a.fired = &r.op, len(r.seen.Fired)
			a.judgeLast(r.op, times)
		}
	}
	return nil
}

// reading is a read with its answer.
type reading struct {
	op   history.Op
	seen timersSeen
}

// load returns the reads that have an answer, and notes when each recurring timer was set.
func (a *alarms) load(ops []history.Op) (reads []reading, err error) {
	for _, op := range ops {
		if op.Call != workload.CallRead && op.Call != callFinal || op.Outcome != history.OK {
			continue
		}
		seen, err := history.Decode[timersSeen](op.Out)
		if err != nil {
			return nil, err
		}
		reads = append(reads, reading{op, seen})
		for _, p := range seen.Pending {
			a.noteSet(p)
		}
	}
	return reads, nil
}

func (a *alarms) cancelled(op history.Op) error {
	in, err := history.Decode[timerCall](op.In)
	if err != nil {
		return err
	}
	sets := a.ids[in.Name]
	if len(sets) == 0 || op.Outcome == history.Refused {
		return nil
	}
	t := a.current(sets, op)
	if t == nil || op.Outcome == history.Unknown {
		for _, t := range sets {
			t.dubious = true
		}
		return nil
	}
	out, err := history.Decode[timersSeen](op.Out)
	if err != nil {
		return err
	}
	before := t.op.Outcome == history.OK && t.op.Return < op.Invoke
	if before && (t.cleared == nil || op.Return < t.cleared.Return) {
		t.cleared = &op
	}
	switch {
	case out.Untold:
		t.dubious = true
	case out.Existed && t.pended != nil:
		a.findings.Add("cancelled twice", a.key, []history.Op{*t.pended, op}, "calls %d and %d both found timer %s pending, and cancelled it", t.pended.ID, op.ID, in.Name)
	case out.Existed:
		t.pended = &op
	case before:
		t.missed = &op
	default:
		t.dubious = true
	}
	return nil
}

// current returns the set that a cancel concerns, or nil if another set overlaps it.
func (a *alarms) current(sets []*alarm, op history.Op) *alarm {
	if len(sets) == 1 {
		return sets[0]
	}
	var now *alarm
	for _, t := range sets {
		switch {
		case t.op.Invoke > op.Return: // later
		case t.op.Outcome != history.OK || t.op.Return > op.Invoke:
			return nil
		default:
			now = t
		}
	}
	return now
}

// judgeRead judges a read alone: no unknown timer has fired, and none too often or too
// early. It returns how often each timer has fired.
func (a *alarms) judgeRead(op history.Op, seen timersSeen) (times map[string]int) {
	times = map[string]int{}
	newest := map[string]*alarm{} // :: id → the newest set that has fired so far
	for _, e := range seen.Fired {
		times[e.Name]++
		t := a.set[e.Name]
		if t != nil {
			a.judgeOrder(op, t, newest)
		}
		switch {
		case t == nil:
			a.findings.Add("fired from nowhere", a.key, []history.Op{op}, "call %d found an occurrence of %s, which no call set", op.ID, e.Name)
		case t.op.Outcome == history.Refused:
			a.findings.Add("refused but fired", a.key, []history.Op{t.op, op}, "call %d was refused, and call %d found an occurrence of its timer %s", t.op.ID, op.ID, e.Name)
		case t.Every:
			a.judgeOccurrence(op, t, e, times[e.Name])
		case times[e.Name] > 1:
			a.findings.Add("fired twice", a.key, []history.Op{t.op, op}, "call %d found timer %s fired %d times instead of once", op.ID, e.Name, times[e.Name])
		case e.At < t.At:
			a.findings.Add("fired early", a.key, []history.Op{t.op, op}, "call %d found timer %s fired at %d; it was set for %d", op.ID, e.Name, e.At, t.At)
		case t.pended != nil:
			a.findings.Add("cancelled but fired", a.key, []history.Op{t.op, *t.pended, op}, "call %d found timer %s pending and cancelled it, and call %d found that it fired",
				t.pended.ID, e.Name, op.ID)
		}
	}
	for _, p := range seen.Pending {
		a.judgePending(op, p, times)
	}
	return times
}

// judgeOrder checks that no set of a timer fires after a later set of it has fired.
func (a *alarms) judgeOrder(op history.Op, t *alarm, newest map[string]*alarm) {
	before := newest[t.id()]
	if before != nil && before.op.Invoke > t.op.Invoke {
		a.findings.Add("fired after it was replaced", a.key, []history.Op{t.op, before.op, op}, "call %d replaced the set of timer %s of call %d, and call %d found that it fired later",
			before.op.ID, t.id(), t.op.ID, op.ID)
		return
	}
	newest[t.id()] = t
}

// judgePending checks that a pending timer has fired exactly as often as it was
// acknowledged.
func (a *alarms) judgePending(op history.Op, p timerSeen, all map[string]int) {
	var t *alarm // the newest set that may have been made
	for _, s := range a.ids[p.Name] {
		if s.op.Invoke <= op.Return {
			t = s
		}
	}
	times := 0
	if t != nil {
		times = all[t.Name]
	}
	switch {
	case t == nil:
		a.findings.Add("timer from nowhere", a.key, []history.Op{op}, "call %d found timer %s, which no call set", op.ID, p.Name)
	case t.cleared != nil && t.cleared.Return < op.Invoke && len(a.ids[p.Name]) == 1:
		a.findings.Add("cancelled but pending", a.key, []history.Op{t.op, *t.cleared, op}, "call %d cancelled timer %s, and call %d found it pending", t.cleared.ID, p.Name, op.ID)
	case !t.Every && times > 0:
		a.findings.Add("fired and not acknowledged", a.key, []history.Op{t.op, op}, "call %d found timer %s pending, and fired", op.ID, p.Name)
	case t.Every:
		a.judgeEvery(op, t, p, times)
	}
}

// judgeLast checks that every timer which fires once has fired, unless it was
// cancelled or replaced.
func (a *alarms) judgeLast(op history.Op, times map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(a.set)) {
		t := a.set[name]
		if t.Every || times[name] > 0 || t.op.Outcome != history.OK || t.pended != nil || t.dubious || t.after != nil {
			continue
		}
		shown := []history.Op{t.op, op}
		if t.missed != nil {
			shown = []history.Op{t.op, *t.missed, op}
		}
		a.findings.Add("occurrence lost", a.key, shown, "call %d set timer %s, which no call cancelled, and it had not fired by call %d", t.op.ID, name, op.ID)
	}
}
