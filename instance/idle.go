package instance

import (
	"container/heap"
	"context"
	"time"
)

// dueQueue orders instances by when something may be due of them: their idle
// timeout, or an attachment's end. One timer serves all. An instance that was
// used meanwhile stays where it is, and is put back once its time comes.
type dueQueue struct{ items []*instance }

// duePlace is an instance's place in the queue.
type duePlace struct {
	at    time.Duration
	index int // -1 where it is not in it
}

var notDue = duePlace{index: -1}

// Len implements heap.Interface.
func (q *dueQueue) Len() int { return len(q.items) }

// Less implements heap.Interface.
func (q *dueQueue) Less(a, b int) bool { return q.items[a].place.at < q.items[b].place.at }

// Swap implements heap.Interface.
func (q *dueQueue) Swap(a, b int) {
	q.items[a], q.items[b] = q.items[b], q.items[a]
	q.items[a].place.index, q.items[b].place.index = a, b
}

// Push implements heap.Interface.
func (q *dueQueue) Push(x any) {
	i := x.(*instance) // only set pushes
	i.place.index = len(q.items)
	q.items = append(q.items, i)
}

// Pop implements heap.Interface.
func (q *dueQueue) Pop() any {
	last := len(q.items) - 1
	i := q.items[last]
	q.items[last] = nil
	q.items = q.items[:last]
	i.place = notDue
	return i
}

// set puts an instance where it is due at a time, and tells whether it is first.
func (q *dueQueue) set(i *instance, at time.Duration) bool {
	if i.place.index < 0 {
		i.place.at = at
		heap.Push(q, i)
	} else {
		i.place.at = at
		heap.Fix(q, i.place.index)
	}
	return i.place.index == 0
}

func (q *dueQueue) remove(i *instance) {
	if i.place.index >= 0 {
		heap.Remove(q, i.place.index)
	}
}

// dueAt is when something may be due of an instance; 0 means never.
func (i *instance) dueAt() time.Duration {
	at := time.Duration(0)
	for _, a := range i.attachments {
		if at == 0 || a.until < at {
			at = a.until
		}
	}
	if idle := i.family.manager.IdleTimeout; at == 0 && idle > 0 {
		at = i.usedAt + idle
	}
	return at
}

// arm sees to it that an instance is looked at when something is due of it. mu
// is held.
func (h *Host) arm(i *instance) {
	at := i.dueAt()
	if at == 0 || i.gone != nil || i.place.index >= 0 && i.place.at <= at {
		return
	}
	if h.due.set(i, at) {
		poke(h.sooner)
	}
}

// use notes that somebody needs the instance. mu is held.
func (h *Host) use(i *instance) {
	i.usedAt, i.wanted = h.now(), true
	h.arm(i)
}

// watchDue looks at instances as they fall due.
func (h *Host) watchDue(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := h.expire()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-h.sooner:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// savesMax bounds the hibernations that the host begins by itself at once, and
// saveRetry is when it comes back to those that had to wait.
const (
	savesMax  = 256
	saveRetry = 50 * time.Millisecond
)

// expire ends what is due, and returns how long nothing more is.
func (h *Host) expire() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for h.due.Len() > 0 {
		i := h.due.items[0]
		if i.place.at > now {
			return i.place.at - now
		}
		i.lapse(now)
		h.recount(i, "")
		switch at := i.dueAt(); {
		case at == 0:
			h.due.remove(i)
			h.rest(i)
		case at > now:
			h.due.set(i, at)
			h.rest(i)
		case i.working: // it is looked at again when it rests
			h.due.remove(i)
		case !h.letSleep(i, lifecycleIdle):
			h.due.set(i, now+saveRetry)
		}
	}
	return time.Hour
}

// letSleep begins to hibernate an instance that rests, unless too many are at
// it. What is all stored sleeps at once. mu is held.
func (h *Host) letSleep(i *instance, why lifecycle) bool {
	if !i.dirty() || i.body.service == nil {
		h.count(i.family, func(t *tally) { t.hibernated++ })
		h.remove(i, errAsleep, string(why))
		return true
	}
	if h.saving >= savesMax {
		return false
	}
	h.saving++
	l := newLetter()
	l.sleep, l.unasked = why, true
	i.leaving, i.wanted = true, false
	h.recount(i, string(why))
	h.due.remove(i)
	h.put(i, l)
	return true
}
