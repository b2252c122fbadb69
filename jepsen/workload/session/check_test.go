package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const callNext = "next"

// hand builds calls on one session by hand; each takes 10 ms.
type hand struct{ key string }

func (h hand) give(process, at int, call, request string, epoch, revision, index uint64) history.Op {
	owner := workload.HolderName(process)
	in := sessionCall{Owner: owner, TTL: time.Second}
	if call == workload.CallClaim {
		in.Request = request
	}
	if call == callNext { // a claim without a request takes the head of the queue
		call = workload.CallClaim
	}
	return workloadtest.OK(process, at, at+10, call, h.key, in, sessionSeen{
		Index: index, Revision: revision, Status: agent.SessionRunning, Epoch: epoch, Owner: owner, Request: request,
	})
}

func (h hand) queue(process, at int, request string, revision, index uint64) history.Op {
	in := sessionCall{Owner: workload.HolderName(process), TTL: time.Second, Request: request}
	return workloadtest.OK(process, at, at+10, workload.CallClaim, h.key, in, sessionSeen{Index: index, Revision: revision, Status: agent.SessionRunning, Queued: 1})
}

func (h hand) renew(process, at int, epoch, revision, index uint64) history.Op {
	owner := workload.HolderName(process)
	return workloadtest.OK(process, at, at+10, callRenew, h.key, sessionCall{Owner: owner, Epoch: epoch}, sessionSeen{
		Index: index, Revision: revision, Status: agent.SessionRunning, Epoch: epoch, Owner: owner,
	})
}

func (h hand) effect(process, at int, name string, epoch, rev, index uint64) history.Op {
	in := sessionCall{Owner: workload.HolderName(process), Epoch: epoch, Name: name}
	return workloadtest.OK(process, at, at+10, callEffect, h.key, in, sessionSeen{Index: index, Rev: rev})
}

func (h hand) end(process, at int, name, request string, epoch, turn, rev, revision, index uint64) history.Op {
	in := sessionCall{Owner: workload.HolderName(process), Epoch: epoch, Name: name, Request: request, Status: agent.SessionFinished, Turn: turn}
	return workloadtest.OK(process, at, at+10, workload.CallCommit, h.key, in, sessionSeen{Index: index, Revision: revision, Status: agent.SessionFinished, Request: request, Rev: rev})
}

func (h hand) read(process, at int, seen sessionSeen) history.Op {
	seen.Rev = uint64(len(seen.Entries))
	return workloadtest.OK(process, at, at+10, workload.CallRead, h.key, 0, seen)
}

func TestSessionFindsEachWrong(t *testing.T) {
	s := hand{"session1"} // busy policy: reject
	interrupts, enqueues := hand{"session2"}, hand{"session3"}
	done := func(requests ...string) (all []sessionRequest) {
		for _, id := range requests {
			all = append(all, sessionRequest{id, agent.RequestFinished})
		}
		return all
	}
	leads := []history.Event{{Kind: history.EventLeader, Term: 1, At: 0}}
	one := workloadtest.Script{s.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), s.effect(1, 30, "a", 16, 1, 2), s.end(1, 50, "b", "r1", 16, 1, 2, 3, 3)}
	after := func(calls ...history.Op) workloadtest.Script { return append(one.Copied(), calls...) }
	finished := sessionSeen{Index: 3, Revision: 3, Status: agent.SessionFinished, Request: "r1", Turns: 1, By: "b", Requests: done("r1"), Entries: []string{"a", "b"}}
	seen := func(change func(*sessionSeen)) history.Op {
		other := finished
		change(&other)
		return s.read(3, 70, other)
	}
	taken := workloadtest.Script{s.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), s.give(2, 1200, callRecover, "r1", 80, 3, 5)}
	over := func(calls ...history.Op) workloadtest.Script { return append(taken.Copied(), calls...) }
	overdue := workloadtest.OK(3, 90, 100, callOverdue, s.key, 0, sessionSeen{Index: 4, Revision: 2, Status: agent.SessionRunning, Epoch: 16, Owner: "p1", Request: "r1"})
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
		events     []history.Event
	}{
		{"a turn", "", after(s.read(3, 70, finished)), leads},
		{"a turn that is recovered", "", over(s.effect(2, 1220, "a", 80, 1, 6), workloadtest.Refused(s.effect(1, 1240, "x", 16, 0, 0), "fenced"), s.end(2, 1260, "b", "r1", 80, 1, 2, 4, 7)), leads},
		{"an unknown commit that applied", "", append(one[:2:2], workloadtest.Unknown(one[2]), s.read(3, 70, finished)), leads},
		{"an unknown commit that did not", "", append(one[:2:2], workloadtest.Unknown(one[2]), s.give(2, 1200, callRecover, "r1", 80, 3, 5)), leads},
		{"an interrupted one", "", workloadtest.Script{interrupts.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), interrupts.give(2, 30, workload.CallClaim, "r2", 32, 3, 2), workloadtest.Refused(interrupts.effect(1, 50, "a", 16, 0, 0), "fenced")}, leads},
		{"one that waited", "", workloadtest.Script{
			enqueues.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), enqueues.queue(2, 20, "r2", 3, 2), enqueues.end(1, 50, "b", "r1", 16, 1, 1, 4, 3),
			enqueues.give(3, 70, callNext, "r2", 80, 5, 4),
		}, leads},
		{"an effect in the middle of another's", "stale holder wrote", over(s.effect(2, 1220, "a", 80, 1, 6), s.effect(1, 1240, "x", 16, 2, 7)), nil},
		{"an effect in the middle of another's, unheard", "stale holder wrote", over(
			s.effect(2, 1220, "a", 80, 1, 6), workloadtest.Unknown(s.effect(1, 1240, "x", 16, 2, 7)),
			s.read(3, 1260, sessionSeen{Index: 8, Revision: 3, Status: agent.SessionRunning, Epoch: 80, Owner: "p2", Request: "r1", Requests: []sessionRequest{{ID: "r1"}}, Entries: []string{"a", "x"}}),
		), nil},
		{"a stale commit", "outside its holding", over(s.end(1, 1240, "x", "r1", 16, 1, 1, 4, 7)), nil},
		{"a stale commit after the turn's end", "turn ended twice", over(s.end(2, 1220, "b", "r1", 80, 1, 1, 4, 6), s.end(1, 1240, "x", "r1", 16, 2, 2, 5, 7)), nil},
		{"an effect after its turn's end", "after its end", after(s.effect(1, 70, "c", 16, 3, 4)), nil},
		{"an epoch again", "epoch used again", workloadtest.Script{taken[0], s.give(2, 1200, callRecover, "r1", 16, 3, 5)}, nil},
		{"an epoch that is smaller", "epoch went back", workloadtest.Script{s.give(1, 10, workload.CallClaim, "r1", 32, 2, 1), s.give(2, 1200, callRecover, "r1", 16, 3, 5)}, nil},
		{"two runners", "two holders", workloadtest.Script{taken[0], s.give(2, 500, callRecover, "r1", 80, 3, 2)}, nil},
		{"two runners after a renewal", "two holders", workloadtest.Script{taken[0], s.renew(1, 700, 16, 3, 2), s.give(2, 1400, callRecover, "r1", 80, 4, 3)}, nil},
		{"turned away while it stands", "fenced for no reason", workloadtest.Script{taken[0], workloadtest.Refused(s.renew(1, 500, 16, 0, 0), "stale_session_lease")}, nil},
		{"a commit after the lease has lapsed", "under a lapsed holding", workloadtest.Script{taken[0], s.end(1, 2100, "b", "r1", 16, 1, 1, 3, 2)}, leads},
		{"a lease that a read does not show", "holding unseen", workloadtest.Script{taken[0], s.read(3, 500, sessionSeen{Index: 2, Revision: 2, Status: agent.SessionNew})}, nil},
		{"a stale read", "lost or stale", after(s.read(3, 70, sessionSeen{Index: 2, Revision: 2, Status: agent.SessionRunning, Epoch: 16, Owner: "p1", Request: "r1", Requests: []sessionRequest{{ID: "r1"}}, Entries: []string{"a"}})), nil},
		{"a commit that is refused and there", "refused but applied", append(one[:2:2], workloadtest.Refused(one[2], "stale_session_lease"), s.read(3, 70, finished)), nil},
		{"a revision again", "made twice", workloadtest.Script{taken[0], s.renew(1, 30, 16, 2, 2)}, nil},
		{"another's lease", "another holding", workloadtest.Script{workloadtest.OK(1, 10, 20, workload.CallClaim, s.key, sessionCall{Owner: "p1", TTL: time.Second, Request: "r1"}, sessionSeen{Index: 1, Revision: 2, Epoch: 16, Owner: "p2"})}, nil},
		{"the wrong number of turns", "session and thread apart", after(seen(func(s *sessionSeen) { s.Turns, s.By = 0, "" })), nil},
		{"the wrong snapshot", "session and thread apart", after(seen(func(s *sessionSeen) { s.Snapshot = "a" })), nil},
		{"an outcome that is lost", "session and thread apart", after(seen(func(s *sessionSeen) { s.Requests = []sessionRequest{{ID: "r1"}} })), nil},
		{"an outcome from nowhere", "session and thread apart", after(seen(func(s *sessionSeen) { s.Requests = done("r0", "r1") })), nil},
		{"runs on after its end", "session and thread apart", after(seen(func(s *sessionSeen) { s.Status, s.Epoch, s.Owner = agent.SessionRunning, 16, "p1" })), nil},
		{"a request twice", "request begun twice", after(seen(func(s *sessionSeen) { s.Requests = done("r1", "r1") })), nil},
		{"a turn that skips one", "turn out of order", append(one[:2:2], s.end(1, 50, "b", "r1", 16, 2, 2, 3, 3)), nil},
		{"another's request", "another request", workloadtest.Script{workloadtest.OK(1, 10, 20, workload.CallClaim, s.key, sessionCall{Owner: "p1", TTL: time.Second, Request: "r1"}, sessionSeen{Index: 1, Revision: 2, Epoch: 16, Owner: "p1", Request: "r7"})}, nil},
		{"one that was passed over", "out of turn", workloadtest.Script{
			enqueues.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), enqueues.queue(2, 30, "r2", 3, 2), enqueues.queue(3, 50, "r3", 4, 3),
			enqueues.end(1, 70, "b", "r1", 16, 1, 1, 5, 4), enqueues.give(4, 90, callNext, "r3", 80, 6, 5),
			enqueues.end(4, 110, "c", "r3", 80, 2, 2, 7, 6), enqueues.give(5, 130, callNext, "r2", 112, 8, 7),
		}, nil},
		{"in turn, with an index that is not known", "", workloadtest.Script{
			enqueues.give(1, 10, workload.CallClaim, "r1", 16, 2, 1), enqueues.queue(2, 30, "r2", 3, 2), enqueues.queue(3, 50, "r3", 4, 0),
			enqueues.end(1, 70, "b", "r1", 16, 1, 1, 5, 4), enqueues.give(4, 90, callNext, "r2", 80, 6, 5),
			enqueues.end(4, 110, "c", "r2", 80, 2, 2, 7, 6), enqueues.give(5, 130, callNext, "r3", 112, 8, 7), enqueues.end(5, 150, "d", "r3", 112, 3, 3, 9, 8),
		}, nil},
		{"a turn without an end", "turn without an end", workloadtest.Script{taken[0], overdue}, nil},
		{"entries that are missing", "entries missing", after(workloadtest.OK(3, 70, 80, workload.CallRead, s.key, 0, sessionSeen{Index: 3, Revision: 3, Status: agent.SessionFinished, Turns: 1, By: "b", Requests: done("r1"), Rev: 2})), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History(c.events...)), c.rule)
		})
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one session and its thread.
type store struct {
	r       *rand.Rand
	policy  agent.BusyPolicy
	now     sessionSeen
	entries []string
	lapsed  bool
}

func (s *store) do(call string, in any) any {
	s.now.Index++
	lapse := s.r.IntN(30) == 0
	s.lapsed = s.lapsed || lapse
	c, write := in.(sessionCall)
	if !write {
		out := s.now
		out.Rev, out.Requests, out.Waiting = uint64(len(s.entries)), slices.Clone(s.now.Requests), slices.Clone(s.now.Waiting)
		out.Entries = slices.Clone(s.entries[out.Rev-workload.TailOf(out.Rev, in.(uint64)):])
		return out
	}
	running := s.now.Status == agent.SessionRunning
	switch call {
	case workload.CallClaim:
		return s.claim(c, running)
	case callRecover:
		if running && s.lapsed {
			return s.give(c.Owner, s.now.Request)
		}
		return nil
	case callResume:
		if s.now.Status == agent.SessionHibernated {
			return s.give(c.Owner, s.now.Request)
		}
		return nil
	}
	if !running || s.lapsed || s.now.Epoch != c.Epoch || s.now.Owner != c.Owner {
		return nil
	}
	return s.under(call, c)
}

// row returns the session's row after a write and increments its revision.
func (s *store) row() sessionSeen {
	s.now.Revision++
	n := s.now
	return sessionSeen{Index: n.Index, Revision: n.Revision, Status: n.Status, Epoch: n.Epoch, Owner: n.Owner, Request: n.Request}
}

func (s *store) give(owner, request string) sessionSeen {
	s.now.Status, s.now.Epoch, s.now.Owner, s.now.Request, s.lapsed = agent.SessionRunning, s.now.Index<<4, owner, request, false
	return s.row()
}

func (s *store) claim(c sessionCall, running bool) any {
	place := uint64(0)
	switch {
	case running && s.policy == agent.BusyReject:
		return nil
	case running && s.policy == agent.BusyInterrupt:
		s.close(agent.RequestInterrupted)
	case running || len(s.now.Waiting) > 0:
		s.now.Waiting = append(slices.Clone(s.now.Waiting), c.Request)
		if place = uint64(len(s.now.Waiting)); running {
			out := s.row()
			out.Epoch, out.Owner, out.Queued = 0, "", place
			return out
		}
		c.Request, s.now.Waiting = s.now.Waiting[0], s.now.Waiting[1:]
	}
	s.now.Requests = append(slices.Clone(s.now.Requests), sessionRequest{ID: c.Request})
	out := s.give(c.Owner, c.Request)
	out.Queued = place
	return out
}

func (s *store) close(outcome agent.RequestOutcome) {
	s.now.Requests = slices.Clone(s.now.Requests)
	for i := range s.now.Requests {
		if r := &s.now.Requests[i]; r.ID == s.now.Request && outcome != agent.RequestOpen {
			r.Outcome = outcome
		}
	}
}

func (s *store) under(call string, c sessionCall) any {
	if call == callRenew {
		return s.row()
	}
	if call == workload.CallCommit && (c.Request != s.now.Request || c.Turn > 0 && c.Turn != s.now.Turns+1) {
		return nil
	}
	s.entries = append(s.entries, c.Name)
	out := sessionSeen{Index: s.now.Index}
	if c.Save {
		s.now.Snapshot = c.Name
	}
	if call == workload.CallCommit {
		if c.Turn > 0 {
			s.now.Turns, s.now.By = c.Turn, c.Name
		}
		s.close(outcomeOf(c.Status))
		s.now.Status, s.now.Epoch, s.now.Owner = c.Status, 0, ""
	}
	if call == workload.CallCommit || c.Save {
		out = s.row()
	}
	out.Rev = uint64(len(s.entries))
	return out
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	key := fmt.Sprintf("session%d", 1+seed%3)
	s := &store{r: rand.New(rand.NewPCG(seed, 13)), policy: policyOf(key)}
	n := 0
	asked, leases := make([]sessionCall, processes), []sessionCall{{Owner: "p0", Epoch: 1}}
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		n++
		name := fmt.Sprint(n)
		in := sessionCall{Owner: workload.HolderName(at), TTL: 1}
		draw := s.r.IntN(100)
		switch {
		case draw < 15:
			in.Request = "r" + name
			asked[at] = in
			return workload.CallClaim, in
		case draw < 25:
			asked[at] = in
			return callRecover, in
		case draw < 30:
			asked[at] = in
			return callResume, in
		case draw < 40:
			return workload.CallRead, uint64(sessionTail)
		}
		lease := leases[max(0, len(leases)-1-int(s.r.ExpFloat64()))]
		in = sessionCall{Owner: lease.Owner, Epoch: lease.Epoch, Request: lease.Request, Name: name}
		switch {
		case draw < 50:
			return callRenew, sessionCall{Owner: lease.Owner, Epoch: lease.Epoch}
		case draw < 80:
			in.Save = s.r.IntN(2) == 0
			return callEffect, in
		case draw < 90:
			in.Status, in.Turn = agent.SessionFinished, s.now.Turns+1
		case draw < 95:
			in.Status = agent.SessionFailed
		default:
			in.Status, in.Save = agent.SessionHibernated, true
		}
		return workload.CallCommit, in
	}
	run.Heard = func(at int, out any) {
		if seen, is := out.(sessionSeen); is && asked[at].Owner != "" && seen.gives(asked[at]) && seen.Rev == 0 {
			leases = append(leases, sessionCall{Owner: seen.Owner, Epoch: seen.Epoch, Request: seen.Request})
		}
	}
	h := run.History(key)
	end := workloadtest.Script(h.Ops).End()
	last := s.do(workload.CallRead, uint64(0))
	h.Ops = append(h.Ops, workloadtest.OK(processes, end, end+1, workload.CallRead, key, 0, last))
	h.Ops[len(h.Ops)-1].ID = int64(len(h.Ops))
	return h
}

func TestSessionPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 14, spoilSession)
}

// spoilSession changes one answered call as if the store accepted a stale runner or
// lost a turn, and describes the change.
func spoilSession(r *rand.Rand, h *history.History) string {
	var epochs []uint64
	for _, op := range h.Ops {
		if out, err := history.Decode[sessionSeen](op.Out); op.Call == workload.CallClaim && err == nil && out.Epoch > 0 {
			epochs = append(epochs, out.Epoch)
		}
	}
	slices.Sort(epochs)
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		if op.Outcome != history.OK {
			continue
		}
		switch op.Call {
		case callEffect, workload.CallCommit:
			in, err := history.Decode[sessionCall](op.In)
			if err != nil {
				panic(err)
			}
			if place := slices.Index(epochs, in.Epoch); place > 0 {
				in.Epoch = epochs[place-1]
				op.In = workloadtest.Raw(in)
				return fmt.Sprintf("an older epoch in call %d", op.ID)
			}
		case workload.CallRead:
			seen, err := history.Decode[sessionSeen](op.Out)
			if err != nil {
				panic(err)
			}
			if seen.Turns > 0 {
				seen.Turns--
				op.Out = workloadtest.Raw(seen)
				return fmt.Sprintf("a turn less in call %d", op.ID)
			}
		}
	}
	return ""
}

func BenchmarkSessionCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, func(key int) string { return fmt.Sprintf("session%d", 30*key+1+key%3) }, run))
}
