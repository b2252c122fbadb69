package instance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"dormouse/agent"
)

// Limits of a host's watches.
const (
	watchersMax      = 1024 // concurrent watches; another one is refused with overloaded
	watcherEventsMax = 1024 // events that wait for one watcher; later ones are dropped
)

// watcher is one watch of instances. Guarded by shared.mu.
type watcher struct {
	key    string // "" for all of the manager's instances
	events []agent.InstanceEvent
	missed bool          // later events were dropped
	err    error         // why the host ended the watch; nil while it runs
	wake   chan struct{} // capacity 1: something has changed
}

// Watch implements agent.Instances for this node alone. If the consumer is
// slow, up to watcherEventsMax events wait and later ones are replaced by one
// Missed event.
func (h *Host) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		self := &watcher{key: w.Key, wake: make(chan struct{}, 1)}
		err := w.Validate()
		if err == nil {
			err = h.table.addWatcher(managerID{w.Scope, w.Manager}, self)
		}
		if err != nil {
			yield(agent.InstanceEvent{}, err)
			return
		}
		defer h.table.removeWatcher(managerID{w.Scope, w.Manager}, self)
		if !yield(h.missed("the watch begins"), nil) {
			return
		}
		for {
			select {
			case <-self.wake:
			case <-ctx.Done():
				return
			}
			h.mu.Lock()
			events, missed, ended := self.events, self.missed, self.err
			self.events, self.missed = nil, false
			h.mu.Unlock()
			if missed {
				events = append(events, h.missed(fmt.Sprintf("more than %d events waited for the watcher", watcherEventsMax)))
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if ended != nil {
				yield(agent.InstanceEvent{}, ended)
				return
			}
		}
	}
}

func (h *Host) missed(why string) agent.InstanceEvent {
	return agent.InstanceEvent{Missed: true, Node: h.o.Node, Reason: why}
}

// addWatcher adds a watcher.
func (tb *table) addWatcher(id managerID, w *watcher) error {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.leases.runCtx == nil || tb.leases.runCtx.Err() != nil {
		return errStopping
	}
	if tb.watcherCount >= watchersMax {
		e := agent.Errorf(agent.CodeOverloaded, "this node has %d watches of instances, which is the maximum", watchersMax)
		e.Limit = fmt.Sprintf("instance_watchers_max=%d", watchersMax)
		return e
	}
	tb.watcherCount++
	tb.watchers[id] = append(tb.watchers[id], w)
	return nil
}

// removeWatcher removes a watcher.
func (tb *table) removeWatcher(id managerID, w *watcher) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.watcherCount--
	tb.watchers[id] = slices.DeleteFunc(tb.watchers[id], func(other *watcher) bool { return other == w })
	if len(tb.watchers[id]) == 0 {
		delete(tb.watchers, id)
	}
}

// notifyWatchers sends an instance's new status and its reason to the
// instance's watchers. The caller holds mu.
func (tb *table) notifyWatchers(i *instance, now agent.InstanceStatus, why string) {
	for _, w := range tb.watchers[managerID{i.manager.scope, i.manager.name}] {
		switch {
		case w.key != "" && w.key != i.key:
			continue
		case len(w.events) >= watcherEventsMax:
			w.missed = true
		case !w.missed: // otherwise this event would precede the Missed event
			w.events = append(w.events, agent.InstanceEvent{
				InstanceRef: i.ref(), Node: tb.o.Node, Epoch: i.epoch, Status: now, Reason: why, At: time.Now().UnixMilli(),
			})
		}
		notify(w.wake)
	}
}

// endWatches ends all watches with errStopping. The caller holds mu.
func (tb *table) endWatches() {
	for _, all := range tb.watchers {
		for _, w := range all {
			w.err = errStopping
			notify(w.wake)
		}
	}
}

// public returns the status that callers see.
func (s status) public() agent.InstanceStatus {
	switch s {
	case statusWaking:
		return agent.InstanceWaking
	case statusAwake:
		return agent.InstanceAwake
	case statusDraining:
		return agent.InstanceDraining
	case statusNone, statusDormant:
		return agent.InstanceDormant
	default:
		return ""
	}
}

// removalReason returns the watch reason of a removal.
func removalReason(why error) string {
	switch {
	case errors.Is(why, errStopping):
		return agent.ReasonShutdown
	case isCode(why, agent.CodeNotOwner):
		return agent.ReasonMoved
	case isErased(why):
		return agent.ReasonErased
	default:
		return agent.ReasonFailed
	}
}

// statusReason returns the watch reason for the status of an instance while it
// handles the call. If the call is no stop, an earlier hibernation has failed.
func (c *call) statusReason() string {
	if c.stop {
		return string(c.hibernate)
	}
	return agent.ReasonFailed
}

// awakeReason returns the watch reason of an instance that stays awake after a
// background hibernation. The caller holds mu.
func awakeReason(i *instance) string {
	if i.usedSince || len(i.mailbox) > 0 || len(i.attachments) > 0 {
		return agent.ReasonWanted
	}
	return agent.ReasonFailed
}

// thawReason returns the watch reason of a thaw.
func thawReason(i *instance) string {
	if i.status == agent.InstanceAwake {
		return agent.ReasonChanged
	}
	return agent.ReasonCalled
}
