package memstore

import (
	"fmt"
	"maps"
	"slices"

	"dormouse/agent"
)

// feed holds the changes of a scope that are kept.
type feed struct {
	changes []agent.Changed
	floor   uint64 // index of the first change that is kept
	gone    uint64 // index at which the scope was last deleted; 0 if it never was
}

// pictured is the change that would write an object, and what identifies the state of
// the object: a pointer to its immutable row, or a text.
type pictured struct {
	agent.Changed
	state any
}

// picture returns the current state of all objects of the scope, by path.
func (s *scope) picture() map[string]pictured {
	all := map[string]pictured{}
	add := func(state any, c agent.Changed) { all[c.Path()] = pictured{c, state} }
	for key, v := range s.values {
		add(v, agent.Changed{Kind: agent.ChangedValue, Key: key, Revision: v.Revision})
	}
	for key, kept := range s.checkpoints {
		add(kept[0], agent.Changed{Kind: agent.ChangedCheckpoint, Key: key, Revision: kept[0].Revision})
	}
	for id, t := range s.threads {
		add(t, agent.Changed{Kind: agent.ChangedThread, Key: id, Revision: t.Rev})
	}
	for _, m := range s.memories {
		add(m, agent.Changed{Kind: agent.ChangedMemory, Agent: m.Agent, Key: m.ID, Revision: m.Revision})
	}
	for name, h := range s.claims { // a renewal is not a change
		add(nil, agent.Changed{Kind: agent.ChangedClaim, Key: name, Revision: h.Epoch})
	}
	for id, v := range s.sessions.Sessions {
		add(nil, agent.Changed{Kind: agent.ChangedSession, Key: id, Revision: v.Revision, Status: string(v.Status)})
	}
	for id, v := range s.sessions.Reviews {
		add(nil, agent.Changed{Kind: agent.ChangedReview, Key: id, Status: string(v.Status)})
	}
	for id, c := range s.dialogues {
		add(c, agent.Changed{Kind: agent.ChangedConversation, Key: id, Revision: c.Revision})
		for _, m := range c.Messages {
			add(nil, agent.Changed{Kind: agent.ChangedMessage, Conversation: id, Key: m.ID, Revision: m.Revision})
		}
	}
	for name, m := range s.managers {
		add(nil, agent.Changed{Kind: agent.ChangedManager, Key: name, Revision: m.Revision})
	}
	for n, t := range s.timers {
		c := agent.Changed{Kind: agent.ChangedTimer, Manager: n.Manager, Instance: n.Key, Key: n.ID, Revision: t.Generation}
		if t.Parked {
			c.Status = agent.TimerParked
		}
		add(fmt.Sprint(t), c)
	}
	return all
}

// appendChanges appends the differences between two pictures of a scope, before and
// after op, which is nil of an expiry. All memories of an erased agent are one change.
func appendChanges(changes []agent.Changed, s *scope, op agent.Op, before, now map[string]pictured) []agent.Changed {
	switch op.(type) {
	case *agent.PutScope, *agent.IndexMetadata:
		return append(changes, agent.Changed{Kind: agent.ChangedScope, Key: s.Name, Time: s.now})
	}
	erase, erased := op.(*agent.EraseAgent)
	paths := slices.Collect(maps.Keys(now))
	for path := range before {
		if _, there := now[path]; !there {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		written, there := now[path]
		if there && written == before[path] {
			continue
		}
		c := written.Changed
		if !there {
			if c = before[path].Changed; c.Kind == agent.ChangedMessage {
				continue // deleted with its conversation
			}
			c.Revision, c.Status, c.Deleted = 0, "", true
			if erased && c.Kind == agent.ChangedMemory && c.Agent == erase.Agent {
				if c.Key = ""; len(changes) > 0 && changes[len(changes)-1].Path() == c.Path() {
					continue
				}
			}
		}
		c.Time = s.now
		changes = append(changes, c)
	}
	return changes
}

// record adds changes of the current entry to the feed of a scope, and drops the
// oldest ones.
func (st *Store) record(s *scope, changes []agent.Changed) {
	f := st.feeds[s.Name]
	ordinal := uint64(0)
	if n := len(f.changes); n > 0 && f.changes[n-1].Index == st.index.Load() {
		ordinal = f.changes[n-1].Ordinal + 1
	}
	for i := range changes {
		changes[i].Index, changes[i].Ordinal = st.index.Load(), ordinal+uint64(i)
	}
	f.changes = append(f.changes, changes...) // a watch sees only the changes up to the length that it has read
	for most := orElse(s.Policy.ChangesMax, agent.ChangesMaxDefault) + agent.ChangesSlack; uint64(len(f.changes)) > most; {
		f.floor = f.changes[0].Index + 1
		for len(f.changes) > 0 && f.changes[0].Index < f.floor {
			f.changes = f.changes[1:]
		}
	}
	st.feeds[s.Name] = f
}

// since returns the next event of a watch of changes.
func (f feed) since(from, skip, through uint64, prefix string) agent.Event {
	switch {
	case from <= f.gone:
		return agent.Event{Kind: agent.EventDeleted}
	case from < f.floor:
		return agent.Event{Kind: agent.EventCompacted, Floor: f.floor}
	}
	event := agent.Event{Kind: agent.EventChanges, Through: through}
	for _, c := range f.changes {
		if (c.Index > from || c.Index == from && c.Ordinal >= skip) && c.Under(prefix) {
			event.Changes = append(event.Changes, c)
		}
	}
	return event
}

// addBodies sets the bodies of changes whose objects are still in s.
func addBodies(st *Store, s *scope, changes []agent.Changed) {
	st.mu.Lock()
	defer st.mu.Unlock()
	deleted := agent.DeletedLater(changes)
	for i := range changes {
		if read := changes[i].Written(); read != nil && !deleted[i] {
			if found, e := st.answer(s, read); e == nil {
				changes[i].SetBody(found)
			}
		}
	}
}
