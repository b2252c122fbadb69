package store

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// watchPage bounds how many entries a watch reads at once.
const watchPage = 256

// Watch implements agent.Service. Its start is linearizable on the leader.
func (s *Store) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return s.WatchFrom(ctx, s.o.Group.Barrier, w)
}

// WatchFrom is Watch with the caller's barrier. A thread that does not exist at the barrier is
// not_found: "nothing to watch" differs from "nothing new". A scope need not exist: all its changes
// are still to come.
func (s *Store) WatchFrom(
	ctx context.Context, barrier func(context.Context) (uint64, error), w agent.Watch,
) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.Event{}, err)
			return
		}
		index, err := barrier(ctx)
		if err == nil {
			err = s.await(ctx, index)
		}
		if err != nil {
			yield(agent.Event{}, err)
			return
		}
		signal, cancel, page, err := s.follow(w, index)
		if err != nil {
			yield(agent.Event{}, err)
			return
		}
		defer cancel()
		for page(yield) {
			select {
			case <-signal:
			case <-ctx.Done():
				return
			}
		}
	}
}

// follow starts a watch from a barrier's index. page yields new events; it must be called again
// after each signal while it returns true.
func (s *Store) follow(w agent.Watch, barrier uint64) (
	signal <-chan struct{}, cancel func(), page func(yield func(agent.Event, error) bool) (more bool), err error,
) {
	switch {
	case w.Changes:
		f, err := s.newFeed(w, barrier)
		if err != nil {
			return nil, nil, nil, err
		}
		signal, cancel = s.o.Machine.WatchChanges(w.Scope)
		return signal, cancel, f.page, nil
	case w.Claim != "":
		signal, cancel = s.o.Machine.WatchClaim(w.Scope, w.Claim)
		return signal, cancel, (&standing{store: s, watch: w}).page, nil
	default:
		signal, cancel = s.o.Machine.WatchThread(w.Scope, w.Thread)
		return signal, cancel, (&tail{store: s, watch: w, incarnation: w.Incarnation, next: w.From}).page, nil
	}
}

// tail is the position of one watch.
type tail struct {
	store       *Store
	watch       agent.Watch
	incarnation uint64 // of the requested thread, or of the first one seen; 0 before that
	next        uint64 // the next seq to yield
}

// page yields all events from next on, and reports whether to continue watching.
func (t *tail) page(yield func(agent.Event, error) bool) bool {
	for {
		if seededbug.Is(seededbug.WatchFollowsNewLife) {
			t.incarnation = 0
		}
		view := t.store.o.Machine.View()
		page, err := view.WatchPage(t.watch.Scope, t.watch.Thread, t.incarnation, t.next, watchPage)
		view.Close()
		switch {
		case err != nil:
			yield(agent.Event{}, err)
			return false
		case !page.Exists && seededbug.Is(seededbug.WatchFollowsNewLife):
			return true
		case !page.Exists && t.incarnation == 0:
			yield(agent.Event{}, agent.Errorf(agent.CodeNotFound, "there is no thread %s to watch", t.watch.Thread))
			return false
		case !page.Exists || (t.incarnation != 0 && page.Incarnation != t.incarnation):
			yield(agent.Event{Kind: agent.EventDeleted}, nil)
			return false
		case t.next < page.Floor:
			yield(agent.Event{Kind: agent.EventCompacted, Floor: page.Floor}, nil)
			return false
		}
		t.incarnation = page.Incarnation
		for _, entry := range page.Entries {
			if !yield(agent.Event{Kind: agent.EventEntry, Entry: entry}, nil) {
				return false
			}
			t.next = entry.Seq + 1
		}
		if len(page.Entries) == 0 || t.next >= page.Rev {
			return true
		}
	}
}
