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
	family    *family
	key       string
	partition int
	epoch     uint64

	// Guarded by Host.mu.
	gone        error // it is in no table any more, and why
	working     bool
	stopping    bool // a stop is being worked off: nothing passes it
	leaving     bool // a hibernation that nobody waits for is in the mailbox, or under way
	wanted      bool // …somebody has come since, so it stays awake
	status      agent.InstanceStatus
	source      agent.InstanceSource
	mailbox     []*letter
	attachments []attachment
	usedAt      time.Duration // the host's time of the last signal, start, touch or detach
	place       duePlace
	seen        seen
	rests       rest
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
	rare     *rare
}

// rare is what only some instances have.
type rare struct {
	client  string // of the host's own requests for it, in this awakening
	seq     uint64 // of the last of them
	live    Handler
	dirty   bool          // there is something that is not saved
	pending []agent.Draft // …entries
	bytes   int           // …of them
	recent  []recent      // answers that are not on record, the last ones
	crashes int           // in a row
	resume  time.Duration // the host's time before which it does not start again
	cron    agent.JSON    // the manifest of its recurring jobs; nil where it has none
}

// more is the instance's rare part, made where there is none.
func (i *instance) more() *rare {
	if i.body.rare == nil {
		i.body.rare = &rare{}
	}
	return i.body.rare
}

// dirty tells whether something of the instance is not stored yet.
func (i *instance) dirty() bool {
	return i.body.awake && (i.stored.revision == 0 || i.body.rare != nil && i.body.rare.dirty)
}

func (i *instance) ref() agent.InstanceRef {
	return agent.InstanceRef{Scope: i.family.scope, Manager: i.family.name, Key: i.key}
}

// holding is the instances of one partition.
type holding struct {
	epoch     uint64
	instances map[*instance]struct{}
}

// find is the instance under a key in p, which is made where there is none. mu
// is held.
func (h *Host) find(f *family, key string, p agent.Partition) (*instance, error) {
	i := f.instances[key]
	if i != nil && i.epoch == p.Epoch {
		return i, nil
	}
	if i != nil {
		h.drop(i, notOwner(p, h.o.Node))
	}
	if err := h.makeRoom(f); err != nil {
		return nil, err
	}
	i = &instance{family: f, key: key, partition: p.ID, epoch: p.Epoch, status: agent.InstanceWaking, place: notDue}
	held := h.held[p.ID]
	if held == nil || held.epoch != p.Epoch {
		if held != nil {
			for old := range held.instances {
				h.drop(old, notOwner(p, h.o.Node))
			}
		}
		held = &holding{epoch: p.Epoch, instances: map[*instance]struct{}{}}
		h.held[p.ID] = held
	}
	held.instances[i] = struct{}{}
	f.instances[key] = i
	h.awake++
	h.recount(i, agent.ReasonCalled)
	return i, nil
}

// drop takes an instance out of all tables, ends what it is at, and refuses
// what waits for it. mu is held.
func (h *Host) drop(i *instance, why error) {
	if i.gone != nil {
		return
	}
	h.remove(i, why, gone(why))
	if i.cancel != nil {
		i.cancel(why)
	}
	for _, l := range i.mailbox {
		h.settled(i, l)
		l.answer(answer{err: why})
	}
	i.mailbox = nil
}

// remove takes an instance out of all tables. why is what callers are told,
// reason what those who watch are. mu is held.
func (h *Host) remove(i *instance, why error, reason string) {
	i.gone = why
	h.recount(i, reason)
	i.family.resting.remove(i)
	h.due.remove(i)
	if i.family.instances[i.key] == i {
		delete(i.family.instances, i.key)
	}
	if held := h.held[i.partition]; held != nil {
		delete(held.instances, i)
		if len(held.instances) == 0 && held.epoch == i.epoch {
			delete(h.held, i.partition)
		}
	}
	h.awake--
}

// errAsleep says why an instance that hibernated is gone; nobody is told.
var errAsleep = agent.Errorf(agent.CodeUnavailable, "the instance sleeps")

// view is how an instance is. mu is held.
func (h *Host) view(i *instance) agent.Instance {
	h.lapseNow(i)
	ref := i.ref()
	status := i.status
	if status == agent.InstanceAwake && (i.stopping || i.leaving) {
		status = agent.InstanceDraining
	}
	return agent.Instance{
		InstanceRef: ref, Partition: i.partition, Node: h.o.Node, Epoch: i.epoch, Status: status, Source: i.source,
		Attachments: len(i.attachments), Revision: i.stored.revision, Thread: ref.Checkpoint(), Rev: i.stored.rev,
	}
}
