package workload

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/agent"
)

// instance counts in live instances: each increment is a signal, whose turn
// leaves an entry in the instance's thread and a mark in its state. A signal is
// sent to any node, and again under its request id. Instances idle out, are told
// to sleep, and move with their partitions, while their owners are harmed.
type instance struct {
	name    string
	about   string
	keys    *Keys
	names   atomic.Int64 // increments so far; numbers them
	managed Managed
}

const (
	counterPrefix   = "counter"
	counterWidth    = 8   // at a time: each node has some
	counterCallsMax = 600 // so that most live through a fault
	counterManager  = "counters"
)

func newInstance() Workload {
	return newCounters("instance",
		"counters in live instances, by signals through any node: each acknowledged increment counts once, epochs never run backwards, no stale owner's effect appears",
		agent.Handler{Kind: agent.HandlerDocument})
}

// newCounters makes the workload with a handler that takes the document
// handler's signals.
func newCounters(name, about string, handler agent.Handler) *instance {
	return &instance{
		name: name, about: about,
		keys:    NewSharedKeys(counterPrefix, counterWidth, counterCallsMax),
		managed: Managed{Manager: agent.Manager{Name: counterManager, Handler: handler, IdleTimeout: CounterIdle, Untracked: true}},
	}
}

func (w *instance) Name() string { return w.name }

func (w *instance) About() string { return w.about }

// The calls, beside get, which is a signal that changes nothing. A CallRead reads
// what is stored, not the live instance.
const (
	callIncrement = "increment"
	callCast      = "cast"
	callLookup    = "lookup"
	callAttach    = "attach"
)

// counterCall is an increment by its name, which no other has.
type counterCall struct {
	Name  string `json:"name,omitempty"`
	Again bool   `json:"again,omitempty"` // it was sent before, under the same request id
}

// counterSeen is how a call left or found a counter, and under which owner.
type counterSeen struct {
	Node  string        `json:"node,omitempty"`
	Epoch uint64        `json:"epoch,omitempty"`
	Rev   uint64        `json:"rev"`             // of the thread: how many increments there are
	First bool          `json:"first,omitempty"` // of an increment: the only attempt at it was answered, so Epoch is its turn's
	Awake bool          `json:"awake,omitempty"` // of a lookup
	State *counterState `json:"state,omitempty"` // of a get and of a read
	Names []string      `json:"names,omitempty"` // of a read: all entries
}

// counterState is what a counter's state says of it.
type counterState struct {
	Count uint64 `json:"count"` // increments that have left a mark
	By    string `json:"by"`    // who made the last
}

func (w *instance) Run(ctx context.Context, p *Process) {
	for Pace(ctx, p) {
		key := w.keys.Pick(p)
		if !w.managed.Set(ctx, p) {
			continue
		}
		if p.Node == "" {
			w.call(ctx, p, key)
			continue
		}
		soon, cancel := context.WithTimeout(ctx, ReaderMax) // or it would wait out what its node is cut off from
		w.call(soon, p, key)
		cancel()
	}
}

// call makes one call, or tries one for a while.
func (w *instance) call(ctx context.Context, p *Process, key string) {
	switch draw := p.Rand.IntN(20); {
	case draw < 8:
		w.increment(ctx, p, key)
	case draw < 10:
		_, _ = w.signal(ctx, p, callCast, key, counterCall{Name: w.fresh(p)})
	case draw == 17:
		_, _ = act(ctx, p, CallSleep, key, func(ctx context.Context, at agent.Instances, ref agent.InstanceRef) error {
			return at.Hibernate(ctx, ref)
		})
	case draw > 17:
		_, _ = act(ctx, p, callAttach, key, func(ctx context.Context, at agent.Instances, ref agent.InstanceRef) error {
			_, err := at.Attach(ctx, ref, agent.Attach{Attachment: HolderName(p.ID), TTL: agent.AttachmentTTLMin + time.Duration(p.Rand.IntN(8))*time.Second})
			return err
		})
	default:
		w.look(ctx, p, key)
	}
}

// fresh names an increment.
func (w *instance) fresh(p *Process) string { return WriteName(p, w.names.Add(1)) }

// look asks how a counter is.
func (w *instance) look(ctx context.Context, p *Process, key string) {
	if p.Rand.IntN(2) == 0 {
		_, _ = w.lookup(ctx, p, key)
		return
	}
	_, _ = w.signal(ctx, p, CallGet, key, counterCall{})
}

const againTries = 3

// increment sends an increment, and sends it again: always where nobody knows
// what came of it, and now and then where it is known.
func (w *instance) increment(ctx context.Context, p *Process, key string) {
	in := counterCall{Name: w.fresh(p)}
	_, err := w.signal(ctx, p, callIncrement, key, in)
	in.Again = true
	for try := 0; try < againTries && (agent.OutcomeOf(err) == agent.Undecided || p.Rand.IntN(10) == 0) && Pace(ctx, p); try++ {
		_, err = w.signal(ctx, p, callIncrement, key, in)
	}
}

// Final reads every counter, as its instance has it and as it is stored.
func (w *instance) Final(ctx context.Context, p *Process) error {
	return FinalReads(ctx, w.keys.All(), func(key string) error {
		if _, err := w.signal(ctx, p, CallGet, key, counterCall{}); err != nil {
			return err
		}
		_, err := w.read(ctx, p, key)
		return err
	})
}
