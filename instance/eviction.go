package instance

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// idleList is a list of instances that could sleep: awake, without work and
// without an attachment. The least recently used one is the oldest.
type idleList struct{ oldest, newest *instance }

// idleLinks is an instance's place in the list.
type idleLinks struct {
	older, newer *instance
	listed       bool
}

// add puts an instance at the new end.
func (r *idleList) add(i *instance) {
	i.idle = idleLinks{older: r.newest, listed: true}
	if r.newest != nil {
		r.newest.idle.newer = i
	} else {
		r.oldest = i
	}
	r.newest = i
}

// remove takes an instance out, if it is in.
func (r *idleList) remove(i *instance) {
	if !i.idle.listed {
		return
	}
	older, newer := i.idle.older, i.idle.newer
	if older != nil {
		older.idle.newer = newer
	} else {
		r.oldest = newer
	}
	if newer != nil {
		newer.idle.older = older
	} else {
		r.newest = older
	}
	i.idle = idleLinks{}
}

// markIdle puts an instance among those that could sleep, if it is one. What is not
// awake, and is there for its attachments alone, goes with the last of them. mu
// is held.
func (h *Host) markIdle(i *instance) {
	switch {
	case i.removed != nil || i.working || i.idle.listed || len(i.attachments) > 0:
	case i.status == agent.InstanceAwake:
		i.manager.idle.add(i)
	case i.body.extra != nil && i.body.extra.crashes > 0:
		h.remove(i, errHibernated, agent.ReasonCrashed)
	default: // it did not wake
		h.remove(i, errHibernated, agent.ReasonFailed)
	}
}

// awakeRetryMS is when to come back to a node that is full.
const awakeRetryMS = 200

// makeRoom lets the least recently used instance sleep where there is no room
// for another one. Those that are still being saved may exceed the bound, by
// backgroundSavesMax at most. mu is held.
func (h *Host) makeRoom(ms *managerState) error {
	if max := ms.config.AwakeMax; max > 0 && len(ms.instances) >= max && !h.evict(ms) {
		return errTooManyAwake("awake_max", max, "of this manager")
	}
	if h.inMemory >= h.o.AwakeMax && !h.evict(h.leastRecentlyUsed()) {
		return errTooManyAwake("node_awake_max", h.o.AwakeMax, "on this node")
	}
	return nil
}

// leastRecentlyUsed is the family whose least recently used instance is the oldest.
func (h *Host) leastRecentlyUsed() *managerState {
	var found *managerState
	var at time.Duration
	for _, ms := range h.managers {
		if i := ms.idle.oldest; i != nil && (found == nil || i.usedAt < at) {
			found, at = ms, i.usedAt
		}
	}
	return found
}

func (h *Host) evict(ms *managerState) bool {
	if ms == nil || ms.idle.oldest == nil {
		return false
	}
	return h.startHibernation(ms.idle.oldest, lifecycleIdle)
}

func errTooManyAwake(limit string, max int, where string) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "%d instances %s are awake and busy: none can sleep to make room", max, where)
	e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, max), awakeRetryMS
	return e
}
