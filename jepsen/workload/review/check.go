package review

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

const (
	// deadlineSlack bounds the difference of the clocks of nodes and harness while no
	// fault shifts them.
	deadlineSlack = 250 * time.Millisecond
	// longAfter is the time after its deadline from which a review must not accept an
	// answer.
	longAfter = time.Second
)

// Check judges each session separately: review by review, and each read of all of
// them.
func (*review) Check(ctx context.Context, h *history.History) check.Result {
	shifted := slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.EventFault && strings.HasPrefix(e.Name, "clock")
	})
	return workload.ByKey(ctx, "review", h, func(key string, ops []history.Op, f *workload.Findings) error {
		r := &reviewed{key: key, ops: ops, findings: f, shifted: shifted, all: map[string]*oneReview{}, answers: map[string]int{}, index: map[int]uint64{}}
		if err := r.load(); err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(r.all)) {
			r.judge(id, r.all[id])
		}
		return nil
	})
}

// reviewed is the history of one session's reviews. Calls are identified by their
// index in ops.
type reviewed struct {
	key      string
	ops      []history.Op
	findings *workload.Findings
	shifted  bool // a fault shifted clocks, so deadlines are not judged
	all      map[string]*oneReview
	answers  map[string]int // :: by → the call with this answer
	index    map[int]uint64 // log indexes of answered calls
}

// oneReview is the calls on one review.
type oneReview struct {
	ask    int // the call that asked for it; -1 if there is none
	ttl    time.Duration
	took   []int // calls whose answers were accepted
	sights []sightOfReview
}

// sightOfReview is what one call shows of a review. A refusal of a closed review shows
// only that it is closed.
type sightOfReview struct {
	call   int
	seen   reviewSeen
	closed bool
}

func (r *reviewed) of(id string) *oneReview {
	one := r.all[id]
	if one == nil {
		one = &oneReview{ask: -1}
		r.all[id] = one
	}
	return one
}

func (r *reviewed) load() error {
	var reads []int
	seen := map[int]reviewsSeen{}
	for call, op := range r.ops {
		if op.Outcome == history.OK {
			out, err := history.Decode[reviewsSeen](op.Out)
			if err != nil {
				return err
			}
			seen[call], r.index[call] = out, out.Index
		}
		switch op.Call {
		case callAsk:
			in, err := history.Decode[turn](op.In)
			if err != nil {
				return err
			}
			for _, a := range in.Asks {
				one := r.of(a.ID)
				one.ask, one.ttl = call, a.TTL
			}
		case callDecide:
			in, err := history.Decode[answer](op.In)
			if err != nil {
				return err
			}
			r.answers[in.By] = call
			r.loadAnswer(call, in, seen[call])
		case workload.CallRead:
			reads = append(reads, call)
		}
		for _, row := range seen[call].Reviews {
			r.saw(call, row)
		}
	}
	for _, call := range reads {
		if out, is := seen[call]; is {
			r.judgeRead(call, out)
		}
	}
	return nil
}

// loadAnswer records the outcome of an answer.
func (r *reviewed) loadAnswer(call int, in answer, out reviewsSeen) {
	op, one := r.ops[call], r.of(in.Review)
	switch {
	case op.Outcome == history.OK:
		one.took = append(one.took, call)
		if len(out.Reviews) != 1 || out.Reviews[0].ID != in.Review || out.Reviews[0].By != in.By {
			r.findings.Add("another's answer", r.key, workload.CallsOf(r.ops, call), "%s answered review %s as %q, and was shown %+v", workload.NameOf(op), in.Review, in.By, out.Reviews)
		}
	case workload.RefusedAs(op, agent.CodeReviewDecided):
		one.sights = append(one.sights, sightOfReview{call: call, closed: true})
	case workload.RefusedAs(op, agent.CodeApprovalExpired):
		one.sights = append(one.sights, sightOfReview{call: call, seen: reviewSeen{ID: in.Review, Status: agent.ReviewExpired}, closed: true})
	case workload.RefusedAs(op, agent.CodeNotFound):
		one.sights = append(one.sights, sightOfReview{call: call, seen: reviewSeen{ID: in.Review}})
	}
}

func (r *reviewed) saw(call int, row reviewSeen) {
	one := r.of(row.ID)
	closed := row.Status != "" && row.Status != agent.ReviewPending
	one.sights = append(one.sights, sightOfReview{call: call, seen: row, closed: closed})
}

// judgeRead checks that the session waits exactly while reviews are pending, and that
// the thread records each answer once.
func (r *reviewed) judgeRead(call int, out reviewsSeen) {
	name, pending := workload.NameOf(r.ops[call]), 0
	recorded := map[string][]reviewSeen{}
	for _, e := range out.Entries {
		recorded[e.ID] = append(recorded[e.ID], e)
	}
	wrong := func(rule, format string, args ...any) {
		r.findings.Add(rule, r.key, workload.CallsOf(r.ops, call), "%s "+format, append([]any{name}, args...)...)
	}
	for _, row := range out.Reviews {
		entries := recorded[row.ID]
		delete(recorded, row.ID)
		answered := row.Status != agent.ReviewPending && row.Status != agent.ReviewWithdrawn
		if row.Status == agent.ReviewPending {
			pending++
		}
		switch {
		case !answered && len(entries) == 0:
		case !answered:
			wrong("recorded and not answered", "found review %s %s, and the answer %q of %q in the thread", row.ID, row.Status, entries[0].Status, entries[0].By)
		case len(entries) == 0:
			wrong("answer not recorded", "found review %s %s by %q, and no record of it in the thread", row.ID, row.Status, row.By)
		case len(entries) > 1:
			wrong("answer recorded twice", "found review %s %s by %q, and %d answers in the thread", row.ID, row.Status, row.By, len(entries))
		case entries[0].Status != row.Status || entries[0].By != row.By:
			wrong("another answer recorded", "found review %s %s by %q, and in the thread %s by %q", row.ID, row.Status, row.By, entries[0].Status, entries[0].By)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(recorded)) {
		wrong("answer from nowhere", "found an answer to review %q in the thread, and no such review", id)
	}
	switch {
	case out.Status == agent.SessionWaiting && pending == 0:
		wrong("waits for nothing", "found the session waiting, and no review that is pending")
	case out.Status == agent.SessionHibernated && pending > 0:
		wrong("does not wait", "found the session hibernated, and %d reviews that are pending", pending)
	}
}
