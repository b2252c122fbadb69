package session

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// lease requests a lease and reports whether it was given. It returns the lease's
// epoch and request. If the session does not exist, lease starts one.
func (w *session) lease(ctx context.Context, p *workload.Process, call, key string, in sessionCall) (sessionCall, bool) {
	out, err := w.write(ctx, p, call, key, in, agent.Commit{Ops: []agent.Op{in.leaseOp(call, key)}})
	if agent.CodeOf(err) == agent.CodeNotFound && call == workload.CallClaim {
		_, _ = w.write(ctx, p, callStart, key, sessionCall{}, agent.Commit{Ops: []agent.Op{
			&agent.PutSession{Session: key, Agent: key, SessionSettings: agent.SessionSettings{Thread: key, Busy: policyOf(key)}},
		}})
	}
	if err != nil || !out.gives(in) {
		return in, false
	}
	in.Epoch, in.Request = out.Epoch, out.Request
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases[key] = append(w.leases[key], in)
	return in, true
}

// gives reports whether an answer gives a lease: a claim may have to wait.
func (s sessionSeen) gives(in sessionCall) bool { return s.Epoch > 0 && s.Owner == in.Owner }

func (c sessionCall) leaseOp(call, key string) agent.Op {
	switch call {
	case callRecover:
		return &agent.RecoverSession{Session: key, Owner: c.Owner, TTL: c.TTL}
	case callResume:
		return &agent.ResumeSession{Session: key, Owner: c.Owner, TTL: c.TTL}
	default:
		claim := &agent.ClaimSession{Session: key, Owner: c.Owner, TTL: c.TTL}
		if c.Request != "" {
			claim.Request = &agent.SessionRequest{ID: c.Request}
		}
		return claim
	}
}

func (w *session) renew(ctx context.Context, p *workload.Process, key string, lease sessionCall) (sessionSeen, error) {
	in := sessionCall{Owner: lease.Owner, Epoch: lease.Epoch}
	return w.write(ctx, p, callRenew, key, in, agent.Commit{Ops: []agent.Op{
		&agent.RenewSession{Session: key, LeaseID: agent.LeaseID(in.Epoch), Owner: in.Owner},
	}})
}

// effect appends an entry to the thread, sometimes with a snapshot.
func (w *session) effect(ctx context.Context, p *workload.Process, key string, in sessionCall) (sessionSeen, error) {
	c := agent.Commit{Fence: in.fence(key), Ops: []agent.Op{in.entry(key)}}
	if in.Save {
		c.Ops = append(c.Ops, &agent.CheckpointSession{
			Session: key, LeaseID: agent.LeaseID(in.Epoch), Owner: in.Owner, Snapshot: in.snapshot(),
		})
	}
	return w.write(ctx, p, callEffect, key, in, c)
}

// commit ends the turn, with an entry.
func (w *session) commit(ctx context.Context, p *workload.Process, key string, in sessionCall) (sessionSeen, error) {
	end := &agent.CommitSession{
		Session: key, LeaseID: agent.LeaseID(in.Epoch), Owner: in.Owner, RequestID: in.Request, Status: in.Status,
	}
	if in.Save {
		end.Snapshots = []agent.SessionSnapshot{in.snapshot()}
	}
	if in.Turn > 0 {
		end.Conversation = &agent.Conversation{
			AgentState: workload.MarkOf(in.Name), ContinuationRevision: in.Turn, TurnCount: in.Turn, LastCompletedRequestID: in.Request,
		}
	}
	c := agent.Commit{Fence: in.fence(key), Ops: []agent.Op{in.entry(key), end}}
	if in.Bare {
		c.Fence = nil
	}
	return w.write(ctx, p, workload.CallCommit, key, in, c)
}

func (c sessionCall) fence(key string) *agent.Fence {
	return &agent.Fence{Claim: agent.SessionClaim(key), Epoch: c.Epoch}
}

func (c sessionCall) entry(key string) agent.Op {
	return &agent.AppendThread{Thread: key, Entries: []agent.Draft{{Payload: workload.MarkOf(c.Name)}}}
}

// snapshot returns the lease's snapshot; the next snapshot replaces it.
func (c sessionCall) snapshot() agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: agent.LeaseID(c.Epoch), Cursor: agent.Cursor{Phase: agent.PhaseWait}, TurnState: workload.MarkOf(c.Name),
	}
}

// write makes a commit and returns the state in which it left the session and the
// thread.
func (*session) write(ctx context.Context, p *workload.Process, call, key string, in sessionCall, c agent.Commit) (sessionSeen, error) {
	c.Scope = p.Scope
	return workload.Call(ctx, p, call, key, true, in, func(ctx context.Context) (sessionSeen, error) {
		result, err := p.Client.Commit(ctx, c)
		if err != nil {
			return sessionSeen{}, err
		}
		if len(result.Results) != len(c.Ops) {
			return sessionSeen{}, agent.Errorf(agent.CodeInternal, "%d ops have %d results", len(c.Ops), len(result.Results))
		}
		out := sessionSeen{Index: result.Index}
		for _, r := range result.Results {
			switch r := r.(type) {
			case *agent.ThreadResult:
				out.Rev = r.Thread.Rev
			case *agent.SessionResult:
				out.row(r.Session)
				out.Queued = r.Queued
			default:
				return sessionSeen{}, agent.Errorf(agent.CodeInternal, "the result is a %T", r)
			}
		}
		return out, nil
	})
}

func (s *sessionSeen) row(row agent.SessionRow) {
	s.Revision, s.Status, s.Request = row.Revision, row.Status, row.RequestID
	if row.Lease != nil {
		s.Epoch, s.Owner = row.Lease.Epoch, row.Lease.Owner
	}
}

// read reads the session and, at the same index, the last tail entries of its thread,
// or all if tail is 0.
func (*session) read(ctx context.Context, p *workload.Process, call, key string, tail uint64) (sessionSeen, error) {
	return workload.Call(ctx, p, call, key, false, tail, func(ctx context.Context) (sessionSeen, error) {
		index, answers, err := workload.FindAll(ctx, p,
			&agent.GetSession{Session: key}, &agent.LoadEntries{Thread: key, Tail: tail, Limit: agent.EntriesLimitMax})
		if err != nil {
			return sessionSeen{}, err
		}
		out := sessionSeen{Index: index}
		for _, found := range answers {
			switch found := found.(type) {
			case *agent.Session:
				out.whole(found)
			case *agent.Entries:
				out.Rev = found.Thread.Rev
				for _, e := range found.Items {
					out.Entries = append(out.Entries, workload.NameIn(e.Payload))
				}
			}
		}
		return out, nil
	})
}

func (s *sessionSeen) whole(found *agent.Session) {
	s.row(found.SessionRow)
	if s.Turns = found.Conversation.TurnCount; s.Turns > 0 {
		s.By = workload.NameIn(found.Conversation.AgentState)
	}
	if n := len(found.Snapshots); n > 0 {
		s.Snapshot = workload.NameIn(found.Snapshots[n-1].TurnState)
	}
	for _, r := range found.Requests {
		s.Requests = append(s.Requests, sessionRequest{ID: r.ID, Outcome: r.Outcome})
	}
	for _, r := range found.Queue {
		s.Waiting = append(s.Waiting, r.ID)
	}
}
