// Package instance drives counters in live instances, and checks that each
// acknowledged increment counts once and that each epoch has one owner.
package instance

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// instance counts in live instances. Each increment is a signal; its turn leaves
// an entry in the instance's thread and a mark in its state. A signal is
// sent to any node, and again under its request id. Instances idle out, are told
// to sleep, and move with their partitions, while their owners are harmed.
type instance struct {
	name    string
	about   string
	keys    *workload.Keys
	names   atomic.Int64 // increments so far; numbers them
	managed workload.Managed
}

const (
	counterPrefix   = "counter"
	counterWidth    = 8   // at a time: each node has some
	counterCallsMax = 600 // so that most live through a fault
	counterManager  = "counters"
)

// New returns workload instance.
func New() workload.Workload {
	return newCounters("instance",
		"counters in live instances, by signals through any node: each acknowledged increment counts once, epochs never run backwards, no stale owner's effect appears",
		agent.Handler{Kind: agent.HandlerDocument})
}

// newCounters makes the workload with a handler that takes the document
// handler's signals.
func newCounters(name, about string, handler agent.Handler) *instance {
	return &instance{
		name: name, about: about,
		keys:    workload.NewSharedKeys(counterPrefix, counterWidth, counterCallsMax),
		managed: workload.Managed{Manager: agent.Manager{Name: counterManager, Handler: handler, IdleTimeout: workload.CounterIdle, Untracked: true}},
	}
}

func (w *instance) Name() string { return w.name }

func (w *instance) About() string { return w.about }

// The calls, beside get, which is a signal that changes nothing. A workload.CallRead reads
// what is stored, not the live instance.
const (
	CallIncrement = "increment"
	callCast      = "cast"
	callLookup    = "lookup"
	callAttach    = "attach"
)

// CounterCall is an increment by its name, which no other has.
type CounterCall struct {
	Name  string `json:"name,omitempty"`
	Again bool   `json:"again,omitempty"` // it was sent before, under the same request id
}

// CounterSeen is how a call left or found a counter, and under which owner.
type CounterSeen struct {
	Node  string        `json:"node,omitempty"`
	Epoch uint64        `json:"epoch,omitempty"`
	Rev   uint64        `json:"rev"`             // of the thread: how many increments there are
	First bool          `json:"first,omitempty"` // of an increment: the only attempt at it was answered, so Epoch is its turn's
	Awake bool          `json:"awake,omitempty"` // of a lookup
	State *CounterState `json:"state,omitempty"` // of a get and of a read
	Names []string      `json:"names,omitempty"` // of a read: all entries
}

// CounterState is what a counter's state says of it.
type CounterState struct {
	Count uint64 `json:"count"` // increments that have left a mark
	By    string `json:"by"`    // who made the last
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
		soon, cancel := context.WithTimeout(ctx, workload.ReaderMax) // or it would wait out what its node is cut off from
		w.call(soon, p, key)
		cancel()
	}
}

// call makes one call, or tries one for a while.
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

// fresh names an increment.
func (w *instance) fresh(p *workload.Process) string { return workload.WriteName(p, w.names.Add(1)) }

// look asks how a counter is.
func (w *instance) look(ctx context.Context, p *workload.Process, key string) {
	if p.Rand.IntN(2) == 0 {
		_, _ = w.lookup(ctx, p, key)
		return
	}
	_, _ = w.signal(ctx, p, workload.CallGet, key, CounterCall{})
}

// AgainTries is how often a call whose outcome is unknown is sent again.
const AgainTries = 3

// increment sends an increment, and sends it again: always if its outcome is
// unknown, and now and then if it is known.
func (w *instance) increment(ctx context.Context, p *workload.Process, key string) {
	in := CounterCall{Name: w.fresh(p)}
	_, err := w.signal(ctx, p, CallIncrement, key, in)
	in.Again = true
	for try := 0; try < AgainTries && (agent.OutcomeOf(err) == agent.Undecided || p.Rand.IntN(10) == 0) && workload.Pace(ctx, p); try++ {
		_, err = w.signal(ctx, p, CallIncrement, key, in)
	}
}

// Final reads every counter, as its instance has it and as it is stored.
func (w *instance) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if _, err := w.signal(ctx, p, workload.CallGet, key, CounterCall{}); err != nil {
			return err
		}
		_, err := w.read(ctx, p, key)
		return err
	})
}
