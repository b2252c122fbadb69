package timer

import "dormouse/jepsen/history"

// settled is how often a set of a timer has fired when it fires no more, and the read that found so.
type settled struct {
	op    history.Op
	times int
}

// end determines the call after which a set fires no more: a cancel, or the next set of the timer.
// The turn of an occurrence acknowledges it in its commit, which the store refuses if the set does
// not exist any more. So each occurrence comes before that call or never.
func (t *alarm) end() {
	enders := []*history.Op{t.cleared, t.pended}
	if next := t.after; next != nil && next.op.Outcome == history.OK && t.op.Outcome == history.OK && t.op.Return < next.op.Invoke {
		enders = append(enders, &next.op)
	}
	for _, op := range enders {
		if op != nil && (t.ended == nil || op.Return < t.ended.Return) {
			t.ended = op
		}
	}
}

// judgeEnded checks that all reads after the end of a set show it fired equally often.
func (a *alarms) judgeEnded(op history.Op, times map[string]int) {
	for _, t := range a.all {
		name := t.Name
		if t.ended == nil || t.ended.Return >= op.Invoke {
			continue
		}
		if t.settled == nil {
			t.settled = &settled{op, times[name]}
			continue
		}
		before, rule := t.settled.times, "fired after it was replaced"
		switch {
		case times[name] == before:
			continue
		case times[name] < before:
			rule = "occurrence lost"
		case t.ended.Call == callCancel:
			rule = "cancelled but fired"
		}
		a.findings.Add(rule, a.key, []history.Op{t.op, *t.ended, t.settled.op, op}, "call %d ended timer %s of call %d. Then call %d found it fired %d times, and call %d %d times",
			t.ended.ID, name, t.op.ID, t.settled.op.ID, before, op.ID, times[name])
	}
}
