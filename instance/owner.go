package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

// drainRetryMS is the retry hint for callers of a draining partition.
const drainRetryMS = 50

// leases is this node's lease, and the partitions that it owns under it.
type leases struct {
	*shared
	leaseRenewed chan struct{} // capacity 1: leaseCtx is new

	// Guarded by mu.
	runCtx   context.Context //nolint:containedctx // of Host.Run; nil outside of it
	leaseCtx context.Context //nolint:containedctx // ends when the lease expires
	endLease context.CancelCauseFunc
}

// ownedPartition returns a partition that this node may answer for. The error
// is not_owner, or unavailable if the node's lease has expired.
func (ls *leases) ownedPartition(n int) (layout.Partition, error) {
	p := ls.o.Ownership.Partition(n)
	if err := ls.checkOwner(p); err != nil {
		return p, err
	}
	if ls.leaseLeft() <= 0 {
		return p, errLeaseExpired
	}
	return p, nil
}

// leaseLeft returns the rest of this node's lease.
func (ls *leases) leaseLeft() time.Duration {
	if seededbug.Is(seededbug.LapsedLeaseAnswers) {
		return time.Hour
	}
	return time.Until(ls.o.Ownership.LeaseUntil())
}

// checkOwner returns not_owner for a partition that this node does not own.
func (ls *leases) checkOwner(p layout.Partition) error {
	if ls.isOwned(p) {
		return nil
	}
	return notOwner(p, ls.o.Node)
}

// isOwned reports whether this node owns a partition.
func (ls *leases) isOwned(p layout.Partition) bool {
	return p.Epoch != 0 && p.Owner == ls.o.Node && p.Incarnation == ls.o.Incarnation
}

var errLeaseExpired = agent.Errorf(agent.CodeUnavailable, "this node's lease has expired: it may no longer own the instance")

func notOwner(p layout.Partition, node string) *agent.Error {
	e := agent.Errorf(agent.CodeNotOwner, "node %s does not own partition %d; %s does, at epoch %d", node, p.ID, ownerName(p), p.Epoch)
	e.Holder, e.Epoch = p.Owner, p.Epoch
	return e
}

func ownerName(p layout.Partition) string {
	if p.Owner == "" {
		return "no node"
	}
	return p.Owner
}

// openPartition is ownedPartition for new work. It refuses a partition that
// drains.
func (ls *leases) openPartition(n int) (layout.Partition, error) {
	p, err := ls.ownedPartition(n)
	if err == nil && p.State == layout.PartitionDraining {
		e := agent.Errorf(agent.CodeNotOwner, "partition %d is moving from %s to %s: retry shortly", n, p.Owner, ownerName(layout.Partition{Owner: p.To}))
		e.Holder, e.Epoch, e.Reason, e.RetryAfterMS = p.Owner, p.Epoch, "draining", drainRetryMS
		return p, e
	}
	return p, err
}

// checkActive returns an error if an instance may no longer act: its node lost
// the partition or its lease, or the instance was removed.
func (st *store) checkActive(i *instance) error {
	p, err := st.leases.ownedPartition(i.partition)
	if err == nil && p.Epoch != i.epoch {
		err = notOwner(p, st.o.Node)
	}
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return i.removed
}

// confirmOwnership confirms by a linearizable read that this node owned the
// partition at the instance's epoch when the read began. Otherwise it returns
// not_owner. It returns a staleError if the stored checkpoint or thread differs
// from the instance's.
func (st *store) confirmOwnership(ctx context.Context, i *instance, service agent.Service) error {
	ms := i.manager
	reads := []agent.Read{&agent.GetManager{Name: ms.name}}
	if service == st.o.Service {
		reads = append(reads, i.versionReads()...)
	}
	answers, err := st.o.Service.Read(ctx, agent.Reads{Scope: ms.scope, Reads: reads})
	if err != nil {
		return unavailable(ctx, err)
	}
	if _, err := st.table.updateManager(ms, agent.Answers{Index: answers.Index, Answers: answers.Answers[:1]}); err != nil {
		return err
	}
	stamps := answers.Answers[1:]
	if service != st.o.Service {
		elsewhere, err := service.Read(ctx, agent.Reads{Scope: ms.scope, Reads: i.versionReads()})
		if err != nil {
			return unavailable(ctx, err)
		}
		stamps = elsewhere.Answers
	}
	if err := i.checkUnchanged(stamps); err != nil {
		return err
	}
	p := st.o.Ownership.Partition(i.partition)
	if err := st.leases.checkOwner(p); err != nil {
		return err
	}
	if p.Epoch != i.epoch {
		return notOwner(p, st.o.Node)
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
func (st *store) workContext(i *instance, d time.Duration) (context.Context, context.CancelFunc, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if i.removed != nil {
		return nil, nil, i.removed
	}
	leased, err := st.leases.leaseContext()
	if err != nil {
		return nil, nil, err
	}
	ctx, drop := context.WithCancelCause(leased)
	ctx, cancel := context.WithTimeout(ctx, d)
	i.cancel = drop
	return i.traced(ctx), func() { cancel(); drop(nil) }, nil
}

// leaseContext returns a context that ends when the lease expires. The caller
// holds mu.
func (ls *leases) leaseContext() (context.Context, error) {
	switch {
	case ls.runCtx == nil || ls.runCtx.Err() != nil:
		return nil, errStopping
	case ls.leaseLeft() <= 0:
		return nil, errLeaseExpired
	case ls.leaseCtx == nil || ls.leaseCtx.Err() != nil:
		ls.leaseCtx, ls.endLease = context.WithCancelCause(ls.runCtx)
		notify(ls.leaseRenewed)
	}
	return ls.leaseCtx, nil
}

// watchLease interrupts all turns when the lease expires.
func (ls *leases) watchLease(ctx context.Context) error {
	for {
		ls.mu.Lock()
		left := ls.leaseLeft()
		live := ls.leaseCtx != nil && ls.leaseCtx.Err() == nil
		if live && left <= 0 {
			ls.endLease(errLeaseExpired)
			live = false
			ls.o.Logger.Warn("the node's lease has expired: its instances are paused until it is renewed")
		}
		ls.mu.Unlock()
		if !live {
			select {
			case <-ls.leaseRenewed:
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

// ownedPartitions returns the number of partitions that this process owns, and
// the rest of its lease. Both are 0 after the lease has expired.
func (ls *leases) ownedPartitions() (partitions int, lease time.Duration) {
	if lease = time.Until(ls.o.Ownership.LeaseUntil()); lease <= 0 {
		return 0, 0
	}
	for n := range layout.Partitions {
		if p := ls.o.Ownership.Partition(n); p.Owner == ls.o.Node && p.Incarnation == ls.o.Incarnation {
			partitions++
		}
	}
	return partitions, lease
}
