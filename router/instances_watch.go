package router

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

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
			router: r, watch: w, ctx: ctx, followed: map[string]context.CancelFunc{}, newest: map[int]uint64{},
			came: make(chan agent.InstanceEvent), begun: make(chan struct{}),
		}
		defer f.work.Wait()
		defer cancel()
		changed := r.table.PartitionsChanged() // taken before the look
		f.follow(r.table.Members())
		f.begin()
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
				if f.overtaken(&e) {
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
	newest   map[int]uint64                // :: partition → the newest epoch that was told of
	came     chan agent.InstanceEvent
	begun    chan struct{}  // closed when begin is over: nobody is told of anything before
	first    sync.WaitGroup // followers that have not been answered, before begun is closed
	work     sync.WaitGroup // followers
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
	wait, told := newPause(), false // that it tells nothing
	for {
		heard, err := f.once(ctx, id, told, answered)
		answered()
		if ctx.Err() != nil {
			return
		}
		if heard {
			wait, told = newPause(), false
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

// once follows a member until its stream breaks, and says why it did and whether
// it told anything. The beginning of its stream is only told where the watch has
// had to do without it.
func (f *fan) once(ctx context.Context, id string, again bool, answered func()) (heard bool, err error) {
	at, err := f.router.at(id)
	if err != nil {
		return false, err
	}
	for e, err := range at.Watch(ctx, f.watch) {
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

// late tells whether the watch has begun.
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

// overtaken tells whether a change is of an owning before one that was told of:
// what an owner does last may be heard after what the next one does first.
func (f *fan) overtaken(e *agent.InstanceEvent) bool {
	if e.Missed {
		return false
	}
	n := placement.Partition(e.Scope, e.Manager, e.Key)
	if e.Epoch < f.newest[n] {
		return true
	}
	f.newest[n] = e.Epoch
	return false
}
