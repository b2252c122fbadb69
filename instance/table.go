package instance

import (
	"time"

	"dormouse/agent"
)

// table is the instances in memory, by manager and by partition, with their
// counters, their watchers and the times of their next expiry.
type table struct {
	*shared
	leases     *leases
	startedAt  time.Time
	earlierDue chan struct{} // capacity 1: the first of due is new

	// Guarded by mu.
	managers        map[managerID]*managerState
	partitions      map[int]*partitionInstances // :: partition, if it has instances
	watchers        map[managerID][]*watcher
	watcherCount    int // number of all watchers
	due             dueQueue
	counters        counters       // of all managers, including removed ones
	sweepAt         int            // number of managers at which idle ones are removed
	inMemory        int            // number of instances
	inScope         map[string]int // :: scope → number of its instances
	backgroundSaves int            // hibernations in progress without a caller
}

func newTable(sh *shared, ls *leases) *table {
	return &table{
		shared: sh, leases: ls, startedAt: time.Now(), earlierDue: make(chan struct{}, 1),
		managers: map[managerID]*managerState{}, partitions: map[int]*partitionInstances{}, watchers: map[managerID][]*watcher{},
		inScope: map[string]int{},
	}
}

// now returns the host's monotonic time.
func (tb *table) now() time.Duration { return time.Since(tb.startedAt) }

// partitionInstances is the instances of one partition.
type partitionInstances struct {
	epoch     uint64
	instances map[*instance]struct{}
}

// drop removes an instance from all tables, interrupts its current call, and
// refuses its waiting calls. The caller holds mu.
func (tb *table) drop(i *instance, why error) {
	if i.removed != nil {
		return
	}
	tb.remove(i, why, removalReason(why))
	if i.cancel != nil {
		i.cancel(why)
	}
	for _, c := range i.mailbox {
		tb.callDone(i, c)
		c.complete(callResult{err: why})
	}
	i.mailbox = nil
}

// remove removes an instance from all tables. why is the error for callers,
// reason is for watchers. The caller holds mu.
func (tb *table) remove(i *instance, why error, reason string) {
	i.removed = why
	tb.recount(i, reason)
	i.manager.idle.remove(i)
	tb.due.remove(i)
	if i.manager.instances[i.key] == i {
		delete(i.manager.instances, i.key)
	}
	if held := tb.partitions[i.partition]; held != nil {
		delete(held.instances, i)
		if len(held.instances) == 0 && held.epoch == i.epoch {
			delete(tb.partitions, i.partition)
		}
	}
	tb.inMemory--
	if tb.inScope[i.manager.scope]--; tb.inScope[i.manager.scope] == 0 {
		delete(tb.inScope, i.manager.scope)
	}
}

// errHibernated is the removal error of an instance that hibernated. No caller
// sees it.
var errHibernated = agent.Errorf(agent.CodeUnavailable, "the instance hibernated")

// describe returns the instance's current description. The caller holds mu.
func (tb *table) describe(i *instance) agent.Instance {
	tb.expireAttachmentsNow(i)
	ref := i.ref()
	status := i.status
	if status == agent.InstanceAwake && (i.stopping || i.hibernating) {
		status = agent.InstanceDraining
	}
	idleAt := int64(0)
	if left := i.idleLeft(tb.now()); left > 0 {
		idleAt = time.Now().Add(left).UnixMilli()
	}
	return agent.Instance{
		InstanceRef: ref, Partition: i.partition, Node: tb.o.Node, Epoch: i.epoch, Status: status, Source: i.source,
		Attachments: len(i.attachments), Mailbox: len(i.mailbox), IdleAt: idleAt, Revision: i.stored.revision, Thread: ref.Checkpoint(), Rev: i.stored.rev,
	}
}

// lockInstance returns the instance in memory, or nil, and holds mu until the
// caller calls unlock.
func (tb *table) lockInstance(ref agent.InstanceRef) (i *instance, unlock func(), err error) {
	tb.mu.Lock()
	unlock = tb.mu.Unlock
	p, err := tb.leases.ownedPartition(partitionOf(ref))
	if err == nil && tb.leases.runCtx == nil {
		err = errStopping
	}
	if err != nil {
		return nil, unlock, err
	}
	if ms := tb.managers[managerID{ref.Scope, ref.Manager}]; ms != nil {
		if i = ms.instances[ref.Key]; i != nil && i.epoch != p.Epoch {
			i = nil
		}
	}
	return i, unlock, nil
}
