package fakestore

import (
	"strings"

	"dormouse/agent"
)

// watchChanges yields the selected changes of the Feed, and then that the scope was
// deleted. Changes below the Feed's first index are compacted.
func (s *Store) watchChanges(w agent.Watch, yield func(agent.Event, error) bool) {
	event := agent.Event{Kind: agent.EventChanges}
	for _, c := range s.Feed {
		if w.From != 0 && w.From < s.Feed[0].Index {
			yield(agent.Event{Kind: agent.EventCompacted, Floor: s.Feed[0].Index}, nil)
			return
		}
		if (c.Index > w.From || c.Index == w.From && c.Ordinal >= w.Skip) && strings.HasPrefix(c.Path(), w.Prefix) {
			event.Changes = append(event.Changes, c)
		}
	}
	if yield(event, nil) {
		yield(agent.Event{Kind: agent.EventDeleted}, nil)
	}
}
