package turn

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dormouse/agent"
)

// Ear hears, for all Runners that are given it, which leases of a scope's
// sessions have gone to another or ended. Without it, a turn that was
// interrupted, or whose session was cancelled, hears of that with its next
// renewal; with it, at once. It is a hint: what the store says to the renewal
// that it brings about is what counts, and what it misses the next one tells.
//
// It is one watch of the scope's feed, however many turns run, and none while
// none has run for a while. It works while Run does; its methods may be called
// concurrently.
type Ear struct {
	service agent.Service
	scope   string

	mu    sync.Mutex
	turns map[string]map[chan news]bool // :: claim → where its turns listen; guarded by mu
	hush  context.CancelFunc            // ends the watch; nil while there is none; guarded by mu
	idle  *time.Timer                   // calls hush once it has been quiet for earLinger; guarded by mu
	woken chan struct{}                 // told that somebody listens
}

// news is under which epoch a claim is held, as of an index; 0 where it is not.
type news struct{ index, epoch uint64 }

const (
	earLinger = 10 * time.Second // a watch outlives its last turn by this: there may soon be another
	earRetry  = time.Second      // after a watch that failed
)

// NewEar makes an Ear for the runners of a scope; "" means agent.DefaultScope.
func NewEar(service agent.Service, scope string) *Ear {
	return &Ear{service: service, scope: scope, turns: map[string]map[chan news]bool{}, woken: make(chan struct{}, 1)}
}

// Run hears until ctx ends.
func (e *Ear) Run(ctx context.Context) {
	for {
		select {
		case <-e.woken:
		case <-ctx.Done():
			return
		}
		for e.hear(ctx) {
			select {
			case <-time.After(earRetry):
			case <-ctx.Done():
				return
			}
		}
	}
}

// hear watches until nobody has listened for a while, or the watch ends before
// that: then it tells so.
func (e *Ear) hear(ctx context.Context) (again bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.mu.Lock()
	if len(e.turns) == 0 {
		e.mu.Unlock()
		return false
	}
	e.hush = cancel
	e.mu.Unlock()
	begun := false
	for event, err := range e.service.Watch(ctx, agent.Watch{Scope: e.scope, Changes: true, Prefix: string(agent.ChangedClaim) + "/" + agent.SessionClaim("")}) {
		if err != nil || event.Last() {
			break
		}
		if !begun {
			if begun = true; e.catchUp(ctx) != nil {
				break
			}
		}
		for i := range event.Changes {
			c := &event.Changes[i]
			e.tell(strings.TrimPrefix(c.Path(), string(agent.ChangedClaim)+"/"), news{c.Index, c.Revision})
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hush = nil
	return len(e.turns) > 0
}

// catchUp tells how the leases of those stand who listened before the watch had
// begun: what became of them until then, it does not tell.
func (e *Ear) catchUp(ctx context.Context) error {
	e.mu.Lock()
	claims := slices.Sorted(maps.Keys(e.turns))
	e.mu.Unlock()
	for some := range slices.Chunk(claims, agent.ReadsMax) {
		reads := make([]agent.Read, len(some))
		for i, claim := range some {
			reads[i] = &agent.GetClaim{Claim: claim}
		}
		answers, err := e.service.Read(ctx, agent.Reads{Scope: e.scope, Reads: reads})
		if err != nil {
			return err
		}
		for i, a := range answers.Answers {
			if held, ok := a.Found.(*agent.Claim); ok && a.Err == nil {
				e.tell(some[i], news{answers.Index, held.Epoch})
			} else if agent.CodeOf(a.Err) == agent.CodeNotFound {
				e.tell(some[i], news{answers.Index, 0})
			}
		}
	}
	return nil
}

// tell passes on how a claim is held.
func (e *Ear) tell(claim string, how news) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for heard := range e.turns[claim] {
		select {
		case <-heard: // of before
		default:
		}
		heard <- how
	}
}

// listen begins to hear of a session's lease; leave ends it. A nil Ear hears
// nothing.
func (e *Ear) listen(session string) (heard chan news, leave func()) {
	heard = make(chan news, 1) // the newest; written with mu held
	if e == nil {
		return heard, func() {}
	}
	claim := agent.SessionClaim(session)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turns[claim] == nil {
		e.turns[claim] = map[chan news]bool{}
	}
	e.turns[claim][heard] = true
	if e.idle != nil {
		e.idle.Stop()
	}
	select {
	case e.woken <- struct{}{}:
	default:
	}
	return heard, func() { e.leave(claim, heard) }
}

func (e *Ear) leave(claim string, heard chan news) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.turns[claim][heard] {
		return // it left before: turns do so early, and again to be sure
	}
	if delete(e.turns[claim], heard); len(e.turns[claim]) == 0 {
		delete(e.turns, claim)
	}
	if len(e.turns) == 0 {
		e.idle = time.AfterFunc(earLinger, e.quiet)
	}
}

// quiet ends the watch where still nobody listens.
func (e *Ear) quiet() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.turns) == 0 && e.hush != nil {
		e.hush()
	}
}
