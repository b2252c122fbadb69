package instance

import (
	"fmt"
	"math"
	"time"

	"dormouse/agent"
)

// idleList is a linked list of the instances that can hibernate: awake, without
// a call and without an attachment. It is in order of use; oldest is the least
// recently used one.
type idleList struct{ oldest, newest *instance }

// idleLinks is an instance's place in the list.
type idleLinks struct {
	older, newer *instance
	listed       bool
}

// add appends an instance as the newest.
func (r *idleList) add(i *instance) {
	i.idle = idleLinks{older: r.newest, listed: true}
	if r.newest != nil {
		r.newest.idle.newer = i
	} else {
		r.oldest = i
	}
	r.newest = i
}

// remove removes an instance, if it is listed.
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

// markIdle adds an instance to the idle list if it can hibernate. An instance
// that is not awake is removed once it has no attachment. The caller holds mu.
func (tb *table) markIdle(i *instance) {
	switch {
	case i.removed != nil || i.working || i.idle.listed || len(i.attachments) > 0:
	case i.status == agent.InstanceAwake:
		i.manager.idle.add(i)
	case i.body.extra != nil && i.body.extra.crashes > 0:
		tb.remove(i, errHibernated, agent.ReasonCrashed)
	default: // it failed to wake
		tb.remove(i, errHibernated, agent.ReasonFailed)
	}
}

// awakeRetryMS is the retry hint for callers of a host that is full.
const awakeRetryMS = 200

// makeRoom hibernates the least recently used instance if there is no room for
// another one. Instances that are being saved may exceed the maximum by
// backgroundSavesMax. The caller holds mu.
func (mb *mailbox) makeRoom(ms *managerState) error {
	if max := ms.config.AwakeMax; max > 0 && len(ms.instances) >= max && !mb.evict(ms) {
		return errTooManyAwake("awake_max", max, "of this manager")
	}
	if max := mb.scopeMax(ms.scope); max > 0 && uint64(mb.table.inScope[ms.scope]) >= max && !mb.evict(mb.leastRecentlyUsed(ms.scope)) {
		return errTooManyAwake("scope_awake_max", int(max), "of this scope")
	}
	if mb.table.inMemory >= mb.o.AwakeMax && !mb.evict(mb.leastRecentlyUsed("")) {
		return errTooManyAwake("node_awake_max", mb.o.AwakeMax, "on this node")
	}
	return nil
}

// scopeMax returns how many instances of a scope may be awake; 0 means no limit.
func (mb *mailbox) scopeMax(scope string) uint64 {
	if mb.o.ScopeAwakeMax == nil {
		return 0
	}
	return min(mb.o.ScopeAwakeMax(scope), math.MaxInt32)
}

// leastRecentlyUsed returns the manager of the least recently used idle
// instance of a scope, or nil; "" means all scopes.
func (mb *mailbox) leastRecentlyUsed(scope string) *managerState {
	var found *managerState
	var at time.Duration
	for _, ms := range mb.table.managers {
		if scope != "" && ms.scope != scope {
			continue
		}
		if i := ms.idle.oldest; i != nil && (found == nil || i.usedAt < at) {
			found, at = ms, i.usedAt
		}
	}
	return found
}

func (mb *mailbox) evict(ms *managerState) bool {
	if ms == nil || ms.idle.oldest == nil {
		return false
	}
	return mb.startHibernation(ms.idle.oldest, lifecycleIdle)
}

func errTooManyAwake(limit string, max int, where string) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "%d instances %s are awake and busy: none can hibernate to make room", max, where)
	e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, max), awakeRetryMS
	return e
}
