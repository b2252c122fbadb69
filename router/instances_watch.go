package router

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"dormouse/agent"
	"dormouse/placement"
)

// Watch implements agent.Instances: it follows every member, since any of them
// may come to own an instance. What one of them tells comes in its order. A
// member that does not tell is named, and asked again; once it does, its changes
// are whole from there on.
func (r *Instances) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.InstanceEvent{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		f := &fan{
			router: r, watch: w, ctx: ctx, followed: map[string]context.CancelFunc{}, newest: map[int]owning{}, full: make(chan error, 1),
			came: make(chan agent.InstanceEvent), begun: make(chan struct{}),
		}
		defer f.work.Wait()
		defer cancel()
		changed := r.table.PartitionsChanged() // taken before the look
		f.follow(r.table.Members())
		f.begin()
		select {
		case err := <-f.full:
			yield(agent.InstanceEvent{}, err)
			return
		default:
		}
		if ctx.Err() != nil || !yield(agent.InstanceEvent{Missed: true, Reason: "the watch begins"}, nil) {
			return
		}
		for {
			select {
			case <-changed: // who joins owns nothing before that
				changed = r.table.PartitionsChanged()
				for _, id := range f.follow(r.table.Members()) {
					if !yield(agent.InstanceEvent{Missed: true, Node: id, Reason: id + " is no member any more"}, nil) {
						return
					}
				}
			case e := <-f.came:
				if f.overtaken(&e) && !f.misses(&e) {
					continue
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// fan is a watch of all members.
type fan struct {
	router *Instances
	watch  agent.InstanceWatch
	ctx    context.Context //nolint:containedctx // the watch's, which its followers end with

	followed map[string]context.CancelFunc // :: member
	newest   map[int]owning                // :: partition → the newest that was told of
	came     chan agent.InstanceEvent
	full     chan error     // of one: a member has no room for the watch, which has not begun
	begun    chan struct{}  // closed when begin is over: nobody is told of anything before
	first    sync.WaitGroup // followers that have not been answered, before begun is closed
	work     sync.WaitGroup // followers
}

// owning is one of a partition. overtaken says that changes of the one before it
// came after some of its own.
type owning struct {
	epoch     uint64
	overtaken bool
}

// begin waits, for a moment, until all members tell of changes from now on. Those
// that do not are named later.
func (f *fan) begin() {
	all := make(chan struct{})
	f.work.Go(func() { f.first.Wait(); close(all) })
	late := time.NewTimer(statsTimeout)
	defer late.Stop()
	select {
	case <-all:
	case <-late.C:
	case <-f.ctx.Done():
	}
	close(f.begun)
}

// follow begins to follow those who have become members, and ends it of those
// who are none any more, which it returns.
func (f *fan) follow(members []agent.Member) (gone []string) {
	for _, m := range members {
		if f.followed[m.ID] != nil || m.ID == f.router.node && f.router.local == nil {
			continue
		}
		ctx, cancel := context.WithCancel(f.ctx)
		f.followed[m.ID] = cancel
		answered := func() {}
		if !f.late() {
			f.first.Add(1)
			answered = sync.OnceFunc(f.first.Done)
		}
		f.work.Go(func() { f.member(ctx, m.ID, answered) })
	}
	for id, cancel := range f.followed {
		if !slices.ContainsFunc(members, func(m agent.Member) bool { return m.ID == id }) {
			cancel()
			delete(f.followed, id)
			gone = append(gone, id)
		}
	}
	return gone
}

// member tells what a member tells, until ctx ends. It calls answered once the
// member has begun to, or has not.
func (f *fan) member(ctx context.Context, id string, answered func()) {
	defer answered()
	wait, told := newPatience(), false // that it tells nothing
	for {
		heard, err := f.once(ctx, id, told, answered)
		if !heard && !f.late() && agent.CodeOf(err) == agent.CodeOverloaded {
			select {
			case f.full <- err:
			default:
			}
		}
		answered()
		if ctx.Err() != nil {
			return
		}
		if heard {
			wait, told = newPatience(), false
		}
		if !told {
			told = f.tell(ctx, agent.InstanceEvent{Missed: true, Node: id, Reason: fmt.Sprintf("%s does not tell of its instances: %v", id, err)})
		}
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
			return
		}
	}
}

// newPatience is newPause for who asks for as long as a watch stands.
func newPatience() backoff.ExponentialBackOff {
	pause := newPause()
	pause.MaxInterval = 5 * time.Second
	return pause
}

// once follows a member until its stream breaks, and says why it did and whether
// it told anything. The beginning of its stream is only told where the watch has
// had to do without it.
func (f *fan) once(ctx context.Context, id string, again bool, answered func()) (heard bool, err error) {
	at, err := f.router.direct(id, f.router.table.Members())
	if err != nil {
		return false, err
	}
	for e, err := range at.instances.Watch(ctx, f.watch) {
		if err != nil {
			return heard, err
		}
		begins := !heard
		heard = true
		if begins && !again && !f.late() {
			answered()
			continue
		}
		if !f.tell(ctx, e) {
			return heard, ctx.Err()
		}
	}
	return heard, agent.Errorf(agent.CodeUnavailable, "its stream ended")
}

// late reports whether the watch has begun.
func (f *fan) late() bool {
	select {
	case <-f.begun:
		return true
	default:
		return false
	}
}

// tell hands an event on, once the watch has begun.
func (f *fan) tell(ctx context.Context, e agent.InstanceEvent) bool {
	select {
	case <-f.begun:
	case <-ctx.Done():
		return false
	}
	select {
	case f.came <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// overtaken reports whether a change is of an owning before one that was told of:
// what an owner does last may be heard after what the next one does first.
func (f *fan) overtaken(e *agent.InstanceEvent) bool {
	if e.Missed {
		return false
	}
	n := placement.Partition(e.Scope, e.Manager, e.Key)
	newest := f.newest[n]
	if e.Epoch > newest.epoch {
		f.newest[n] = owning{epoch: e.Epoch}
	}
	return e.Epoch < newest.epoch
}

// misses makes a change that was overtaken one that was missed, and reports whether
// that is to be told: once for an owning, and not where the watch is of one key,
// of which something newer was told.
func (f *fan) misses(e *agent.InstanceEvent) bool {
	n := placement.Partition(e.Scope, e.Manager, e.Key)
	newest := f.newest[n]
	if f.watch.Key != "" || newest.overtaken {
		return false
	}
	newest.overtaken = true
	f.newest[n] = newest
	*e = agent.InstanceEvent{Missed: true, Node: e.Node, Reason: "changes came after those of the partition's next owner"}
	return true
}
