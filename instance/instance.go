package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// instance is one key of a manager, in memory. It has a goroutine only while
// its mailbox has something in it: working.
//
// Those awake at rest are many: what only few of them need is in body.rare.
type instance struct {
	manager   *managerState
	key       string
	partition int
	epoch     uint64

	// Guarded by Host.mu.
	removed     error // it is in no table any more, and why
	working     bool
	stopping    bool // a stop is being worked off: nothing passes it
	hibernating bool // a hibernation that nobody waits for is in the mailbox, or under way
	usedSince   bool // …somebody has come since, so it stays awake
	status      agent.InstanceStatus
	source      agent.InstanceSource
	mailbox     []*call
	attachments []attachment
	usedAt      time.Duration // the host's time of the last signal, start, touch or detach
	due         duePosition
	counted     countedStatus
	idle        idleLinks
	cancel      context.CancelCauseFunc // ends what is being worked at

	// Written under Host.mu by who works, who reads it without.
	stored stored

	body body // who works, alone
}

// stored is what the store has of an instance.
type stored struct {
	revision          uint64 // of its checkpoint; 0 where there is none
	incarnation       uint64
	rev               uint64 // of its thread
	threadIncarnation uint64 // 0 where there is no thread
	index             uint64 // at which all of this was so
}

// body is what an awake instance is.
type body struct {
	awake    bool          // what follows is what the store has, and what is not saved yet
	version  int           // the family's, as it was thawed under
	service  agent.Service // where it is stored, as of then; nil means nowhere
	state    agent.JSON
	stateAt  uint64     // the manager's version that state is of
	metadata agent.JSON // its checkpoint's, if it has any
	initial  agent.JSON // where nothing is stored: what it starts from again
	extra    *extra
}

// extra is what only some instances have.
type extra struct {
	run      string // of the host's own requests for it, in this awakening
	seq      uint64 // of the last of them
	handler  Handler
	dirty    bool          // there is something that is not saved
	pending  []agent.Draft // …entries
	bytes    int           // …of them
	recent   []recentReply // answers that are not on record, the last ones
	crashes  int           // in a row
	resumeAt time.Duration // the host's time before which it does not start again
	cron     agent.JSON    // the manifest of its recurring jobs; nil where it has none
}

// ensureExtra is the instance's rare part, made where there is none.
func (i *instance) ensureExtra() *extra {
	if i.body.extra == nil {
		i.body.extra = &extra{}
	}
	return i.body.extra
}

// dirty tells whether something of the instance is not stored yet.
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

// getOrCreate is the instance under a key in p, which is made where there is none. mu
// is held.
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

// drop takes an instance out of all tables, ends what it is at, and refuses
// what waits for it. mu is held.
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

// remove takes an instance out of all tables. why is what callers are told,
// reason what those who watch are. mu is held.
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

// errHibernated says why an instance that hibernated is gone; nobody is told.
var errHibernated = agent.Errorf(agent.CodeUnavailable, "the instance sleeps")

// describe is how an instance is. mu is held.
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
