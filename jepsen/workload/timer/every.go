package timer

import "dormouse/jepsen/history"

// noteSet notes when a pending recurring timer was set. A recurring timer is set once, under an id
// of its own.
func (a *alarms) noteSet(p timerSeen) {
	sets := a.ids[p.Name]
	if len(sets) != 1 || !sets[0].Every || p.Set == 0 {
		return
	}
	if t := sets[0]; t.setAt == 0 || p.Set < t.setAt {
		t.setAt = p.Set
	}
}

// judgeOccurrence checks that an occurrence of a recurring timer, the nth from 1, has not fired
// before the nth second after the set. The timer skips seconds that it missed, and repeats none. So
// the bound holds after a time without a leader too. It holds if clocks jump, because the log's time
// never goes back.
func (a *alarms) judgeOccurrence(op history.Op, t *alarm, e timerFired, n int) {
	if t.setAt == 0 {
		return
	}
	if due := (t.setAt/1000 + int64(n)) * 1000; e.At < due {
		a.findings.Add("fired early", a.key, []history.Op{t.op, op}, "call %d found occurrence %d of timer %s at %d; the timer was set at %d, so that it was due at %d or later",
			op.ID, n, e.Name, e.At, t.setAt, due)
	}
}

// judgeEvery checks that each second from the first one after the set to the pending
// one is an occurrence.
func (a *alarms) judgeEvery(op history.Op, t *alarm, p timerSeen, times int) {
	due := int64(0)
	if p.Next > 0 {
		due = p.Next/1000 - p.Set/1000 - 1
	}
	switch {
	case int64(times) > due:
		a.findings.Add("fired twice", a.key, []history.Op{t.op, op}, "call %d found timer %s fired %d times, and %d seconds acknowledged", op.ID, p.Name, times, due)
	case int64(times) < due && !a.shifted:
		a.findings.Add("occurrence lost", a.key, []history.Op{t.op, op}, "call %d found timer %s fired %d times, and %d seconds acknowledged", op.ID, p.Name, times, due)
	}
}
