package review

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

func TestReviewFindsEachWrong(t *testing.T) {
	const key = "review1"
	ask := func(at int, index uint64, asks ...reviewAsk) history.Op {
		return workloadtest.OK(1, at, at+10, callAsk, key, turn{Owner: "p1", Asks: asks}, reviewsSeen{Index: index})
	}
	row := func(status agent.ReviewStatus, by string) reviewSeen {
		return reviewSeen{ID: "v", Status: status, By: by, At: 5}
	}
	decide := func(process, at int, by string, index uint64) history.Op {
		return workloadtest.OK(process, at, at+10, callDecide, key, answer{Review: "v", Decision: agent.DecideApprove, By: by},
			reviewsSeen{Index: index, Reviews: []reviewSeen{row(agent.ReviewApproved, by)}})
	}
	get := func(at int, index uint64, row reviewSeen) history.Op {
		return workloadtest.OK(4, at, at+10, workload.CallGet, key, "v", reviewsSeen{Index: index, Reviews: []reviewSeen{row}})
	}
	read := func(at int, index uint64, status agent.SessionStatus, rows, entries []reviewSeen) history.Op {
		return workloadtest.OK(4, at, at+10, workload.CallRead, key, struct{}{}, reviewsSeen{Index: index, Status: status, Reviews: rows, Entries: entries})
	}
	rows := func(all ...reviewSeen) []reviewSeen { return all }
	said := reviewSeen{ID: "v", Status: agent.ReviewApproved, By: "a"}
	pending, approved := reviewSeen{ID: "v", Status: agent.ReviewPending}, row(agent.ReviewApproved, "a")
	asked := ask(10, 1, reviewAsk{ID: "v"})
	brief := ask(10, 1, reviewAsk{ID: "v", TTL: 100 * time.Millisecond})
	lasting := ask(10, 1, reviewAsk{ID: "v", TTL: 10 * time.Second})
	expired := row(agent.ReviewExpired, "")
	shifted := []history.Event{{Kind: history.EventFault, Name: "clock", Step: 1, At: 0}}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
		events     []history.Event
	}{
		{"one answer", "", workloadtest.Script{
			asked, get(30, 1, pending), read(30, 1, agent.SessionWaiting, rows(pending), nil), decide(2, 50, "a", 2),
			workloadtest.Refused(decide(3, 55, "b", 0), "review_already_decided"), read(70, 3, agent.SessionHibernated, rows(approved), rows(said)),
		}, nil},
		{"one that expires", "", workloadtest.Script{brief, get(300, 2, expired), workloadtest.Refused(decide(2, 320, "a", 0), "approval_expired")}, nil},
		{"one that is withdrawn", "", workloadtest.Script{asked, read(30, 2, agent.SessionFinished, rows(row(agent.ReviewWithdrawn, "")), nil), workloadtest.Refused(decide(2, 50, "a", 0), "review_already_decided")}, nil},
		{"unknown answers", "", workloadtest.Script{asked, workloadtest.Unknown(decide(2, 30, "a", 0)), workloadtest.Unknown(decide(3, 30, "b", 0)), get(50, 3, approved)}, nil},
		{"an unknown ask", "", workloadtest.Script{workloadtest.Unknown(asked), workloadtest.Refused(decide(2, 30, "a", 0), "not_found"), get(50, 2, pending)}, nil},
		{"answered late while clocks are shifted", "", workloadtest.Script{brief, decide(2, 2000, "a", 2)}, shifted},
		{"two answers are taken", "decided twice", workloadtest.Script{asked, decide(2, 30, "a", 2), decide(3, 30, "b", 3)}, nil},
		{"another's answer is taken for one's own", "another's answer", workloadtest.Script{
			asked, workloadtest.Unknown(decide(2, 30, "a", 0)),
			workloadtest.OK(3, 50, 60, callDecide, key, answer{Review: "v", Decision: agent.DecideApprove, By: "b"}, reviewsSeen{Index: 3, Reviews: rows(approved)}),
		}, nil},
		{"an answer that shows nothing", "another's answer", workloadtest.Script{
			asked, workloadtest.OK(3, 50, 60, callDecide, key, answer{Review: "v", Decision: agent.DecideApprove, By: "b"}, reviewsSeen{Index: 3}),
		}, nil},
		{"two people see two answers", "two answers", workloadtest.Script{asked, workloadtest.Unknown(decide(2, 30, "a", 0)), workloadtest.Unknown(decide(3, 30, "b", 0)), get(50, 3, approved), get(70, 4, row(agent.ReviewApproved, "b"))}, nil},
		{"an answer at another time", "two answers", workloadtest.Script{asked, decide(2, 30, "a", 2), get(50, 3, reviewSeen{ID: "v", Status: agent.ReviewApproved, By: "a", At: 6})}, nil},
		{"expired after it was approved", "two answers", workloadtest.Script{asked, decide(2, 30, "a", 2), get(50, 3, expired)}, nil},
		{"an answer without a call", "answered by no call", workloadtest.Script{asked, get(30, 2, row(agent.ReviewDenied, "x"))}, nil},
		{"another answer than was given", "answered by no call", workloadtest.Script{asked, workloadtest.Unknown(decide(2, 30, "a", 0)), get(50, 2, row(agent.ReviewDenied, "a"))}, nil},
		{"a withdrawal by somebody", "answered by no call", workloadtest.Script{asked, get(30, 2, row(agent.ReviewWithdrawn, "x"))}, nil},
		{"a refused answer", "refused but applied", workloadtest.Script{asked, workloadtest.Refused(decide(2, 30, "a", 0), "approval_interrupt_mismatch"), get(50, 2, approved)}, nil},
		{"an answer that is given later", "answered ahead of time", workloadtest.Script{asked, get(30, 2, approved), workloadtest.Unknown(decide(2, 50, "a", 0))}, nil},
		{"a review that nobody asked for", "review from nowhere", workloadtest.Script{get(30, 2, pending)}, nil},
		{"a review whose asking was refused", "review from nowhere", workloadtest.Script{workloadtest.Refused(asked, "fenced"), get(30, 2, pending)}, nil},
		{"pending again", "answer taken back", workloadtest.Script{asked, decide(2, 30, "a", 2), get(50, 3, pending)}, nil},
		{"pending again in the log", "answer taken back", workloadtest.Script{asked, decide(2, 30, "a", 2), get(35, 3, pending)}, nil},
		{"refused as decided and pending", "answer taken back", workloadtest.Script{asked, workloadtest.Refused(decide(2, 30, "a", 0), "review_already_decided"), get(50, 3, pending)}, nil},
		{"gone", "review lost", workloadtest.Script{asked, get(30, 2, reviewSeen{ID: "v"})}, nil},
		{"gone for one who would answer", "review lost", workloadtest.Script{asked, workloadtest.Refused(decide(2, 30, "a", 0), "not_found")}, nil},
		{"answered after its deadline", "answered after its deadline", workloadtest.Script{brief, decide(2, 2000, "a", 2)}, nil},
		{"expired early", "expired early", workloadtest.Script{lasting, get(300, 2, expired)}, nil},
		{"refused as expired early", "expired early", workloadtest.Script{lasting, workloadtest.Refused(decide(2, 300, "a", 0), "approval_expired")}, nil},
		{"recorded and pending", "recorded and not answered", workloadtest.Script{asked, read(30, 2, agent.SessionWaiting, rows(pending), rows(said))}, nil},
		{"not recorded", "answer not recorded", workloadtest.Script{asked, decide(2, 30, "a", 2), read(50, 3, agent.SessionHibernated, rows(approved), nil)}, nil},
		{"recorded twice", "answer recorded twice", workloadtest.Script{asked, decide(2, 30, "a", 2), read(50, 3, agent.SessionHibernated, rows(approved), rows(said, said))}, nil},
		{"another recorded", "another answer recorded", workloadtest.Script{asked, decide(2, 30, "a", 2), read(50, 3, agent.SessionHibernated, rows(approved), rows(reviewSeen{ID: "v", Status: agent.ReviewDenied, By: "a"}))}, nil},
		{"recorded from nowhere", "answer from nowhere", workloadtest.Script{asked, read(30, 2, agent.SessionWaiting, rows(pending), rows(reviewSeen{ID: "w", Status: agent.ReviewDenied, By: "a"}))}, nil},
		{"waits for nothing", "waits for nothing", workloadtest.Script{asked, decide(2, 30, "a", 2), read(50, 3, agent.SessionWaiting, rows(approved), rows(said))}, nil},
		{"does not wait", "does not wait", workloadtest.Script{asked, read(50, 3, agent.SessionHibernated, rows(pending), nil)}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History(c.events...)), c.rule)
		})
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// TestReviewShowsTheCallsThatContradictEachOther checks that a finding has both calls:
// the late call and the call that it contradicts, which need not be the first to
// return.
func TestReviewShowsTheCallsThatContradictEachOther(t *testing.T) {
	const key = "review1"
	get := func(invoke, ret int, index uint64, row reviewSeen) history.Op {
		return workloadtest.OK(1, invoke, ret, workload.CallGet, key, "v", reviewsSeen{Index: index, Reviews: []reviewSeen{row}})
	}
	approved := reviewSeen{ID: "v", Status: agent.ReviewApproved, By: "a", At: 5}
	for rule, wrong := range map[string]reviewSeen{"answer taken back": {ID: "v", Status: agent.ReviewPending}, "review lost": {ID: "v"}} {
		h := workloadtest.Script{
			workloadtest.Unknown(workloadtest.OK(1, 0, 5, callAsk, key, turn{Asks: []reviewAsk{{ID: "v"}}}, nil)),
			workloadtest.Unknown(workloadtest.OK(2, 10, 20, callDecide, key, answer{Review: "v", Decision: agent.DecideApprove, By: "a"}, nil)),
			get(30, 40, 9, approved), get(35, 90, 2, approved), get(36, 50, 3, wrong),
		}.History()
		r := workloadtest.Judged(t, New(), h)
		workloadtest.Expect(t, r, rule)
		if len(r.Findings) != 1 || len(r.Findings[0].Ops) != 2 || r.Findings[0].Ops[0].ID != h.Ops[3].ID || r.Findings[0].Ops[1].ID != h.Ops[4].ID {
			t.Errorf("%s shows %+v", rule, r.Findings)
		}
	}
}

// store is a correct store of one session's reviews.
type store struct {
	r       *rand.Rand
	index   uint64
	running bool
	rows    []reviewSeen
	entries []reviewSeen
}

func (s *store) do(call string, in any) any {
	s.index++
	if at := s.r.IntN(max(1, 10*len(s.rows))); at < len(s.rows) {
		s.close(at, agent.ReviewExpired, "")
	}
	out := reviewsSeen{Index: s.index}
	switch in := in.(type) {
	case turn:
		s.running = call == workload.CallClaim || in.GoesOn
		for _, a := range in.Asks {
			s.rows = append(s.rows, reviewSeen{ID: a.ID, Status: agent.ReviewPending})
		}
		for at := range s.rows {
			if call == callWithdraw {
				s.close(at, agent.ReviewWithdrawn, "")
			}
		}
	case answer:
		at := slices.IndexFunc(s.rows, func(row reviewSeen) bool { return row.ID == in.Review })
		if at < 0 || s.rows[at].Status != agent.ReviewPending {
			return nil
		}
		s.close(at, statusOf[in.Decision], in.By)
		out.Reviews = []reviewSeen{s.rows[at]}
	case string:
		out.Reviews = []reviewSeen{{ID: in}}
		for _, row := range s.rows {
			if row.ID == in {
				out.Reviews[0] = row
			}
		}
	default:
		out.Reviews, out.Entries = slices.Clone(s.rows), slices.Clone(s.entries)
		out.Status = agent.SessionHibernated
		switch {
		case s.running:
			out.Status = agent.SessionRunning
		case slices.ContainsFunc(s.rows, func(row reviewSeen) bool { return row.Status == agent.ReviewPending }):
			out.Status = agent.SessionWaiting
		}
	}
	return out
}

func (s *store) close(at int, status agent.ReviewStatus, by string) {
	row := &s.rows[at]
	if row.Status != agent.ReviewPending {
		return
	}
	*row = reviewSeen{ID: row.ID, Status: status, By: by, At: int64(s.index)}
	if status != agent.ReviewWithdrawn {
		s.entries = append(s.entries, reviewSeen{ID: row.ID, Status: status, By: by})
	}
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 15))}
	n := 0
	var asked []string
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(at int) (string, any) {
		n++
		t := turn{Owner: workload.HolderName(at), Request: fmt.Sprint(n)}
		draw := s.r.IntN(100)
		switch {
		case draw < 10:
			return workload.CallClaim, t
		case draw < 25 || len(asked) == 0:
			for i := range 1 + s.r.IntN(reviewsAtOnce) {
				id := fmt.Sprintf("v%d.%d", n, i)
				t.Asks, asked = append(t.Asks, reviewAsk{ID: id}), append(asked, id)
			}
			t.GoesOn = s.r.IntN(4) == 0
			return callAsk, t
		case draw < 30:
			return callWithdraw, t
		case draw < 40:
			return workload.CallRead, struct{}{}
		}
		id := asked[len(asked)-1-s.r.IntN(min(len(asked), reviewsOpen))]
		if draw < 60 {
			return workload.CallGet, id
		}
		kinds := []agent.ReviewDecision{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit}
		return callDecide, answer{Review: id, Decision: kinds[s.r.IntN(len(kinds))], By: fmt.Sprint(n)}
	}
	h := run.History("review1")
	return h
}

func TestReviewPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 16, spoilReview)
}

// spoilReview accepts an answer that was refused, like a store that checks its reviews
// too early, or removes an entry, and describes the change.
func spoilReview(r *rand.Rand, h *history.History) string {
	taken := map[string]bool{}
	for _, op := range h.Ops {
		if in, err := history.Decode[answer](op.In); op.Call == callDecide && err == nil && op.Outcome == history.OK {
			taken[in.Review] = true
		}
	}
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		switch {
		case op.Call == callDecide && op.Outcome == history.Refused:
			in, err := history.Decode[answer](op.In)
			if err != nil {
				panic(err)
			}
			if taken[in.Review] {
				op.Outcome, op.Code = history.OK, ""
				op.Out = workloadtest.Raw(reviewsSeen{Index: 1, Reviews: []reviewSeen{{ID: in.Review, Status: statusOf[in.Decision], By: in.By, At: 1}}})
				return fmt.Sprintf("a second answer in call %d", op.ID)
			}
		case op.Call == workload.CallRead && op.Outcome == history.OK:
			seen, err := history.Decode[reviewsSeen](op.Out)
			if err != nil {
				panic(err)
			}
			if n := len(seen.Entries); n > 0 {
				seen.Entries = seen.Entries[:n-1]
				op.Out = workloadtest.Raw(seen)
				return fmt.Sprintf("an entry less in call %d", op.ID)
			}
		}
	}
	return ""
}

func BenchmarkReviewCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("review"), run))
}
