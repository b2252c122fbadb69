package instance

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// resting is a list of instances that could sleep: awake, without work and
// without an attachment. The least recently used one is the oldest.
type resting struct{ oldest, newest *instance }

// rest is an instance's place in the list.
type rest struct {
	older, newer *instance
	in           bool
}

// add puts an instance at the new end.
func (r *resting) add(i *instance) {
	i.rests = rest{older: r.newest, in: true}
	if r.newest != nil {
		r.newest.rests.newer = i
	} else {
		r.oldest = i
	}
	r.newest = i
}

// remove takes an instance out, if it is in.
func (r *resting) remove(i *instance) {
	if !i.rests.in {
		return
	}
	older, newer := i.rests.older, i.rests.newer
	if older != nil {
		older.rests.newer = newer
	} else {
		r.oldest = newer
	}
	if newer != nil {
		newer.rests.older = older
	} else {
		r.newest = older
	}
	i.rests = rest{}
}

// rest puts an instance among those that could sleep, if it is one. What is not
// awake, and is there for its attachments alone, goes with the last of them. mu
// is held.
func (h *Host) rest(i *instance) {
	switch {
	case i.gone != nil || i.working || i.rests.in || len(i.attachments) > 0:
	case i.status == agent.InstanceAwake:
		i.family.resting.add(i)
	case i.body.rare != nil && i.body.rare.crashes > 0:
		h.remove(i, errAsleep, agent.ReasonCrashed)
	default: // it did not wake
		h.remove(i, errAsleep, agent.ReasonFailed)
	}
}

// awakeRetryMS is when to come back to a node that is full.
const awakeRetryMS = 200

// makeRoom lets the least recently used instance sleep where there is no room
// for another one. Those that are still being saved may exceed the bound, by
// savesMax at most. mu is held.
func (h *Host) makeRoom(f *family) error {
	if max := f.manager.AwakeMax; max > 0 && len(f.instances) >= max && !h.evict(f) {
		return full("awake_max", max, "of this manager")
	}
	if h.awake >= h.o.AwakeMax && !h.evict(h.idlest()) {
		return full("node_awake_max", h.o.AwakeMax, "on this node")
	}
	return nil
}

// idlest is the family whose least recently used instance is the oldest.
func (h *Host) idlest() *family {
	var found *family
	var at time.Duration
	for _, f := range h.families {
		if i := f.resting.oldest; i != nil && (found == nil || i.usedAt < at) {
			found, at = f, i.usedAt
		}
	}
	return found
}

func (h *Host) evict(f *family) bool {
	if f == nil || f.resting.oldest == nil {
		return false
	}
	return h.letSleep(f.resting.oldest, lifecycleIdle)
}

func full(limit string, max int, where string) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "%d instances %s are awake and busy: none can sleep to make room", max, where)
	e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, max), awakeRetryMS
	return e
}
