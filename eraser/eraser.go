// Package eraser ends the live instances of erased agents.
//
// The state machine erases what is stored, and lists erased agents that are instances: such an
// instance may be awake in the memory of its partition's owner. The Eraser runs on every node and
// works on the leader. It makes the owner end each instance, and records that in the log; only then
// is the erasure's receipt complete. The next leader finds the rest in the list.
package eraser

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/internal/leading"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

// Source is this node's state machine.
type Source interface {
	// Endings returns at most limit live instances that their owners must end. It starts at from,
	// which is the next of an earlier call or "" for the beginning. next is "" at the end.
	Endings(from string, limit int) (all []agent.Ending, next string, err error)

	// WatchEndings signals after each entry that added one.
	WatchEndings() (changed <-chan struct{}, cancel func())

	// Owned reports whether the instance's partition has an owner.
	Owned(ref agent.InstanceRef) bool
}

// Log records that an instance has ended.
type Log interface {
	EndInstance(ctx context.Context, e agent.Ending, awake bool) error
}

// Options configure an Eraser. All but Logger are required.
type Options struct {
	Source    Source
	Leader    leading.Leader
	Instances agent.Instances // of all nodes
	Log       Log
	Logger    hclog.Logger // nil is silent
}

// Limits of an Eraser.
const (
	endsMax   = 16 // instances that are being ended at once
	endsPage  = 256
	callLimit = 10 * time.Second // timeout of calls to an owner, and to the log
	retryWait = 500 * time.Millisecond
)

// Eraser ends live instances while its node leads.
type Eraser struct {
	o Options

	mu   sync.Mutex
	busy map[agent.Ending]bool // guarded by mu

	retry chan struct{} // capacity one: an instance that failed must be tried again
}

// New returns an Eraser. It does nothing before Run.
func New(o Options) *Eraser {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return &Eraser{o: o, busy: map[agent.Ending]bool{}, retry: make(chan struct{}, 1)}
}

// Run works while this node leads, until ctx ends and all calls have ended. It returns nil.
func (e *Eraser) Run(ctx context.Context) error {
	leading.Run(ctx, e.o.Leader, e.lead)
	return nil
}

// lead ends the listed instances until ctx ends.
func (e *Eraser) lead(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	news, cancel := e.o.Source.WatchEndings()
	defer cancel()
	slots := make(chan struct{}, endsMax)
	for from := ""; ctx.Err() == nil; {
		all, next, err := e.o.Source.Endings(from, endsPage)
		if err != nil {
			e.o.Logger.Error("cannot read the list of erased instances; retrying", "after", retryWait, "error", err)
			pause.For(ctx, retryWait)
			continue
		}
		for _, one := range all {
			if !e.begin(one) {
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				e.done(one)
				return
			}
			under.Go(func() {
				err := e.end(ctx, one)
				<-slots
				if err != nil {
					e.o.Logger.Debug("an erased instance has not ended yet", "scope", one.Scope, "manager", one.Manager, "key", one.Key, "error", err)
					pause.For(ctx, retryWait)
				}
				e.done(one)
			})
		}
		if from = next; from != "" {
			continue
		}
		select {
		case <-news:
		case <-e.retry:
		case <-ctx.Done():
		}
	}
}

// begin marks an instance as being ended; it returns false if it already is.
func (e *Eraser) begin(one agent.Ending) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy[one] {
		return false
	}
	e.busy[one] = true
	return true
}

// done removes the mark, and triggers another read of the list.
func (e *Eraser) done(one agent.Ending) {
	e.mu.Lock()
	delete(e.busy, one)
	e.mu.Unlock()
	select {
	case e.retry <- struct{}{}:
	default:
	}
}

// end makes the owner end an instance, and records it in the log. An instance that began after the erasure
// goes on, and does not count. If the partition has no owner,
// the instance is not live: a former owner answers no more calls.
func (e *Eraser) end(ctx context.Context, one agent.Ending) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	awake := false
	if e.o.Source.Owned(one.InstanceRef) && !seededbug.Is(seededbug.ErasedLivesOn) {
		err := e.o.Instances.Stop(agent.IfErased(ctx), one.InstanceRef)
		switch agent.CodeOf(err) {
		case agent.CodeNotFound, agent.CodeDeleted:
		default:
			if err != nil {
				return err
			}
			awake = true
		}
	}
	return e.o.Log.EndInstance(ctx, one, awake)
}
