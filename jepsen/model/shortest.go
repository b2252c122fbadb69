package model

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// Shortest returns a short part of contradicted calls that shows the same
// contradiction. calls must be contradicted; the part is never longer. whole reports
// whether the part begins with the object's first call. The part ends with the
// impossible answer.
//
// Each step only removes calls that make no difference, or removes knowledge. So if
// the part is contradicted, calls are too.
func (l Linear) Shortest(calls []Call, within time.Duration) (part []Call, whole bool) {
	s := shortener{linear: l, end: time.Now().Add(within)}
	part = s.tail(slices.Clone(calls))
	late, trimmed := s.head(part)
	if trimmed {
		part = late
	}
	return s.thin(part, l.begin(!trimmed)), !trimmed
}

type shortener struct {
	linear Linear
	end    time.Time
}

func (s *shortener) contradicted(init any, calls []Call) bool {
	return s.linear.judge(init, calls, time.Until(s.end)) == Contradicted
}

// tail removes the calls after the first impossible answer. If all calls have an
// order, the calls up to any moment have one too.
func (s *shortener) tail(calls []Call) []Call {
	returns := make([]time.Duration, 0, len(calls))
	for _, c := range calls {
		if c.Out != nil {
			returns = append(returns, c.Return)
		}
	}
	slices.Sort(returns)
	first := sort.Search(len(returns), func(i int) bool { return s.contradicted(s.linear.Init, s.until(calls, returns[i])) })
	if first == len(returns) {
		return calls // there was no time to search
	}
	return s.until(calls, returns[first])
}

// until returns the calls as known at a moment: calls that had not returned are
// unknown.
func (s *shortener) until(calls []Call, moment time.Duration) []Call {
	var part []Call
	for _, c := range calls {
		switch {
		case c.Invoke > moment:
		case c.Return <= moment:
			part = append(part, c)
		case s.linear.Effect(c.In, c.Out):
			part = append(part, c.forgotten())
		}
	}
	return part
}

// forgotten returns the call as if its answer were unknown.
func (c Call) forgotten() Call {
	c.Out, c.Return = nil, math.MaxInt64
	return c
}

// headsMax bounds how many starting points are tried.
const headsMax = 400

// head removes the calls before an answer that reveals the whole state. It prefers
// late answers.
func (s *shortener) head(calls []Call) (part []Call, found bool) {
	byReturn := slices.Clone(calls)
	slices.SortFunc(byReturn, func(a, b Call) int { return cmp.Compare(b.Return, a.Return) })
	tried := 0
	for _, base := range byReturn {
		if base.Out == nil || !s.linear.Tells(base.In, base.Out) {
			continue
		}
		if tried++; tried > headsMax {
			break
		}
		if part := s.since(calls, base); s.contradicted(s.linear.Any, part) {
			return part, true
		}
	}
	return nil, false
}

// since returns base and the calls after it. Calls that overlap base, and unknown
// calls from before it, may take effect on either side.
func (s *shortener) since(calls []Call, base Call) []Call {
	part := []Call{base}
	for _, c := range calls {
		switch {
		case c.Tag == base.Tag || c.Return < base.Invoke:
			continue
		case c.Invoke <= base.Return && c.Out != nil:
			if s.linear.Effect(c.In, c.Out) {
				part = append(part, c.forgotten())
			}
		default:
			part = append(part, c)
		}
	}
	return part
}

// thin removes calls without effect one by one. Removing such a call keeps any order
// valid.
func (s *shortener) thin(calls []Call, init any) []Call {
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Out == nil || s.linear.Effect(calls[i].In, calls[i].Out) {
			continue
		}
		if less := slices.Delete(slices.Clone(calls), i, i+1); s.contradicted(init, less) {
			calls = less
		}
	}
	return calls
}
