package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

// drainRetryMS is the retry hint for callers of a draining partition.
const drainRetryMS = 50

// ownedPartition returns a partition that this node may answer for. The error
// is not_owner, or unavailable if the node's lease has expired.
func (h *Host) ownedPartition(n int) (agent.Partition, error) {
	p := h.o.Ownership.Partition(n)
	if err := h.checkOwner(p); err != nil {
		return p, err
	}
	if h.leaseLeft() <= 0 {
		return p, errLeaseExpired
	}
	return p, nil
}

// leaseLeft returns the rest of this node's lease.
func (h *Host) leaseLeft() time.Duration {
	if seededbug.Is(seededbug.LapsedLeaseAnswers) {
		return time.Hour
	}
	return time.Until(h.o.Ownership.LeaseUntil())
}

// checkOwner returns not_owner for a partition that this node does not own.
func (h *Host) checkOwner(p agent.Partition) error {
	if h.isOwned(p) {
		return nil
	}
	return notOwner(p, h.o.Node)
}

// isOwned reports whether this node owns a partition.
func (h *Host) isOwned(p agent.Partition) bool {
	return p.Epoch != 0 && p.Owner == h.o.Node && p.Incarnation == h.o.Incarnation
}

var errLeaseExpired = agent.Errorf(agent.CodeUnavailable, "this node's lease has expired: it may no longer own the instance")

func notOwner(p agent.Partition, node string) *agent.Error {
	e := agent.Errorf(agent.CodeNotOwner, "node %s does not own partition %d; %s does, at epoch %d", node, p.ID, ownerName(p), p.Epoch)
	e.Holder, e.Epoch = p.Owner, p.Epoch
	return e
}

func ownerName(p agent.Partition) string {
	if p.Owner == "" {
		return "no node"
	}
	return p.Owner
}

// openPartition is ownedPartition for new work. It refuses a partition that
// drains.
func (h *Host) openPartition(n int) (agent.Partition, error) {
	p, err := h.ownedPartition(n)
	if err == nil && p.State == agent.PartitionDraining {
		e := agent.Errorf(agent.CodeNotOwner, "partition %d is moving from %s to %s: retry shortly", n, p.Owner, ownerName(agent.Partition{Owner: p.To}))
		e.Holder, e.Epoch, e.Reason, e.RetryAfterMS = p.Owner, p.Epoch, "draining", drainRetryMS
		return p, e
	}
	return p, err
}

// checkActive returns an error if an instance may no longer act: its node lost
// the partition or its lease, or the instance was removed.
func (h *Host) checkActive(i *instance) error {
	p, err := h.ownedPartition(i.partition)
	if err == nil && p.Epoch != i.epoch {
		err = notOwner(p, h.o.Node)
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return i.removed
}

// confirmOwnership confirms by a linearizable read that this node owned the
// partition at the instance's epoch when the read began. Otherwise it returns
// not_owner. It returns a staleError if the stored checkpoint or thread differs
// from the instance's.
func (h *Host) confirmOwnership(ctx context.Context, i *instance, service agent.Service) error {
	ms := i.manager
	reads := []agent.Read{&agent.GetManager{Name: ms.name}}
	if service == h.o.Service {
		reads = append(reads, i.versionReads()...)
	}
	answers, err := h.o.Service.Read(ctx, agent.Reads{Scope: ms.scope, Reads: reads})
	if err != nil {
		return unavailable(ctx, err)
	}
	if _, err := h.updateManager(ms, agent.Answers{Index: answers.Index, Answers: answers.Answers[:1]}); err != nil {
		return err
	}
	stamps := answers.Answers[1:]
	if service != h.o.Service {
		elsewhere, err := service.Read(ctx, agent.Reads{Scope: ms.scope, Reads: i.versionReads()})
		if err != nil {
			return unavailable(ctx, err)
		}
		stamps = elsewhere.Answers
	}
	if err := i.checkUnchanged(stamps); err != nil {
		return err
	}
	p := h.o.Ownership.Partition(i.partition)
	if err := h.checkOwner(p); err != nil {
		return err
	}
	if p.Epoch != i.epoch {
		return notOwner(p, h.o.Node)
	}
	return nil
}

// unavailable returns the error of an operation that was not applied. If the
// instance's work was interrupted, it returns the cause of that.
func unavailable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if code := agent.CodeOf(cause); code == agent.CodeUnavailable || code == agent.CodeNotOwner || isErased(cause) {
			return cause
		}
	}
	switch agent.OutcomeOf(err) {
	case agent.Refused:
		return err
	default:
		return agent.Errorf(agent.CodeUnavailable, "%v", err)
	}
}

// workContext returns a context for work on an instance. It ends with the
// lease, with the instance, and after d. The caller must call the cancel
// function.
func (h *Host) workContext(i *instance, d time.Duration) (context.Context, context.CancelFunc, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i.removed != nil {
		return nil, nil, i.removed
	}
	leased, err := h.leaseContext()
	if err != nil {
		return nil, nil, err
	}
	ctx, drop := context.WithCancelCause(leased)
	ctx, cancel := context.WithTimeout(ctx, d)
	i.cancel = drop
	return ctx, func() { cancel(); drop(nil) }, nil
}

// leaseContext returns a context that ends when the lease expires. The caller
// holds mu.
func (h *Host) leaseContext() (context.Context, error) {
	switch {
	case h.runCtx == nil || h.runCtx.Err() != nil:
		return nil, errStopping
	case h.leaseLeft() <= 0:
		return nil, errLeaseExpired
	case h.leaseCtx == nil || h.leaseCtx.Err() != nil:
		h.leaseCtx, h.endLease = context.WithCancelCause(h.runCtx)
		notify(h.leaseRenewed)
	}
	return h.leaseCtx, nil
}

// watchLease interrupts all turns when the lease expires.
func (h *Host) watchLease(ctx context.Context) error {
	for {
		h.mu.Lock()
		left := h.leaseLeft()
		live := h.leaseCtx != nil && h.leaseCtx.Err() == nil
		if live && left <= 0 {
			h.endLease(errLeaseExpired)
			live = false
			h.o.Logger.Warn("the node's lease has expired: its instances are paused until it is renewed")
		}
		h.mu.Unlock()
		if !live {
			select {
			case <-h.leaseRenewed:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if !pause.For(ctx, left) {
			return ctx.Err()
		}
	}
}

// notify sends to a channel of capacity 1 unless it is full.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (i *instance) String() string {
	return fmt.Sprintf("instance %s of manager %s in scope %s", i.key, i.manager.name, i.manager.scope)
}
