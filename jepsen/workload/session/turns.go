package session

import (
	"cmp"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/claim"
)

// story is the state of the session up to an entry, according to the thread's entries.
type story struct {
	turns    uint64            // turns that updated the conversation
	by       string            // the last write that did
	snapshot string            // the write of the newest snapshot
	over     map[uint64]int    // :: epoch → the commit that ended its turn
	ended    map[string]ending // :: request → its final outcome
}

type ending struct {
	outcome agent.RequestOutcome
	call    int
}

// judgeTurns goes through the entries of the thread in order. Every commit has left an
// entry, so at each rev it is known which turns have ended and what each read of the
// session must show.
func (s *turns) judgeTurns() {
	thread := s.Object(claim.FencedLog)
	reads := slices.SortedFunc(maps.Keys(s.Loads), func(a, b int) int { return cmp.Compare(s.out[a].Rev, s.out[b].Rev) })
	told := &story{over: map[uint64]int{}, ended: map[string]ending{}}
	for _, version := range thread.Versions {
		for len(reads) > 0 && s.out[reads[0]].Rev < version {
			s.judgeRead(reads[0], told)
			reads = reads[1:]
		}
		s.tell(told, s.MustAuthor(claim.FencedLog, thread.Names[version]))
	}
	for _, call := range reads {
		s.judgeRead(call, told)
	}
	for call, op := range s.Ops {
		if seen := s.out[call]; op.Call == callOverdue && seen != nil && !seen.settled() {
			s.Findings.Add("turn without an end", s.Key, s.Of(call), "%s still found the session %s, for request %q, with %d requests waiting",
				workload.NameOf(op), seen.Status, seen.Request, len(seen.Waiting))
		}
	}
}

// tell adds the next entry to the story.
func (s *turns) tell(told *story, call int) {
	in := s.in[call]
	if end, over := told.over[in.Epoch]; over {
		s.Findings.Add("after its end", s.Key, s.Of(end, call), "%s wrote under epoch %d, and %s had ended the turn of that epoch",
			workload.NameOf(s.Ops[call]), in.Epoch, workload.NameOf(s.Ops[end]))
	}
	if in.Save {
		told.snapshot = in.Name
	}
	if s.Ops[call].Call != workload.CallCommit {
		return
	}
	told.over[in.Epoch] = call
	if in.Turn > 0 {
		if in.Turn != told.turns+1 {
			s.Findings.Add("turn out of order", s.Key, s.Of(call), "%s updated the conversation as turn %d, after %d turns",
				workload.NameOf(s.Ops[call]), in.Turn, told.turns)
		}
		told.turns, told.by = told.turns+1, in.Name
	}
	outcome := outcomeOf(in.Status)
	if outcome == agent.RequestOpen {
		return
	}
	if first, twice := told.ended[in.Request]; twice {
		s.Findings.Add("turn ended twice", s.Key, s.Of(first.call, call), "%s ended the turn of request %q, which %s had ended",
			workload.NameOf(s.Ops[call]), in.Request, workload.NameOf(s.Ops[first.call]))
	}
	told.ended[in.Request] = ending{outcome, call}
}

func outcomeOf(status agent.SessionStatus) agent.RequestOutcome {
	switch status {
	case agent.SessionFinished:
		return agent.RequestFinished
	case agent.SessionFailed:
		return agent.RequestFailed
	default:
		return agent.RequestOpen
	}
}

// judgeRead checks that the state of the session agrees with its thread.
func (s *turns) judgeRead(call int, told *story) {
	seen := s.out[call]
	if !s.Object(claim.FencedLog).KnownUpTo(seen.Rev) {
		return // not all entries are known
	}
	wrong := func(with []int, format string, args ...any) {
		s.Findings.Add("session and thread apart", s.Key, s.Of(append(with, call)...), "%s "+format, append([]any{workload.NameOf(s.Ops[call])}, args...)...)
	}
	if seen.Turns != told.turns || seen.By != told.by {
		wrong(nil, "found %d turns, the last by %q, and a thread with %d, the last by %q", seen.Turns, seen.By, told.turns, told.by)
	}
	if seen.Snapshot != told.snapshot {
		wrong(nil, "found the snapshot of %q, and a thread whose newest is of %q", seen.Snapshot, told.snapshot)
	}
	if end, over := told.over[seen.Epoch]; over && seen.Status == agent.SessionRunning {
		wrong([]int{end}, "found epoch %d running, and %s had ended its turn", seen.Epoch, workload.NameOf(s.Ops[end]))
	}
	once := map[string]bool{}
	for _, r := range seen.Requests {
		if once[r.ID] {
			s.Findings.Add("request begun twice", s.Key, s.Of(call), "%s found request %q twice", workload.NameOf(s.Ops[call]), r.ID)
		}
		once[r.ID] = true
		end, over := told.ended[r.ID]
		switch {
		case over && r.Outcome != end.outcome:
			wrong([]int{end.call}, "found request %q %q, and %s had ended its turn as %q", r.ID, r.Outcome, workload.NameOf(s.Ops[end.call]), end.outcome)
		case over, r.Outcome == agent.RequestOpen:
		case r.Outcome != agent.RequestInterrupted || s.policy != agent.BusyInterrupt:
			wrong(nil, "found request %q %q, and no commit with this outcome in the thread", r.ID, r.Outcome)
		}
	}
}

// judgeQueue checks that a lease is for the named request, or, if requests are queued,
// for the request that has waited longest.
func (s *turns) judgeQueue() {
	accepted := map[string]int{} // :: request → the claim that added it
	var grants []int
	for call, op := range s.Ops {
		in, out := s.in[call], s.out[call]
		if op.Call != workload.CallClaim || out == nil {
			continue
		}
		if in.Request != "" {
			accepted[in.Request] = call
		}
		if !out.gives(in) {
			continue
		}
		grants = append(grants, call)
		if s.policy != agent.BusyEnqueue && in.Request != "" && out.Request != in.Request {
			s.Findings.Add("another request", s.Key, s.Of(call), "%s asked for request %q, and was given %q", workload.NameOf(op), in.Request, out.Request)
		}
	}
	slices.SortFunc(grants, func(a, b int) int { return cmp.Compare(s.out[a].Epoch, s.out[b].Epoch) })
	for i := 1; i < len(grants); i++ {
		before, known := accepted[s.out[grants[i-1]].Request]
		after, too := accepted[s.out[grants[i]].Request]
		if known && too && s.out[after].Index > 0 && s.out[after].Index < s.out[before].Index { // 0 is not known
			s.Findings.Add("out of turn", s.Key, s.Of(grants[i-1], grants[i], before, after), "request %q was queued at index %d and was begun after %q, which was queued at index %d",
				s.out[grants[i]].Request, s.out[after].Index, s.out[grants[i-1]].Request, s.out[before].Index)
		}
	}
}
