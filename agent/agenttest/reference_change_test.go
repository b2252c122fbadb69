package agenttest_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

// feed holds the changes of a scope that are kept, and when the scope was last
// deleted.
type feed struct {
	changes     []agent.Changed
	floor, gone uint64
}

// picture returns the current state of all objects of the scope, by path.
func (s *scope) picture() map[string]agent.Changed {
	all := map[string]agent.Changed{}
	add := func(c agent.Changed) { all[c.Path()] = c }
	for key, v := range s.values {
		add(agent.Changed{Kind: agent.ChangedValue, Key: key, Revision: v.Revision})
	}
	for key, kept := range s.checkpoints {
		add(agent.Changed{Kind: agent.ChangedCheckpoint, Key: key, Revision: kept[0].Revision})
	}
	for id, t := range s.threads {
		add(agent.Changed{Kind: agent.ChangedThread, Key: id, Revision: t.Rev})
	}
	for _, m := range s.memories {
		add(agent.Changed{Kind: agent.ChangedMemory, Agent: m.Agent, Key: m.ID, Revision: m.Revision})
	}
	for name, h := range s.claims {
		add(agent.Changed{Kind: agent.ChangedClaim, Key: name, Revision: h.epoch})
	}
	for id, v := range s.sessions.Sessions {
		add(agent.Changed{Kind: agent.ChangedSession, Key: id, Revision: v.Revision, Status: string(v.Status)})
	}
	for id, v := range s.sessions.Reviews {
		add(agent.Changed{Kind: agent.ChangedReview, Key: id, Status: string(v.Status)})
	}
	for id, c := range s.dialogues {
		add(agent.Changed{Kind: agent.ChangedConversation, Key: id, Revision: c.Revision, Time: fingerprint(c.ConversationRow)})
		for _, m := range c.Messages {
			add(agent.Changed{Kind: agent.ChangedMessage, Conversation: id, Key: m.ID, Revision: m.Revision})
		}
	}
	for name, m := range s.managers {
		add(agent.Changed{Kind: agent.ChangedManager, Key: name, Revision: m.Revision})
	}
	for n, t := range s.timers {
		c := agent.Changed{Kind: agent.ChangedTimer, Manager: n.Manager, Instance: n.Key, Key: n.ID, Revision: t.Generation, Time: fingerprint(t)}
		if t.Parked {
			c.Status = agent.TimerParked
		}
		add(c)
	}
	return all
}

// fingerprint returns a hash of an object that can change without a new revision.
func fingerprint(thing any) int64 { return int64(crc32.ChecksumIEEE(fmt.Append(nil, thing))) }

// tell adds the differences between two pictures of a scope, before and after an op.
// All memories of an erased agent are one change.
func (r *reference) tell(op agent.Op, pending []agent.Changed, before, now map[string]agent.Changed) []agent.Changed {
	erase, erased := op.(*agent.EraseAgent)
	paths := slices.Collect(maps.Keys(now))
	for path := range before {
		if _, there := now[path]; !there {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		c, there := now[path]
		if c == before[path] && there {
			continue
		}
		if !there {
			if c = before[path]; c.Kind == agent.ChangedMessage {
				continue // deleted with its conversation
			}
			c.Revision, c.Status, c.Deleted = 0, "", true
			if erased && c.Kind == agent.ChangedMemory && c.Agent == erase.Agent {
				if c.Key = ""; len(pending) > 0 && pending[len(pending)-1].Path() == c.Path() {
					continue
				}
			}
		}
		c.Index, c.Ordinal, c.Time = r.index, uint64(len(pending)), r.now
		pending = append(pending, c)
	}
	return pending
}

// record adds a commit's changes to the feed of its scope, and drops the oldest.
func (r *reference) record(s *scope, changes []agent.Changed) {
	f := r.feeds[s.Name]
	f.changes = append(slices.Clone(f.changes), changes...)
	keep := s.Policy.ChangesMax
	if keep == 0 {
		keep = agent.ChangesMaxDefault
	}
	for uint64(len(f.changes)) > keep+agent.ChangesSlack {
		f.floor = f.changes[0].Index + 1
		f.changes = slices.DeleteFunc(f.changes, func(c agent.Changed) bool { return c.Index < f.floor })
	}
	r.feeds[s.Name] = f
}

// watchChanges polls after each commit.
func (r *reference) watchChanges(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	r.mu.Lock()
	from, skip, end := w.From, w.Skip, r.index
	r.mu.Unlock()
	if from == 0 {
		from = end + 1
	}
	if from > end+1 {
		yield(agent.Event{}, agent.Invalid("from_index", "it has not come yet"))
		return
	}
	for {
		r.mu.Lock()
		f, changed, through := r.feeds[w.Scope], r.changed, r.index
		r.mu.Unlock()
		event := agent.Event{Kind: agent.EventChanges, Through: through}
		switch {
		case from <= f.gone:
			event = agent.Event{Kind: agent.EventDeleted}
		case from < f.floor:
			event = agent.Event{Kind: agent.EventCompacted, Floor: f.floor}
		}
		for _, c := range f.changes {
			if c.Index > from || c.Index == from && c.Ordinal >= skip {
				if strings.HasPrefix(c.Path(), w.Prefix) {
					event.Changes = append(event.Changes, c)
				}
			}
		}
		if !yield(event, nil) || event.Last() {
			return
		}
		from, skip = through+1, 0
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
