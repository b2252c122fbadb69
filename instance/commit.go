package instance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/retry"
	"dormouse/internal/seededbug"
)

// Waits between attempts to commit.
const (
	commitBackoffMin = 20 * time.Millisecond
	commitBackoffMax = time.Second
)

// ownRequestTTL is the lifetime of the host's own request ids. It exceeds the
// time of all attempts at one commit.
const ownRequestTTL = time.Hour

// store reads and writes instances in the service that stores them.
type store struct {
	*shared
	leases        *leases
	table         *table
	requestPrefix string        // of the host's own request clients; unique
	runs          atomic.Uint64 // number of runs so far
}

// newRequestID returns a new request id of the host's own. Its Low allows the
// store to forget the earlier ones, whose outcomes are known.
func (st *store) newRequestID(i *instance) agent.Request {
	client := st.runOf(i)
	r := i.ensureExtra()
	r.seq++
	return agent.Request{Client: client, Seq: r.seq, Low: r.seq, TTL: ownRequestTTL}
}

// runOf returns the id of an instance's current run. It is the client of the
// host's own requests for the instance.
func (st *store) runOf(i *instance) string {
	r := i.ensureExtra()
	if r.run == "" {
		r.run = fmt.Sprintf("%s/%d", st.requestPrefix, st.runs.Add(1))
	}
	return r.run
}

// commitFenced commits under the instance's fence. It retries a commit whose
// outcome is unknown until the outcome is known, even after the node has lost
// the partition: the fence decides. It returns the code unknown only if the
// host stops first, or with a fullError.
//
// If the fence refuses the commit, commitFenced drops the instance and returns
// not_owner.
func (st *store) commitFenced(i *instance, service agent.Service, c agent.Commit) (agent.Result, error) {
	if err := st.checkActive(i); err != nil {
		return agent.Result{}, err
	}
	c.Scope = i.manager.scope
	if service == st.o.Service {
		c.Fence = &agent.Fence{
			Claim: layout.PartitionClaim(i.partition), Epoch: i.epoch, Agent: i.ref().Checkpoint(), Since: i.stored.since,
		}
	}
	st.mu.Lock()
	runCtx := st.leases.runCtx
	st.mu.Unlock()
	undecided, full := false, time.Time{}
	for attempts := retry.New(commitBackoffMin, commitBackoffMax); ; {
		ctx, cancel := context.WithTimeout(i.traced(runCtx), opTimeout)
		result, err := service.Commit(ctx, c)
		cancel()
		if err == nil {
			return result, nil
		}
		var e *agent.Error
		if errors.As(err, &e) && e.Code == agent.CodeFenced && e.Op < 0 { // not an op on a claim
			return agent.Result{}, st.dropFenced(i, err)
		}
		if isErased(err) {
			st.mu.Lock()
			st.table.drop(i, err)
			st.mu.Unlock()
			return agent.Result{}, err
		}
		if e != nil && e.Final {
			return agent.Result{}, err
		}
		undecided = undecided || agent.OutcomeOf(err) == agent.Undecided
		if !undecided {
			return agent.Result{}, err
		}
		if !isCode(err, agent.CodeQuotaExceeded) {
			full = time.Time{}
		} else if now := time.Now(); full.IsZero() {
			full = now
		} else if now.Sub(full) >= opTimeout {
			return agent.Result{}, &fullError{err}
		}
		if !attempts.Wait(runCtx) {
			return agent.Result{}, agent.Errorf(agent.CodeUnknown, "the outcome was still unknown when the node stopped: %v", err)
		}
	}
}

// fullError reports that a quota has refused a commit for opTimeout, and that an
// earlier attempt, whose outcome is unknown, may still apply. It has the code
// unknown. The ops name the stored revision, so commits that follow are refused
// if that attempt applies before them.
type fullError struct{ refusal error }

func (e *fullError) Error() string { return e.Unwrap().Error() }

func (e *fullError) Unwrap() error {
	return agent.Errorf(agent.CodeUnknown, "the outcome of an attempt is unknown, and later ones were refused: %v", e.refusal)
}

// dropFenced drops an instance after the store refused its fence, and returns
// not_owner. The node may own the partition again by now, but the instance's
// memory may be outdated.
func (st *store) dropFenced(i *instance, err error) error {
	p := st.o.Ownership.Partition(i.partition)
	why := notOwner(p, st.o.Node)
	if st.leases.isOwned(p) {
		why.Detail = fmt.Sprintf("node %s no longer owned partition %d when it committed the turn: %v", st.o.Node, p.ID, err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.table.drop(i, why)
	return why
}

// retryRequestsMax is how many request ids one refused signal may use: its own
// and those derived from it.
const retryRequestsMax = 32

// findReply returns the recorded reply to a signal that was handled before.
// Otherwise it returns the request id for the turn's commit. That is the
// signal's own id, or an id derived from it if earlier attempts were refused,
// because the store keeps refusals.
//
// It reads at the index at which the instance was last read or written. Earlier
// replies in this instance were applied by then.
func (st *store) findReply(i *instance, s agent.Signal) (request agent.Request, known *agent.Reply, err error) {
	if s.Request.Client == "" {
		return agent.Request{}, nil, nil
	}
	if seededbug.Is(seededbug.SignalHandledTwice) {
		return st.newRequestID(i), nil, nil
	}
	if known, err = i.recentReply(s); known != nil || err != nil {
		return agent.Request{}, known, err
	}
	service := i.body.service
	if service == nil {
		return s.Request, nil, nil
	}
	err = st.withTimeout(i, func(ctx context.Context) error {
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
				known, err = st.recordedReply(i, s, decided.Result)
				return err
			}
		}
		return nil
	})
	return request, known, err
}

// retryRequest returns the request id for a signal that was refused level times. What its client
// has settled is settled at each level: without Low, the window of a level would never move on.
func retryRequest(r agent.Request, level int) agent.Request {
	if level > 0 {
		r.Client = fmt.Sprintf("again-%d-%x", level, sha256.Sum256([]byte(r.Client)))
	}
	return r
}

// recordedReply returns the reply that the store recorded for a signal.
func (st *store) recordedReply(i *instance, s agent.Signal, result agent.Result) (*agent.Reply, error) {
	mismatch := agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was another signal: use a new request id", s.Request.Seq, s.Request.Client)
	if len(result.Results) == 0 {
		return nil, mismatch
	}
	kept, ok := result.Results[len(result.Results)-1].(*agent.SignalResult)
	if !ok || kept.Hash != s.Hash(i.ref()) {
		return nil, mismatch
	}
	reply := &agent.Reply{Node: st.o.Node, Epoch: i.epoch, Rev: i.stored.rev, Revision: i.stored.revision, Durable: true, Data: kept.Reply}
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
