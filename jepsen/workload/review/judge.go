package review

import (
	"math"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// statusOf maps a decision to the resulting status.
var statusOf = map[agent.ReviewDecision]agent.ReviewStatus{
	agent.DecideApprove: agent.ReviewApproved,
	agent.DecideDeny:    agent.ReviewDenied,
	agent.DecideEdit:    agent.ReviewEdited,
}

// judge judges one review: it must be requested, pending, and then closed once and
// permanently.
func (r *reviewed) judge(id string, one *oneReview) {
	if len(one.took) > 1 {
		r.findings.Add("decided twice", r.key, workload.CallsOf(r.ops, one.took...), "%d answers to review %s were accepted", len(one.took), id)
	}
	r.judgeAnswer(id, one)
	r.judgeOrder(id, one)
	if one.ask >= 0 && one.ttl > 0 && !r.shifted {
		r.judgeDeadline(id, one)
	}
}

// judgeAnswer checks that all calls which see a review closed see the same answer, and
// that it was asked for and given.
func (r *reviewed) judgeAnswer(id string, one *oneReview) {
	var first *sightOfReview
	for i := range one.sights {
		s := &one.sights[i]
		if s.seen.Status == "" {
			continue
		}
		if one.ask < 0 || r.ops[one.ask].Outcome == history.Refused {
			r.findings.Add("review from nowhere", r.key, workload.CallsOf(r.ops, s.call), "%s found review %s, which no call has asked for", workload.NameOf(r.ops[s.call]), id)
			return
		}
		if !s.closed {
			continue
		}
		if first != nil && !sameAnswer(first.seen, s.seen) {
			r.findings.Add("two answers", r.key, workload.CallsOf(r.ops, first.call, s.call), "%s found review %s %s by %q, and %s %s by %q",
				workload.NameOf(r.ops[first.call]), id, first.seen.Status, first.seen.By, workload.NameOf(r.ops[s.call]), s.seen.Status, s.seen.By)
		}
		if first == nil || first.seen.At == 0 {
			first = s
		}
		r.judgeAuthor(id, s)
	}
}

// sameAnswer reports whether two sights can be of one answer. A refusal shows only the
// status.
func sameAnswer(a, b reviewSeen) bool {
	return a.Status == b.Status && a.By == b.By && (a.At == b.At || a.At == 0 || b.At == 0)
}

// judgeAuthor checks that a call gave the answer and was not refused.
func (r *reviewed) judgeAuthor(id string, s *sightOfReview) {
	if s.seen.Status == agent.ReviewExpired || s.seen.Status == agent.ReviewWithdrawn {
		if s.seen.By != "" {
			r.findings.Add("answered by no call", r.key, workload.CallsOf(r.ops, s.call), "%s found review %s %s, by %q", workload.NameOf(r.ops[s.call]), id, s.seen.Status, s.seen.By)
		}
		return
	}
	call, known := r.answers[s.seen.By]
	var in answer
	if known {
		in, _ = history.Decode[answer](r.ops[call].In) // load has decoded it
	}
	switch {
	case !known || in.Review != id || statusOf[in.Decision] != s.seen.Status:
		r.findings.Add("answered by no call", r.key, workload.CallsOf(r.ops, s.call), "%s found review %s %s by %q, which no call answered so",
			workload.NameOf(r.ops[s.call]), id, s.seen.Status, s.seen.By)
	case r.ops[call].Outcome == history.Refused:
		r.findings.Add("refused but applied", r.key, workload.CallsOf(r.ops, call, s.call), "%s was refused (%s), and %s found its answer to review %s",
			workload.NameOf(r.ops[call]), r.ops[call].Code, workload.NameOf(r.ops[s.call]), id)
	case r.ops[s.call].Return < r.ops[call].Invoke:
		r.findings.Add("answered ahead of time", r.key, workload.CallsOf(r.ops, call, s.call), "%s found the answer to review %s that %s gave later",
			workload.NameOf(r.ops[s.call]), id, workload.NameOf(r.ops[call]))
	}
}

// judgeOrder checks, in real time and along the log, that a review does not vanish and
// that a closed review stays closed.
func (r *reviewed) judgeOrder(id string, one *oneReview) {
	there, closed := earliest{index: math.MaxUint64, ret: history.Never}, earliest{index: math.MaxUint64, ret: history.Never}
	if one.ask >= 0 && r.ops[one.ask].Outcome == history.OK {
		there.note(r, one.ask)
	}
	for _, s := range one.sights {
		if s.closed {
			closed.note(r, s.call)
		}
		if s.closed || s.seen.Status != "" {
			there.note(r, s.call)
		}
	}
	for _, s := range one.sights {
		switch {
		case s.closed:
		case s.seen.Status == agent.ReviewPending:
			if first, is := closed.before(r, s.call); is {
				r.findings.Add("answer taken back", r.key, workload.CallsOf(r.ops, first, s.call), "%s found review %s pending, and %s had found it closed",
					workload.NameOf(r.ops[s.call]), id, workload.NameOf(r.ops[first]))
			}
		case s.seen.Status == "":
			if first, is := there.before(r, s.call); is {
				r.findings.Add("review lost", r.key, workload.CallsOf(r.ops, first, s.call), "%s found no review %s, and %s had found or made it",
					workload.NameOf(r.ops[s.call]), id, workload.NameOf(r.ops[first]))
			}
		}
	}
}

// earliest is the first calls, in real time and along the log, that show a fact.
type earliest struct {
	returned int // the first call that returned
	ret      time.Duration
	logged   int // the first call in the log
	index    uint64
}

func (e *earliest) note(r *reviewed, call int) {
	if r.ops[call].Return < e.ret {
		e.returned, e.ret = call, r.ops[call].Return
	}
	if index := r.index[call]; index > 0 && index < e.index {
		e.logged, e.index = call, index
	}
}

// before returns the first such call that a call came after; is reports whether there
// is one.
func (e *earliest) before(r *reviewed, call int) (first int, is bool) {
	if e.ret < r.ops[call].Invoke {
		return e.returned, true
	}
	return e.logged, r.index[call] > e.index
}

// judgeDeadline checks that a review expires at its deadline and not earlier.
func (r *reviewed) judgeDeadline(id string, one *oneReview) {
	ask := r.ops[one.ask]
	if ask.Return != history.Never {
		for _, call := range one.took {
			if late := r.ops[call].Invoke - ask.Return - one.ttl; late > longAfter {
				r.findings.Add("answered after its deadline", r.key, workload.CallsOf(r.ops, one.ask, call), "%s answered review %s %v after it had expired",
					workload.NameOf(r.ops[call]), id, late.Round(time.Millisecond))
			}
		}
	}
	for _, s := range one.sights {
		if early := ask.Invoke + one.ttl - r.ops[s.call].Return; s.seen.Status == agent.ReviewExpired && early > deadlineSlack {
			r.findings.Add("expired early", r.key, workload.CallsOf(r.ops, one.ask, s.call), "%s found review %s expired, %v before its deadline",
				workload.NameOf(r.ops[s.call]), id, early.Round(time.Millisecond))
		}
	}
}
