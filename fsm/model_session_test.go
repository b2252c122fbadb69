package fsm_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
)

// sessionHost connects the model of sessions to the model, during an op to which the machine
// answered got. Its sessions name no thread and no checkpoint: only the machine knows the ids
// written there.
type sessionHost struct {
	*model
	got agent.OpResult
}

func (h sessionHost) row() agent.SessionRow {
	if got, ok := h.got.(*agent.SessionResult); ok {
		return got.Session
	}
	return agent.SessionRow{}
}

func (h sessionHost) Now() int64        { return h.now }
func (h sessionHost) Principal() string { return "" }

func (h sessionHost) Born() uint64 {
	if incarnation := h.row().Incarnation; incarnation != 0 {
		return h.born(incarnation)
	}
	return 0
}

func (h sessionHost) Enter(session string, wanted, current uint64) *agent.Error {
	if code := h.enter("s/"+session, wanted, current); code != "" {
		return &agent.Error{Code: code}
	}
	return nil
}

func (h sessionHost) Seal(session string, _ uint64, seal time.Duration) {
	h.seal("s/"+session, seal.Milliseconds())
}

func (h sessionHost) Hold(claim, holder string, ttl time.Duration) uint64 {
	c := modelClaim{holder: holder, ttl: ttl, claimedAt: h.now}
	if lease := h.row().Lease; lease != nil {
		c.epoch = h.born(lease.Epoch)
	}
	h.arm(claim, c)
	return c.epoch
}

func (h sessionHost) Arm(claim string, ttl time.Duration) {
	c := h.claims[claim]
	c.ttl = ttl
	h.arm(claim, c)
}

func (h sessionHost) Ends(claim string) int64 {
	c, held := h.claims[claim]
	if !held {
		return 0
	}
	return h.now + int64(c.ends-h.tick)
}

func (h sessionHost) Release(claim string)     { delete(h.claims, claim) }
func (h sessionHost) Note(string, agent.Draft) {}
func (h sessionHost) Mark(agent.Session) any   { return nil }

func (h sessionHost) PutBack(agent.Session, any) (*agent.Draft, *agent.Error) { return nil, nil }

// sessionOp returns the model's result of an op on a session.
func (m *model) sessionOp(op agent.Op, got agent.OpResult) (agent.OpResult, agent.Code) {
	result, e, ok := m.sessions.Apply(sessionHost{m, got}, op)
	switch {
	case !ok:
		panic(fmt.Sprintf("the model does not know %T", op))
	case e != nil:
		return nil, e.Code
	}
	return result, ""
}

// reviewIsDue reports whether a pending review expires, or is escalated, by a time.
func (m *model) reviewIsDue(by int64) bool {
	for _, r := range m.sessions.Reviews {
		escalates := r.EscalateAt != 0 && r.EscalateAt <= by && !r.Escalated
		if r.Status == agent.ReviewPending && (escalates || r.ExpiresAt != 0 && r.ExpiresAt <= by) {
			return true
		}
	}
	return false
}

// seen returns a session as the model shows it. Only the machine knows when a lease ended that has
// been cleared.
func (m *model) seen(id string, got agent.Answer) (*agent.Session, bool) {
	s := m.sessions.Shown(sessionHost{model: m}, id)
	if s == nil {
		return nil, false
	}
	if found, ok := got.Found.(*agent.Session); ok && s.Recoverable && found.Recoverable {
		s.Lease.ExpiresAt = found.Lease.ExpiresAt
	}
	return s, true
}

// sameSessions compares all that can be read of sessions and reviews with the model.
func sameSessions(t *rapid.T, r *subject, m *model) {
	t.Helper()
	for _, id := range []string{"a", "b", "c"} {
		q := &agent.GetSession{Session: id}
		s, found := m.seen(id, r.answer(q))
		same(t, r, q, s, found)
		review, found := m.sessions.Reviews[id]
		same(t, r, &agent.GetReview{Review: id}, &review, found)
		q2 := &agent.ListReviews{Session: id}
		same(t, r, q2, &agent.ReviewList{Items: m.sessions.List(*q2)}, true)
	}
	for _, status := range []agent.ReviewStatus{agent.ReviewPending, agent.ReviewApproved, agent.ReviewExpired, agent.ReviewWithdrawn} {
		for _, assignee := range []string{"", "anna"} {
			q := &agent.ListReviews{Status: status, Assignee: assignee}
			same(t, r, q, &agent.ReviewList{Items: m.sessions.List(*q)}, true)
		}
	}
	for _, q := range []agent.ListSessions{
		{}, {Recoverable: true}, {Owner: "anna"}, {Agent: "ben"}, {Status: agent.SessionRunning}, {Status: agent.SessionWaiting}, {Status: agent.SessionHibernated},
	} {
		list, _ := r.answer(&q).Found.(*agent.SessionList)
		want := map[string]bool{}
		for _, id := range []string{"a", "b", "c"} {
			s := m.sessions.Shown(sessionHost{model: m}, id)
			want[id] = s != nil && (q.Status == "" || s.Status == q.Status) && (!q.Recoverable || s.Recoverable) &&
				(q.Agent == "" || s.Agent == q.Agent) && (q.Owner == "" || s.Lease != nil && s.Lease.Owner == q.Owner)
		}
		for _, row := range list.Items {
			if !want[row.ID] {
				t.Fatalf("%+v lists %+v", q, row)
			}
			delete(want, row.ID)
		}
		for id, missing := range want {
			if missing {
				t.Fatalf("%+v does not list %q", q, id)
			}
		}
	}
}

// lease draws a lease that is or was current, or values close to it.
func (g *generator) lease(t *rapid.T, session string) (lease, owner string) {
	s := g.model.sessions.Sessions[session]
	if s.Lease != nil && rapid.IntRange(0, 5).Draw(t, "its lease") != 0 {
		return s.Lease.LeaseID, s.Lease.Owner
	}
	return rapid.SampledFrom([]string{"", agent.LeaseID(1), "lease"}).Draw(t, "lease"), holders.Draw(t, "owner")
}

func (g *generator) snapshot(t *rapid.T) agent.SessionSnapshot {
	g.n++
	return agent.SessionSnapshot{
		ID:        keys.Draw(t, "snapshot"),
		Agent:     rapid.SampledFrom([]string{"", "", "", "ben"}).Draw(t, "agent"),
		Cursor:    agent.Cursor{Phase: rapid.SampledFrom([]agent.CursorPhase{agent.PhaseWait, agent.PhaseReview}).Draw(t, "phase")},
		TurnState: agent.JSON(fmt.Sprintf(`{"n":%d}`, g.n)),
	}
}

func (g *generator) reviews(t *rapid.T) (out []agent.ReviewDraft) {
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "reviews") {
		d := agent.ReviewDraft{ID: keys.Draw(t, "review"), Assignee: rapid.SampledFrom([]string{"", "ben"}).Draw(t, "assignee")}
		if rapid.Bool().Draw(t, "expires") {
			d.TTL = time.Minute
		}
		if rapid.Bool().Draw(t, "is escalated") {
			d.EscalateAfter, d.EscalateTo = time.Second, "anna"
		}
		out = append(out, d)
	}
	return out
}

var (
	statuses = rapid.SampledFrom([]agent.SessionStatus{
		agent.SessionHibernated, agent.SessionWaiting, agent.SessionFinished, agent.SessionFailed, agent.SessionCancelled,
	})
	policies = rapid.SampledFrom([]agent.BusyPolicy{agent.BusyReject, agent.BusyEnqueue, agent.BusyInterrupt, agent.BusyRollback})
)

func (g *generator) putSession(t *rapid.T, id string) agent.Op {
	s := g.model.sessions.Sessions[id]
	op := &agent.PutSession{
		Session: id, Agent: "a", Metadata: agent.JSON(fmt.Sprintf(`{"n":%d}`, g.n)), SessionSettings: agent.SessionSettings{QueueMax: 2},
		IfRevision: near(t, s.Revision), IfIncarnation: incarnation(t, s.Incarnation),
	}
	if rapid.Bool().Draw(t, "classic") {
		op.Mode = agent.SessionModeClassic
		if rapid.Bool().Draw(t, "with request") {
			op.Request = &agent.SessionRequest{ID: keys.Draw(t, "request")}
		}
	} else {
		op.Busy = policies.Draw(t, "busy")
	}
	if op.Request == nil && rapid.Bool().Draw(t, "with status") {
		op.Status = statuses.Filter(func(s agent.SessionStatus) bool { return s != agent.SessionWaiting }).Draw(t, "status")
	}
	if revision := near(t, s.Conversation.ContinuationRevision); revision != nil {
		op.Conversation = &agent.Conversation{ContinuationRevision: *revision}
	}
	return op
}

func (g *generator) sessionOp(t *rapid.T, id string) agent.Op {
	g.n++
	s := g.model.sessions.Sessions[id]
	lease, owner := g.lease(t, id)
	ttl := claimTTLs.Draw(t, "ttl")
	switch rapid.IntRange(0, 16).Draw(t, "session op") {
	case 0, 1, 2:
		return g.putSession(t, id)
	case 3, 4, 5:
		op := &agent.ClaimSession{Session: id, Owner: holders.Draw(t, "owner"), TTL: ttl, ConversationRevision: near(t, s.Conversation.ContinuationRevision)}
		if rapid.IntRange(0, 3).Draw(t, "with request") > 0 {
			op.Request = &agent.SessionRequest{ID: keys.Draw(t, "request"), Input: rapid.SampledFrom([]agent.JSON{agent.JSON(`1`), agent.JSON(`1`), agent.JSON(`2`)}).Draw(t, "input")}
		}
		return op
	case 6, 7:
		return &agent.ResumeSession{Session: id, Owner: holders.Draw(t, "owner"), TTL: ttl}
	case 8:
		return &agent.RecoverSession{Session: id, Owner: holders.Draw(t, "owner"), TTL: ttl}
	case 9, 10:
		return &agent.CheckpointSession{Session: id, LeaseID: lease, Owner: owner, TTL: ttl, Snapshot: g.snapshot(t), Reviews: g.reviews(t)}
	case 11, 12:
		op := &agent.CommitSession{Session: id, LeaseID: lease, Owner: owner, Status: statuses.Draw(t, "status"), Result: agent.JSON(`2`), Reviews: g.reviews(t)}
		if rapid.Bool().Draw(t, "with snapshot") {
			op.Snapshots = append(op.Snapshots, g.snapshot(t))
		}
		if revision := near(t, s.Conversation.ContinuationRevision+1); revision != nil {
			op.Conversation = &agent.Conversation{ContinuationRevision: *revision}
		}
		return op
	case 13:
		return &agent.RenewSession{Session: id, LeaseID: lease, Owner: owner}
	case 14:
		return rapid.SampledFrom([]agent.Op{
			&agent.CancelSession{Session: id, Reason: agent.JSON(`3`)},
			&agent.DeleteSession{Session: id, Seal: seals.Draw(t, "seal")},
		}).Draw(t, "end")
	case 15:
		return &agent.ForkSession{
			Session: id, NewSession: keys.Filter(func(k string) bool { return k != id }).Draw(t, "new"),
			Snapshot: rapid.SampledFrom([]string{"", "a"}).Draw(t, "at"),
		}
	default:
		return &agent.DecideReview{
			Review: keys.Draw(t, "review"), Decision: rapid.SampledFrom([]agent.ReviewDecision{agent.DecideApprove, agent.DecideDeny}).Draw(t, "decision"), By: "ben",
		}
	}
}
