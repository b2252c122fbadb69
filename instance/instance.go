package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// instance is one key of a manager, in memory. It has a goroutine only while
// its mailbox is not empty.
//
// Most instances are idle, so fields that only few of them need are in
// body.extra.
type instance struct {
	manager   *managerState
	key       string
	partition int
	epoch     uint64

	// Guarded by Host.mu.
	removed     error // why it was removed from all tables; nil while it is in them
	working     bool
	stopping    bool // a stop request is being processed; later calls queue behind it
	hibernating bool // a hibernation without a caller is queued or in progress
	usedSince   bool // used since that began, so it stays awake
	status      agent.InstanceStatus
	source      agent.InstanceSource
	mailbox     []*call
	attachments []attachment
	usedAt      time.Duration // the host's time of the last signal, start, touch or detach
	due         duePosition
	counted     countedStatus
	idle        idleLinks
	cancel      context.CancelCauseFunc // ends the context of the current call

	// Written under Host.mu by the worker, which reads it without.
	stored stored

	body body // accessed by the worker only
}

// stored is the version of an instance in its store.
type stored struct {
	revision          uint64 // of the checkpoint; 0 if it has none
	incarnation       uint64
	rev               uint64 // of the thread
	threadIncarnation uint64 // 0 if it has no thread
	index             uint64 // at which the store had this version
}

// body is the state of an awake instance.
type body struct {
	awake    bool          // the instance is awake, and the other fields are valid
	version  int           // managerState.version when it woke
	service  agent.Service // where it is stored; nil means nowhere
	state    agent.JSON
	stateAt  uint64     // the manager's version that state has
	metadata agent.JSON // of its checkpoint, if any
	initial  agent.JSON // the initial state, if nothing is stored
	extra    *extra
}

// extra has the fields that only some instances need.
type extra struct {
	run      string // the client of the host's own requests in this run
	seq      uint64 // of the last of these requests
	handler  Handler
	dirty    bool          // something is not saved yet
	pending  []agent.Draft // entries that are not saved yet
	bytes    int           // size of pending
	recent   []recentReply // the last replies that are not stored
	crashes  int           // consecutive crashes
	resumeAt time.Duration // the host's time of the next start after a crash
	cron     agent.JSON    // the manifest of its recurring jobs; nil if it has none
}

// ensureExtra returns the instance's extra fields, and allocates them if they
// are nil.
func (i *instance) ensureExtra() *extra {
	if i.body.extra == nil {
		i.body.extra = &extra{}
	}
	return i.body.extra
}

// dirty reports whether the instance has state that is not stored yet.
func (i *instance) dirty() bool {
	return i.body.awake && (i.stored.revision == 0 || i.body.extra != nil && i.body.extra.dirty)
}

func (i *instance) ref() agent.InstanceRef {
	return agent.InstanceRef{Scope: i.manager.scope, Manager: i.manager.name, Key: i.key}
}

// partitionInstances is the instances of one partition.
type partitionInstances struct {
	epoch     uint64
	instances map[*instance]struct{}
}

// getOrCreate returns the instance under a key in partition p, and creates it
// if necessary. The caller holds mu.
func (h *Host) getOrCreate(ms *managerState, key string, p agent.Partition) (*instance, error) {
	i := ms.instances[key]
	if i != nil && i.epoch == p.Epoch {
		return i, nil
	}
	if i != nil {
		h.drop(i, notOwner(p, h.o.Node))
	}
	if err := h.makeRoom(ms); err != nil {
		return nil, err
	}
	i = &instance{manager: ms, key: key, partition: p.ID, epoch: p.Epoch, status: agent.InstanceWaking, due: notDue}
	held := h.partitions[p.ID]
	if held == nil || held.epoch != p.Epoch {
		if held != nil {
			for old := range held.instances {
				h.drop(old, notOwner(p, h.o.Node))
			}
		}
		held = &partitionInstances{epoch: p.Epoch, instances: map[*instance]struct{}{}}
		h.partitions[p.ID] = held
	}
	held.instances[i] = struct{}{}
	ms.instances[key] = i
	h.inMemory++
	h.recount(i, agent.ReasonCalled)
	return i, nil
}

// drop removes an instance from all tables, interrupts its current call, and
// refuses its waiting calls. The caller holds mu.
func (h *Host) drop(i *instance, why error) {
	if i.removed != nil {
		return
	}
	h.remove(i, why, removalReason(why))
	if i.cancel != nil {
		i.cancel(why)
	}
	for _, c := range i.mailbox {
		h.callDone(i, c)
		c.complete(callResult{err: why})
	}
	i.mailbox = nil
}

// remove removes an instance from all tables. why is the error for callers,
// reason is for watchers. The caller holds mu.
func (h *Host) remove(i *instance, why error, reason string) {
	i.removed = why
	h.recount(i, reason)
	i.manager.idle.remove(i)
	h.due.remove(i)
	if i.manager.instances[i.key] == i {
		delete(i.manager.instances, i.key)
	}
	if held := h.partitions[i.partition]; held != nil {
		delete(held.instances, i)
		if len(held.instances) == 0 && held.epoch == i.epoch {
			delete(h.partitions, i.partition)
		}
	}
	h.inMemory--
}

// errHibernated is the removal error of an instance that hibernated. No caller
// sees it.
var errHibernated = agent.Errorf(agent.CodeUnavailable, "the instance hibernated")

// describe returns the instance's current description. The caller holds mu.
func (h *Host) describe(i *instance) agent.Instance {
	h.expireAttachmentsNow(i)
	ref := i.ref()
	status := i.status
	if status == agent.InstanceAwake && (i.stopping || i.hibernating) {
		status = agent.InstanceDraining
	}
	return agent.Instance{
		InstanceRef: ref, Partition: i.partition, Node: h.o.Node, Epoch: i.epoch, Status: status, Source: i.source,
		Attachments: len(i.attachments), Revision: i.stored.revision, Thread: ref.Checkpoint(), Rev: i.stored.rev,
	}
}
