// Package eraser ends the live instances of agents that were erased.
//
// The state machine erases what is stored, and keeps a list of erased agents that
// are instances: one may be awake in the memory of its partition's owner. The
// Eraser runs on every node and works on the one that leads. It has the owner end
// each of them, and notes in the log that it has; only then is the receipt of the
// erasure complete. Whoever leads next finds in the list what is left.
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
	// Endings lists live instances that are to be ended, from a place on that an
	// earlier call gave; "" is the beginning, and the end.
	Endings(from string, limit int) (all []agent.Ending, next string, err error)

	// WatchEndings signals after each entry that added one.
	WatchEndings() (changed <-chan struct{}, cancel func())

	// Owned reports whether the instance's partition has an owner.
	Owned(ref agent.InstanceRef) bool
}

// Log is where the Eraser notes that an instance has ended.
type Log interface {
	EndInstance(ctx context.Context, e agent.Ending, awake bool) error
}

// Options make an Eraser. All but Logger must be there.
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
	callLimit = 10 * time.Second // what an owner, and the log, are given
	retryWait = 500 * time.Millisecond
)

// Eraser ends live instances while its node leads.
type Eraser struct {
	o Options

	mu   sync.Mutex
	busy map[agent.Ending]bool // guarded by mu

	retry chan struct{} // of one: something that failed is to be tried again
}

// New makes an Eraser. It does nothing before Run.
func New(o Options) *Eraser {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return &Eraser{o: o, busy: map[agent.Ending]bool{}, retry: make(chan struct{}, 1)}
}

// Run works whenever this node leads, until ctx ends and what is under way has
// ended. It returns nil.
func (e *Eraser) Run(ctx context.Context) error {
	leading.Run(ctx, e.o.Leader, e.lead)
	return nil
}

// lead ends what is to be ended until ctx ends.
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

// begin takes an instance to work on, unless somebody does.
func (e *Eraser) begin(one agent.Ending) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy[one] {
		return false
	}
	e.busy[one] = true
	return true
}

// done gives it back, and has the list looked at again.
func (e *Eraser) done(one agent.Ending) {
	e.mu.Lock()
	delete(e.busy, one)
	e.mu.Unlock()
	select {
	case e.retry <- struct{}{}:
	default:
	}
}

// end has the owner end an instance, and notes it in the log. A partition that
// nobody owns has none: who owned it answers no more.
func (e *Eraser) end(ctx context.Context, one agent.Ending) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	awake := false
	if e.o.Source.Owned(one.InstanceRef) && !seededbug.Is(seededbug.ErasedLivesOn) {
		err := e.o.Instances.Stop(ctx, one.InstanceRef)
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
