package memstore

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/agent"
)

// scope is the contents of a scope. A stored scope is immutable, and so are the values
// in its maps: a change replaces them in a copy.
type scope struct {
	agent.Scope
	exists      bool
	own         agent.Policy // if OwnPolicy
	now         int64        // log time of the change that made this copy
	principal   string       // …and who made it
	values      map[string]*agent.Value
	checkpoints map[string][]*agent.Checkpoint // kept revisions, newest first
	replaced    map[*agent.Checkpoint]int64    // when a replaced revision expires, if the policy limits its age
	threads     map[string]*thread
	claims      map[string]*agent.Claim // that have a holder
	memories    map[memoryName]*memory
	dialogues   ConversationModel
	managers    map[string]agent.Manager
	timers      TimerModel
	sessions    SessionModel
	erasures    map[string]*agent.Erasure        // by agent
	deletions   map[string]*agent.PrefixDeletion // by id
	seals       map[sealed]seal
}

// sealed names a deleted object, or an erased agent, that cannot be written.
type sealed struct{ noun, id string }

// seal is until when, and what the deleted incarnation was.
type seal struct {
	incarnation uint64
	until       int64
}

func newScope(name string) *scope {
	return &scope{
		Scope: agent.Scope{Name: name}, values: map[string]*agent.Value{}, checkpoints: map[string][]*agent.Checkpoint{},
		replaced: map[*agent.Checkpoint]int64{}, threads: map[string]*thread{}, claims: map[string]*agent.Claim{},
		memories: map[memoryName]*memory{}, dialogues: ConversationModel{}, managers: map[string]agent.Manager{},
		timers: TimerModel{}, sessions: NewSessionModel(), erasures: map[string]*agent.Erasure{}, seals: map[sealed]seal{},
		deletions: map[string]*agent.PrefixDeletion{},
	}
}

// emptied returns the scope after its deletion, which keeps the scope's own policy.
func (s *scope) emptied() *scope {
	empty := newScope(s.Name)
	empty.exists, empty.CreatedAt, empty.own, empty.OwnPolicy = true, s.CreatedAt, s.own, s.OwnPolicy
	return empty
}

// clone returns a copy that may be changed.
func (s *scope) clone(now int64) *scope {
	c := *s
	c.now = now
	c.values, c.checkpoints, c.replaced = maps.Clone(s.values), maps.Clone(s.checkpoints), maps.Clone(s.replaced)
	c.threads, c.claims, c.memories = maps.Clone(s.threads), maps.Clone(s.claims), maps.Clone(s.memories)
	c.dialogues, c.managers, c.timers = maps.Clone(s.dialogues), maps.Clone(s.managers), s.timers.Clone()
	c.sessions, c.erasures, c.seals = s.sessions.Clone(), maps.Clone(s.erasures), maps.Clone(s.seals)
	c.deletions = maps.Clone(s.deletions)
	return &c
}

// expiry returns when a ttl ends; 0 means never.
func (s *scope) expiry(ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return s.now + ttl.Milliseconds()
}

// alive refuses a sealed id, or another incarnation.
func (s *scope) alive(noun, id string, wanted, current uint64) *agent.Error {
	if seal, ok := s.seals[sealed{noun, id}]; ok {
		e := agent.Errorf(agent.CodeDeleted, "%s %q is deleted, and sealed until %d", noun, id, seal.until)
		e.Incarnation = seal.incarnation
		return e
	}
	return sameIncarnation(noun, id, wanted, current)
}

// sameIncarnation refuses an incarnation that is not the current one, which is 0 if there is none.
func sameIncarnation(noun, id string, wanted, current uint64) *agent.Error {
	if wanted != 0 && wanted != current {
		e := agent.Errorf(agent.CodeDeleted, "incarnation %d of %s %q is deleted", wanted, noun, id)
		e.Incarnation = current
		return e
	}
	return nil
}

// removed returns the result of a delete, and seals the id. A seal is never shortened.
func (s *scope) removed(noun, id string, incarnation uint64, ttl time.Duration) *agent.DeleteResult {
	if ttl > 0 {
		old := s.seals[sealed{noun, id}]
		s.seals[sealed{noun, id}] = seal{max(incarnation, old.incarnation), max(s.expiry(ttl), old.until)}
	}
	return &agent.DeleteResult{Existed: incarnation != 0, Incarnation: incarnation}
}

// atRevision refuses an object that is not at the expected revision.
func atRevision(want *uint64, have uint64) *agent.Error {
	if want == nil || *want == have {
		return nil
	}
	e := agent.Errorf(agent.CodeRevisionMismatch, "not at revision %d", *want)
	e.Revision = have
	return e
}

func first(errs ...*agent.Error) *agent.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func notFound(noun, id string) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "there is no %s %q", noun, id)
}

// policyOf returns the policy that applies to a scope.
func (st *Store) policyOf(s *scope) agent.Policy {
	if s.OwnPolicy {
		return s.own
	}
	return st.defaults
}

// putScope runs put_scope.
func putScope(st *Store, s *scope, o *agent.PutScope) (agent.OpResult, *agent.Error) {
	now := st.policyOf(s)
	if o.Default {
		now = st.defaults
	}
	if o.IfPolicy != nil && now != *o.IfPolicy {
		return nil, agent.Errorf(agent.CodeConflict, "the policy is another one than if_policy: read it again")
	}
	if o.Default {
		st.defaults = o.Policy
		return &agent.ScopeResult{Scope: agent.Scope{Policy: o.Policy}}, nil
	}
	s.own, s.OwnPolicy = o.Policy, !o.UseDefault
	s.Policy = st.policyOf(s)
	return &agent.ScopeResult{Scope: s.Scope}, nil
}

// shown returns a scope as callers see it.
func (st *Store) shown(s *scope) *agent.Scope {
	found := s.Scope
	found.Policy = st.policyOf(s)
	return &found
}

// countNouns updates the counts of agents, threads, entries and timers.
func (s *scope) countNouns() {
	agents := map[string]bool{}
	for name := range s.checkpoints {
		agents[name] = true
	}
	for name := range s.memories {
		agents[name.agent] = true
	}
	for _, one := range s.sessions.Sessions {
		agents[one.Agent] = true
	}
	for _, one := range s.dialogues {
		if one.Agent != "" {
			agents[one.Agent] = true
		}
	}
	s.Agents, s.Threads, s.Timers, s.Entries = uint64(len(agents)), uint64(len(s.threads)), uint64(len(s.timers)), 0
	for _, t := range s.threads {
		from := t.Floor
		if t.ForkedFrom != nil {
			from = max(from, t.ForkedFrom.Rev)
		}
		s.Entries += t.Rev - from
	}
}

// count updates the usage of the scope.
func (s *scope) count() {
	s.countNouns()
	s.Keys = uint64(len(s.values) + len(s.checkpoints) + len(s.threads) + len(s.claims) + len(s.sessions.Sessions) +
		len(s.memories) + len(s.dialogues) + len(s.managers))
	s.Bytes = s.dialogues.Bytes()
	for _, m := range s.managers {
		s.Bytes += uint64(m.Size())
	}
	for _, m := range s.memories {
		s.Bytes += m.size
	}
	for _, v := range s.values {
		s.Bytes += uint64(len(v.Bytes) + len(v.Metadata))
	}
	for _, kept := range s.checkpoints {
		for _, c := range kept {
			s.Bytes += uint64(len(c.State) + len(c.Metadata))
		}
	}
	for _, t := range s.threads {
		s.Bytes += uint64(len(t.Metadata) + len(t.Summary))
	}
	s.Bytes += s.entryBytes()
}

// entryBytes returns the bytes of all entries. An entry that several threads read counts once, also
// if only forks still read it.
func (s *scope) entryBytes() (bytes uint64) {
	floors := map[uint64]uint64{} // by incarnation
	for _, t := range s.threads {
		floors[t.Incarnation] = t.Floor
	}
	type place struct{ origin, seq uint64 }
	onlyForked := map[place]bool{}
	for _, t := range s.threads {
		for i, e := range t.entries {
			at := place{t.origins[i], e.Seq}
			if at.origin != t.Incarnation {
				floor, live := floors[at.origin]
				if live && at.seq >= floor || onlyForked[at] {
					continue // it counts elsewhere
				}
				onlyForked[at] = true
			}
			bytes += uint64(e.Size())
		}
	}
	return bytes
}

// sorted returns the keys of a map that a page selects, in the page's order, and Next.
func sorted[V any](m map[string]V, p agent.Page) (keys []string, next string) {
	limit := int(p.Limit)
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	all := slices.Sorted(maps.Keys(m))
	if p.Order == agent.Descending {
		slices.Reverse(all)
	}
	for _, key := range all {
		before := key <= p.After
		if p.Order == agent.Descending {
			before = p.After != "" && key >= p.After
		}
		if before || !strings.HasPrefix(key, p.Prefix) {
			continue
		}
		if len(keys) == limit {
			return keys, keys[limit-1]
		}
		keys = append(keys, key)
	}
	return keys, ""
}

// sortedAt is sorted for rows that were last changed at a time. where selects those with a metadata,
// which is nil for rows that are not listed by it.
func sortedAt[V any](m map[string]V, p agent.Page, at func(V) int64, where agent.Where, metadata func(V) agent.JSON) (keys []string, next string) {
	selected := map[string]V{}
	for key, v := range m {
		if p.Has(at(v)) && (len(where) == 0 || where.Match(metadata(v))) {
			selected[key] = v
		}
	}
	return sorted(selected, p)
}
