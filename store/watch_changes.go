package store

import "dormouse/agent"

// silentMost is after how many indexes without a matching change a feed reports its progress. A
// client that reconnects continues after the last reported index.
const silentMost = 64

// feed is the position of one watch of changes.
type feed struct {
	store *Store
	watch agent.Watch
	next  uint64 // the next index to report…
	skip  uint64 // …without this many of its changes
	told  uint64 // the last index that the client knows to be complete
	open  bool   // its first event has been yielded
}

// newFeed begins a feed at a barrier's index.
func (s *Store) newFeed(w agent.Watch, barrier uint64) (*feed, error) {
	f := &feed{store: s, watch: w, next: w.From, skip: w.Skip}
	switch {
	case w.From == 0:
		f.next = barrier + 1
	case w.From > barrier+1:
		return nil, agent.Invalid("from_index", "from_index = %d is past the end of the log, which is at %d: "+
			"name an index that was told, or none for what comes", w.From, barrier)
	}
	return f, nil
}

// page yields new changes, and reports whether to continue watching.
func (f *feed) page(yield func(agent.Event, error) bool) bool {
	for {
		view := f.store.o.Machine.View()
		page, err := view.ChangesPage(f.watch.Scope, f.next, f.skip, f.watch.Prefix, watchPage)
		if err == nil && f.watch.Body {
			view.AddBodies(f.watch.Scope, &page)
		}
		at := view.Index()
		view.Close()
		switch {
		case err != nil:
			yield(agent.Event{}, err)
			return false
		case f.next <= page.Gone:
			yield(agent.Event{Kind: agent.EventDeleted}, nil)
			return false
		case f.next < page.Floor && f.watch.From == 0 && !f.open:
			// Recording began, or more kinds are recorded, after the barrier.
			yield(agent.Event{}, agent.Errorf(agent.CodeUnavailable, "changes are recorded only from index %d on: try again", page.Floor))
			return false
		case f.next < page.Floor:
			yield(agent.Event{Kind: agent.EventCompacted, Floor: page.Floor}, nil)
			return false
		}
		f.next, f.skip = page.Next, page.Skip
		through := f.next - 1
		if !f.open || len(page.Changes) > 0 || through >= f.told+silentMost {
			f.open, f.told = true, through
			if !yield(agent.Event{Kind: agent.EventChanges, Changes: page.Changes, Through: through}, nil) {
				return false
			}
		}
		if f.next > at {
			return true
		}
	}
}
