// Package instance drives counters in live instances. It checks that each acknowledged
// increment counts once and that each epoch has one owner.
package instance

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// instance counts in live instances. Each increment is a signal; its turn leaves an
// entry in the instance's thread and a mark in its state. A signal goes to any node
// and is repeated under its request id. Instances hibernate when idle or on request,
// and move with their partitions while faults affect their owners.
type instance struct {
	name    string
	about   string
	keys    *workload.Keys
	names   atomic.Int64 // number of increments so far; numbers them
	managed workload.Managed
}

const (
	counterPrefix   = "counter"
	counterWidth    = 8   // at a time, so that each node has some
	counterCallsMax = 600 // so that most counters exist during a fault
	counterManager  = "counters"
)

// New returns workload instance.
func New() workload.Workload {
	return newCounters("instance",
		"counters in live instances, by signals through any node: each acknowledged increment counts once, epochs never run backwards, no stale owner's effect appears",
		agent.Handler{Kind: agent.HandlerDocument})
}

// newCounters returns the workload with a handler that accepts the document handler's
// signals.
func newCounters(name, about string, handler agent.Handler) *instance {
	return &instance{
		name: name, about: about,
		keys:    workload.NewSharedKeys(counterPrefix, counterWidth, counterCallsMax),
		managed: workload.Managed{Manager: agent.Manager{Name: counterManager, Handler: handler, IdleTimeout: workload.CounterIdle, Untracked: true}},
	}
}

func (w *instance) Name() string { return w.name }

func (w *instance) About() string { return w.about }

// The calls besides get, which is a signal that changes nothing. A workload.CallRead
// reads the stored state, not the live instance.
const (
	CallIncrement = "increment"
	callCast      = "cast"
	callLookup    = "lookup"
	callAttach    = "attach"
)

// CounterCall is the input of an increment with a unique name.
type CounterCall struct {
	Name  string `json:"name,omitempty"`
	Again bool   `json:"again,omitempty"` // a repetition under the same request id
}

// CounterSeen is the state of a counter that a call left or found, and its owner.
type CounterSeen struct {
	Node  string        `json:"node,omitempty"`
	Epoch uint64        `json:"epoch,omitempty"`
	Rev   uint64        `json:"rev"`             // of the thread: the number of increments
	First bool          `json:"first,omitempty"` // of an increment: the first attempt was answered, so Epoch is its turn's
	Awake bool          `json:"awake,omitempty"` // of a lookup
	State *CounterState `json:"state,omitempty"` // of a get and of a read
	Names []string      `json:"names,omitempty"` // of a read: all entries
}

// CounterState is a counter's state.
type CounterState struct {
	Count uint64 `json:"count"` // number of increments with a mark
	By    string `json:"by"`    // name of the last increment
}

func (w *instance) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		if !w.managed.Set(ctx, p) {
			continue
		}
		if p.Node == "" {
			w.call(ctx, p, key)
			continue
		}
		soon, cancel := context.WithTimeout(ctx, workload.ReaderMax) // otherwise the call would wait as long as its node is cut off
		w.call(soon, p, key)
		cancel()
	}
}

// call makes one call, and repeats some.
func (w *instance) call(ctx context.Context, p *workload.Process, key string) {
	switch draw := p.Rand.IntN(20); {
	case draw < 8:
		w.increment(ctx, p, key)
	case draw < 10:
		_, _ = w.signal(ctx, p, callCast, key, CounterCall{Name: w.fresh(p)})
	case draw == 17:
		_, _ = act(ctx, p, workload.CallSleep, key, func(ctx context.Context, at agent.Instances, ref agent.InstanceRef) error {
			return at.Hibernate(ctx, ref)
		})
	case draw > 17:
		_, _ = act(ctx, p, callAttach, key, func(ctx context.Context, at agent.Instances, ref agent.InstanceRef) error {
			_, err := at.Attach(ctx, ref, agent.Attach{Attachment: workload.HolderName(p.ID), TTL: agent.AttachmentTTLMin + time.Duration(p.Rand.IntN(8))*time.Second})
			return err
		})
	default:
		w.look(ctx, p, key)
	}
}

// fresh returns a new name for an increment.
func (w *instance) fresh(p *workload.Process) string { return workload.WriteName(p, w.names.Add(1)) }

// look reads a counter by lookup or get.
func (w *instance) look(ctx context.Context, p *workload.Process, key string) {
	if p.Rand.IntN(2) == 0 {
		_, _ = w.lookup(ctx, p, key)
		return
	}
	_, _ = w.signal(ctx, p, workload.CallGet, key, CounterCall{})
}

// AgainTries bounds the repetitions of a call whose outcome is unknown.
const AgainTries = 3

// increment sends an increment and repeats it if its outcome is unknown, and sometimes
// if it is known.
func (w *instance) increment(ctx context.Context, p *workload.Process, key string) {
	in := CounterCall{Name: w.fresh(p)}
	_, err := w.signal(ctx, p, CallIncrement, key, in)
	in.Again = true
	for try := 0; try < AgainTries && (agent.OutcomeOf(err) == agent.Undecided || p.Rand.IntN(10) == 0) && workload.Pace(ctx, p); try++ {
		_, err = w.signal(ctx, p, CallIncrement, key, in)
	}
}

// Final reads every counter, from its instance and from the store.
func (w *instance) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if _, err := w.signal(ctx, p, workload.CallGet, key, CounterCall{}); err != nil {
			return err
		}
		_, err := w.read(ctx, p, key)
		return err
	})
}
