package instance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

// Waits between attempts to settle a commit.
const (
	commitBackoffMin = 20 * time.Millisecond
	commitBackoffMax = time.Second
)

// ownRequestTTL is how long the host's own requests stand: longer than any attempt to
// settle one of them.
const ownRequestTTL = time.Hour

// newRequestID is a request id of the host's own. One that was settled before it need
// not be remembered.
func (h *Host) newRequestID(i *instance) agent.Request {
	client := h.runOf(i)
	r := i.ensureExtra()
	r.seq++
	return agent.Request{Client: client, Seq: r.seq, Low: r.seq, TTL: ownRequestTTL}
}

// runOf names an instance's awakening; the host's own requests go by it.
func (h *Host) runOf(i *instance) string {
	r := i.ensureExtra()
	if r.run == "" {
		r.run = fmt.Sprintf("%s/%d", h.requestPrefix, h.runs.Add(1))
	}
	return r.run
}

// commitFenced commits under the instance's fence. A commit whose outcome is unknown
// is sent again until it is settled: that the owning has ended does not matter,
// since the fence then decides. Only the host's own end leaves it unknown.
//
// An instance whose fence is refused is dropped, and the error is not_owner.
func (h *Host) commitFenced(i *instance, service agent.Service, c agent.Commit) (agent.Result, error) {
	if err := h.checkActive(i); err != nil {
		return agent.Result{}, err
	}
	c.Scope = i.manager.scope
	if service == h.o.Service {
		c.Fence = &agent.Fence{
			Claim: agent.PartitionClaim(i.partition), Epoch: i.epoch, Agent: i.ref().Checkpoint(), Since: i.stored.index,
		}
	}
	h.mu.Lock()
	life := h.runCtx
	h.mu.Unlock()
	undecided := false
	for wait := commitBackoffMin; ; wait = min(2*wait, commitBackoffMax) {
		ctx, cancel := context.WithTimeout(life, opTimeout)
		result, err := service.Commit(ctx, c)
		cancel()
		if err == nil {
			return result, nil
		}
		if isCode(err, agent.CodeFenced) {
			return agent.Result{}, h.dropFenced(i, err)
		}
		if isErased(err) {
			h.mu.Lock()
			h.drop(i, err)
			h.mu.Unlock()
			return agent.Result{}, err
		}
		var e *agent.Error
		if errors.As(err, &e) && e.Final {
			return agent.Result{}, err
		}
		undecided = undecided || agent.OutcomeOf(err) == agent.Undecided
		if !undecided {
			return agent.Result{}, err
		}
		if !pause.For(life, wait) {
			return agent.Result{}, agent.Errorf(agent.CodeUnknown, "not settled before the node stopped: %v", err)
		}
	}
}

// dropFenced drops an instance whose partition has gone to another, as the store
// says, and tells the caller so. A lease that lapsed in between may come back,
// but what the instance held may not be so any more.
func (h *Host) dropFenced(i *instance, err error) error {
	p := h.o.Ownership.Partition(i.partition)
	why := notOwner(p, h.o.Node)
	if h.isOwned(p) {
		why.Detail = fmt.Sprintf("node %s owned partition %d no more when the turn came to be stored: %v", h.o.Node, p.ID, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(i, why)
	return why
}

// retryRequestsMax is how often one signal may be tried under one request id.
const retryRequestsMax = 32

// findReply tells what was answered to a signal already, or else the request that
// its turn is to be committed under: the signal's own, or, since a refusal is
// kept for good, one that is derived from it for each time it was refused.
//
// It reads what this node has applied: whatever was answered in this instance
// before was applied by the index that it was thawed or last written at.
func (h *Host) findReply(i *instance, s agent.Signal) (request agent.Request, known *agent.Reply, err error) {
	if s.Request.Client == "" {
		return agent.Request{}, nil, nil
	}
	if seededbug.Is(seededbug.SignalHandledTwice) {
		return h.newRequestID(i), nil, nil
	}
	if known, err = i.recentReply(s); known != nil || err != nil {
		return agent.Request{}, known, err
	}
	service := i.body.service
	if service == nil {
		return s.Request, nil, nil
	}
	err = h.withTimeout(i, func(ctx context.Context) error {
		for level := range retryRequestsMax {
			request = retryRequest(s.Request, level)
			answers, err := service.Read(ctx, agent.Reads{
				Scope: i.manager.scope, Stale: true, MinIndex: i.stored.index,
				Reads: []agent.Read{&agent.GetAnswer{Client: request.Client, Seq: request.Seq}},
			})
			if err != nil {
				return unavailable(ctx, err)
			}
			if len(answers.Answers) != 1 {
				return agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
			}
			decided, ok := answers.Answers[0].Found.(*agent.Decided)
			switch e := answers.Answers[0].Err; {
			case !ok && e != nil && e.Code == agent.CodeNotFound:
				return nil
			case !ok && e != nil:
				return e
			case !ok:
				return agent.Errorf(agent.CodeInternal, "the answer is a %T", answers.Answers[0].Found)
			case decided.Err != nil:
				if level == retryRequestsMax-1 {
					return decided.Err
				}
			default:
				known, err = h.recordedReply(i, s, decided.Result)
				return err
			}
		}
		return nil
	})
	return request, known, err
}

// retryRequest is the request under which a signal is tried after it was refused so
// many times.
func retryRequest(r agent.Request, level int) agent.Request {
	if level > 0 {
		r.Client, r.Low = fmt.Sprintf("again-%d-%x", level, sha256.Sum256([]byte(r.Client))), 0
	}
	return r
}

// recordedReply is the reply that a signal got before.
func (h *Host) recordedReply(i *instance, s agent.Signal, result agent.Result) (*agent.Reply, error) {
	mismatch := agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was for something else", s.Request.Seq, s.Request.Client)
	if len(result.Results) == 0 {
		return nil, mismatch
	}
	kept, ok := result.Results[len(result.Results)-1].(*agent.SignalResult)
	if !ok || kept.Hash != s.Hash(i.ref()) {
		return nil, mismatch
	}
	reply := &agent.Reply{Node: h.o.Node, Epoch: i.epoch, Rev: i.stored.rev, Revision: i.stored.revision, Durable: true, Data: kept.Reply}
	id := i.ref().Checkpoint()
	for _, r := range result.Results {
		if r, ok := r.(*agent.CheckpointResult); ok && r.Key == id {
			reply.Revision = r.Revision
			if r.Thread != nil {
				reply.Rev = r.Thread.Rev
			}
		}
	}
	return reply, nil
}
