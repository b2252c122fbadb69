package router

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/retry"
	"dormouse/placement"
)

// Watch implements agent.Instances: it watches every member, since any of them may become the owner
// of an instance. The events of one member are in order. A member that fails is reported as missed,
// and watched again; from then on its events are complete.
func (r *Instances) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.InstanceEvent{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		f := &fanIn{
			router: r, watch: w, ctx: ctx, followed: map[string]context.CancelFunc{}, newest: map[int]owning{}, full: make(chan error, 1),
			came: make(chan agent.InstanceEvent), begun: make(chan struct{}),
		}
		defer f.work.Wait()
		defer cancel()
		changed := r.table.PartitionsChanged() // taken before the members are read
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
			case <-changed: // a new member owns nothing before that
				changed = r.table.PartitionsChanged()
				for _, id := range f.follow(r.table.Members()) {
					if !yield(agent.InstanceEvent{Missed: true, Node: id, Reason: id + " is no member any more"}, nil) {
						return
					}
				}
			case e := <-f.came:
				if f.overtaken(&e) && !f.markMissed(&e) {
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

// fanIn merges the watches of all members.
type fanIn struct {
	router *Instances
	watch  agent.InstanceWatch
	ctx    context.Context //nolint:containedctx // the watch's; followers end with it

	followed map[string]context.CancelFunc // :: member
	newest   map[int]owning                // :: partition → the newest ownership with an event
	came     chan agent.InstanceEvent
	full     chan error     // capacity one: a member has no room for a watch that has not begun
	begun    chan struct{}  // closed when begin returns: no events are sent before
	first    sync.WaitGroup // followers without a first answer, before begun is closed
	work     sync.WaitGroup // followers
}

// owning is an ownership of a partition. overtaken reports that events of the previous ownership
// arrived after some of its own.
type owning struct {
	epoch     uint64
	overtaken bool
}

// begin waits, up to statsTimeout, until all members send events. Members that do not are reported
// later.
func (f *fanIn) begin() {
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

// follow starts to follow new members, and stops following former members, which it returns.
func (f *fanIn) follow(members []layout.Member) (gone []string) {
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
		if !slices.ContainsFunc(members, func(m layout.Member) bool { return m.ID == id }) {
			cancel()
			delete(f.followed, id)
			gone = append(gone, id)
		}
	}
	return gone
}

// member forwards the events of a member until ctx ends. It calls answered after the member's first
// answer or failure.
func (f *fanIn) member(ctx context.Context, id string, answered func()) {
	defer answered()
	wait, told := newWatchBackoff(), false // that the member sends nothing
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
			wait, told = newWatchBackoff(), false
		}
		if !told {
			told = f.send(ctx, agent.InstanceEvent{Missed: true, Node: id, Reason: fmt.Sprintf("%s does not tell of its instances: %v", id, err)})
		}
		select {
		case <-time.After(wait.Next()):
		case <-ctx.Done():
			return
		}
	}
}

// newWatchBackoff is newBackoff with a longer maximum, for watches.
func newWatchBackoff() *retry.Backoff { return retry.New(10*time.Millisecond, 5*time.Second) }

// once follows a member until its stream breaks. It returns the reason and whether the member sent
// anything. It reports the beginning of the stream only if the watch has missed events of the
// member.
func (f *fanIn) once(ctx context.Context, id string, again bool, answered func()) (heard bool, err error) {
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
		if !f.send(ctx, e) {
			return heard, ctx.Err()
		}
	}
	return heard, agent.Errorf(agent.CodeUnavailable, "its stream ended")
}

// late reports whether the watch has begun.
func (f *fanIn) late() bool {
	select {
	case <-f.begun:
		return true
	default:
		return false
	}
}

// send forwards an event once the watch has begun.
func (f *fanIn) send(ctx context.Context, e agent.InstanceEvent) bool {
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

// overtaken reports whether an event is of an earlier ownership than one already reported: the last
// event of an owner may arrive after the first one of the next owner.
func (f *fanIn) overtaken(e *agent.InstanceEvent) bool {
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

// markMissed turns an overtaken event into a missed one, and reports whether to forward it: once
// per ownership, and not if the watch is of one key, for which a newer event was sent.
func (f *fanIn) markMissed(e *agent.InstanceEvent) bool {
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
