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

// Bounds of the watches of a host.
const (
	watchersMax      = 1024 // at once; one more is overloaded
	watcherEventsMax = 1024 // changes that wait for one of them; past it some are missed
)

// watcher is somebody who is told of changes. Host.mu guards it.
type watcher struct {
	key    string // "" for all of the manager's
	events []agent.InstanceEvent
	missed bool          // …and more after these, which are not kept
	err    error         // the host tells nothing more, and why
	wake   chan struct{} // of one: there is something to look at
}

// Watch implements agent.Instances, of this node alone. What a slow consumer has
// not taken is kept up to a bound, and then left out.
func (h *Host) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		me := &watcher{key: w.Key, wake: make(chan struct{}, 1)}
		err := w.Validate()
		if err == nil {
			err = h.addWatcher(managerID{w.Scope, w.Manager}, me)
		}
		if err != nil {
			yield(agent.InstanceEvent{}, err)
			return
		}
		defer h.removeWatcher(managerID{w.Scope, w.Manager}, me)
		if !yield(h.missed("the watch begins"), nil) {
			return
		}
		for {
			select {
			case <-me.wake:
			case <-ctx.Done():
				return
			}
			h.mu.Lock()
			came, missed, ended := me.events, me.missed, me.err
			me.events, me.missed = nil, false
			h.mu.Unlock()
			if missed {
				came = append(came, h.missed(fmt.Sprintf("more than %d changes came before they were taken", watcherEventsMax)))
			}
			for _, e := range came {
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
func (h *Host) addWatcher(id managerID, w *watcher) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runCtx == nil || h.runCtx.Err() != nil {
		return errStopping
	}
	if h.watcherCount >= watchersMax {
		e := agent.Errorf(agent.CodeOverloaded, "instances are watched %d times on this node already", watchersMax)
		e.Limit = fmt.Sprintf("instance_watchers_max=%d", watchersMax)
		return e
	}
	h.watcherCount++
	h.watchers[id] = append(h.watchers[id], w)
	return nil
}

// removeWatcher takes a watcher out.
func (h *Host) removeWatcher(id managerID, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watcherCount--
	h.watchers[id] = slices.DeleteFunc(h.watchers[id], func(other *watcher) bool { return other == w })
	if len(h.watchers[id]) == 0 {
		delete(h.watchers, id)
	}
}

// notifyWatchers tells whoever watches an instance how it is now, and why. mu is held.
func (h *Host) notifyWatchers(i *instance, now agent.InstanceStatus, why string) {
	for _, w := range h.watchers[managerID{i.manager.scope, i.manager.name}] {
		switch {
		case w.key != "" && w.key != i.key:
			continue
		case len(w.events) >= watcherEventsMax:
			w.missed = true
		case !w.missed: // else what comes would stand before what was missed
			w.events = append(w.events, agent.InstanceEvent{
				InstanceRef: i.ref(), Node: h.o.Node, Epoch: i.epoch, Status: now, Reason: why, At: time.Now().UnixMilli(),
			})
		}
		notify(w.wake)
	}
}

// endWatches tells those who watch that this host tells nothing more. mu is
// held.
func (h *Host) endWatches() {
	for _, all := range h.watchers {
		for _, w := range all {
			w.err = errStopping
			notify(w.wake)
		}
	}
}

// public is the status that callers see.
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

// removalReason is the reason of a drop.
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

// statusReason is the reason of the status that an instance has while it is at a letter:
// where that is no stop, one that was before it has failed.
func (c *call) statusReason() string {
	if c.stop {
		return string(c.hibernate)
	}
	return agent.ReasonFailed
}

// awakeReason is why an instance that was to hibernate is awake. mu is held.
func awakeReason(i *instance) string {
	if i.usedSince || len(i.mailbox) > 0 || len(i.attachments) > 0 {
		return agent.ReasonWanted
	}
	return agent.ReasonFailed
}

// thawReason is why an instance is thawed.
func thawReason(i *instance) string {
	if i.status == agent.InstanceAwake {
		return agent.ReasonChanged
	}
	return agent.ReasonCalled
}
