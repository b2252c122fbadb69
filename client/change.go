package client

import (
	"context"
	"iter"

	"dormouse/agent"
)

// Changes yields the changes of the scope from w.From on, without the first w.Skip
// changes of that index, whose path begins with w.Prefix. It yields each change once,
// in log order, and new ones until ctx ends or the consumer stops; see agent.Service.
// To resume after a change, set From to its Index and Skip to its Ordinal + 1.
//
// An error is the last element: compacted, with the Floor, if the changes are no
// longer kept, and deleted if the scope was deleted.
func (s Scope) Changes(ctx context.Context, w agent.Watch) iter.Seq2[agent.Changed, error] {
	w.Scope, w.Changes = s.name, true
	return func(yield func(agent.Changed, error) bool) {
		for event, err := range s.service.Watch(ctx, w) {
			if err == nil && event.Last() {
				err = agent.EndOfChanges(event)
			}
			if err != nil {
				yield(agent.Changed{}, err)
				return
			}
			for _, change := range event.Changes {
				if !yield(change, nil) {
					return
				}
			}
		}
	}
}

// giveChanges yields changes, without those that were yielded before a reconnect.
func (s *watching) giveChanges(event agent.Event, yield func(agent.Event, error) bool) error {
	for len(event.Changes) > 0 && before(&event.Changes[0], s.w.From, s.w.Skip) {
		event.Changes = event.Changes[1:]
	}
	if n := len(event.Changes); n > 0 {
		s.w.From, s.w.Skip = event.Changes[n-1].Index, event.Changes[n-1].Ordinal+1
	}
	if event.Through >= s.w.From {
		s.w.From, s.w.Skip = event.Through+1, 0
	}
	if !yield(event, nil) {
		return errEnough
	}
	return nil
}

// before reports whether a change precedes a position in its feed.
func before(c *agent.Changed, index, skip uint64) bool {
	return c.Index < index || c.Index == index && c.Ordinal < skip
}
