package model

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// Shortest is a short part of calls which no order explains, that shows the
// same contradiction; it is never longer than calls, which must be
// contradicted. whole reports whether the part begins with the object's first
// call. It ends with the answer that cannot be.
//
// Each step leaves out only what can make no difference or takes knowledge
// away, so the part contradicts itself only if the calls do.
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

// tail leaves out what came after the first answer that cannot be: what has an
// order has one up to any moment.
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
		return calls // there was no time to look
	}
	return s.until(calls, returns[first])
}

// until is what was known at a moment: who had not returned is unknown.
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

// forgotten is a call whose answer nobody knows.
func (c Call) forgotten() Call {
	c.Out, c.Return = nil, math.MaxInt64
	return c
}

// headsMax bounds how many beginnings are tried.
const headsMax = 400

// head leaves out what came before an answer that tells the whole state, the
// later the better.
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

// since is base and what came after it. What overlaps it may have come before
// or after, as may what is unknown from before.
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

// thin leaves out calls without effect, one at a time: such a call gone, what
// had an order has it still.
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
