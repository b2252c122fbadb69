package store

import "dormouse/agent"

// silentMost is how many indexes a feed passes over without a word where the
// prefix leaves all of their changes out: who goes on elsewhere begins after
// what was told last.
const silentMost = 64

// feed is where one watch of changes has got to.
type feed struct {
	store *Store
	watch agent.Watch
	next  uint64 // the index to tell next…
	skip  uint64 // …less so many of its changes
	told  uint64 // the last index that its consumer knows to be past
	open  bool   // its first event has been yielded
}

// newFeed begins a feed as of a barrier's index.
func (s *Store) newFeed(w agent.Watch, barrier uint64) (*feed, error) {
	f := &feed{store: s, watch: w, next: w.From, skip: w.Skip}
	switch {
	case w.From == 0:
		f.next = barrier + 1
	case w.From > barrier+1:
		return nil, agent.Invalid("from_index", "from_index = %d has not come yet, the log is at %d: "+
			"name an index that was told, or none for what comes", w.From, barrier)
	}
	return f, nil
}

// page yields what there is to tell, and says whether to go on watching.
func (f *feed) page(yield func(agent.Event, error) bool) bool {
	for {
		view := f.store.o.Machine.View()
		page, err := view.ChangesPage(f.watch.Scope, f.next, f.skip, f.watch.Prefix, watchPage)
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
			// It began to be recorded, or more is now, between the barrier and here.
			yield(agent.Event{}, agent.Errorf(agent.CodeUnavailable, "changes are recorded from index %d on, just now: try again", page.Floor))
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
