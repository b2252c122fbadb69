package fakestore

import (
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

func (s *Store) answer(name string, read agent.Read) (agent.Found, *agent.Error) {
	sc := s.scope(name)
	if found, err, ok := sc.dialogues.Read(read); ok {
		return found, err
	}
	if found, err, ok := sc.timers.Find(read); ok {
		return found, err
	}
	switch q := read.(type) {
	case *agent.GetValue:
		if v := sc.values[q.Key]; v != nil {
			return v, nil
		}
		return nil, notFound("value", q.Key)
	case *agent.GetCheckpoint:
		return sc.checkpoint(q.Key, q.Revision)
	case *agent.CheckpointHistory:
		list := &agent.CheckpointList{}
		for _, c := range sc.checkpoints[q.Key] {
			list.Items = append(list.Items, row(c))
		}
		if list.Items == nil {
			return nil, notFound("checkpoint", q.Key)
		}
		return list, nil
	case *agent.GetThread:
		if t := sc.threads[q.Thread]; t != nil {
			thread := t.Thread
			return &thread, nil
		}
		return nil, notFound("thread", q.Thread)
	case *agent.LoadEntries:
		return sc.load(q)
	case *agent.VerifyThread:
		if t := sc.threads[q.Thread]; t != nil {
			verified := &agent.Verified{OK: t.ID != "broken", Rev: t.Rev, Head: t.Head}
			if !verified.OK {
				verified.Why = "entry 0 differs"
			}
			return verified, nil
		}
		return nil, notFound("thread", q.Thread)
	case *agent.Thaw:
		return sc.thaw(q)
	case *agent.GetClaim:
		if c := sc.claims[q.Claim]; c != nil {
			return c, nil
		}
		return nil, agent.Errorf(agent.CodeNotFound, "claim %q has no holder", q.Claim)
	case *agent.GetSession, *agent.ListSessions, *agent.GetReview, *agent.ListReviews:
		return s.session(sc, read)
	case *agent.GetMemory, *agent.ListMemories, *agent.Recall:
		return sc.memory(read)
	case *agent.GetScope:
		found := sc.Scope
		return &found, nil
	default:
		return s.list(sc, read)
	}
}

func (sc *scope) checkpoint(key string, revision uint64) (agent.Found, *agent.Error) {
	for _, c := range sc.checkpoints[key] {
		if revision == 0 || revision == c.Revision {
			return c, nil
		}
	}
	return nil, notFound("checkpoint", key)
}

func row(c *agent.Checkpoint) agent.CheckpointRow {
	return agent.CheckpointRow{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Bytes: uint64(len(c.State) + len(c.Metadata)),
		Thread: c.Thread, Lifecycle: c.Lifecycle, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

// pageEntries is the maximum of a load, small so that tests see several pages.
const pageEntries = 4

func (sc *scope) load(q *agent.LoadEntries) (agent.Found, *agent.Error) {
	t := sc.threads[q.Thread]
	if t == nil {
		return nil, notFound("thread", q.Thread)
	}
	thread := t.Thread
	if q.AtRev != nil {
		thread.Rev, thread.Head = *q.AtRev, t.heads[*q.AtRev]
	}
	from, to := max(q.From, t.Floor), thread.Rev
	if q.To != nil {
		to = min(to, *q.To+1)
	}
	asked := func(seq uint64) bool {
		return len(q.Kinds) == 0 || slices.Contains(q.Kinds, t.entries[seq-t.Floor].Kind)
	}
	if q.Tail > 0 {
		from = to
		for left := q.Tail; from > t.Floor && left > 0; {
			if from--; asked(from) {
				left--
			}
		}
	}
	found := &agent.Entries{Thread: thread}
	limit := pageEntries
	if q.Limit > 0 && q.Limit < pageEntries {
		limit = int(q.Limit)
	}
	for seq := from; seq < to; seq++ {
		if !asked(seq) {
			continue
		}
		if len(found.Items) == limit {
			found.Next = &seq
			break
		}
		found.Items = append(found.Items, t.entries[seq-t.Floor])
	}
	return found, nil
}

func (sc *scope) thaw(q *agent.Thaw) (agent.Found, *agent.Error) {
	found, err := sc.checkpoint(q.Key, q.Revision)
	if err != nil {
		return nil, err
	}
	thawed := &agent.Thawed{Checkpoint: *found.(*agent.Checkpoint)}
	p := thawed.Checkpoint.Thread
	if p == nil {
		return thawed, nil
	}
	t := sc.threads[p.Thread]
	if t == nil {
		return nil, &agent.Error{Code: agent.CodeMissingThread, Op: -1, Detail: "no such thread", Thread: p.Thread}
	}
	if p.Rev > t.Rev || t.heads[p.Rev].String() != p.Head {
		return nil, &agent.Error{
			Code: agent.CodeThreadMismatch, Op: -1, Detail: "another history", Thread: p.Thread, Rev: t.Rev, Head: t.Head.String(),
		}
	}
	thread := t.Thread
	thread.Rev, thread.Head = p.Rev, t.heads[p.Rev]
	thawed.Thread, thawed.Entries, thawed.Ahead = &thread, t.entries[:p.Rev-t.Floor], t.Rev-p.Rev
	if q.Tail != nil && *q.Tail < uint64(len(thawed.Entries)) {
		thawed.Entries = thawed.Entries[uint64(len(thawed.Entries))-*q.Tail:]
	}
	return thawed, nil
}

func (s *Store) list(sc *scope, read agent.Read) (agent.Found, *agent.Error) {
	switch q := read.(type) {
	case *agent.ListValues:
		list := &agent.ValueList{}
		names, next := page(sc.values, q.Page)
		for _, name := range names {
			v := sc.values[name]
			list.Items = append(list.Items, agent.ValueRow{
				Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType,
				Size: uint64(len(v.Bytes)), Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
			})
		}
		list.Next = next
		return list, nil
	case *agent.ListCheckpoints:
		list := &agent.CheckpointList{}
		names, next := page(sc.checkpoints, q.Page)
		for _, name := range names {
			list.Items = append(list.Items, row(sc.checkpoints[name][0]))
		}
		list.Next = next
		return list, nil
	case *agent.ListThreads:
		list := &agent.ThreadList{}
		names, next := page(sc.threads, q.Page)
		for _, name := range names {
			list.Items = append(list.Items, sc.threads[name].Thread)
		}
		list.Next = next
		return list, nil
	case *agent.ListClaims:
		list := &agent.ClaimList{}
		names, next := page(sc.claims, q.Page)
		for _, name := range names {
			list.Items = append(list.Items, *sc.claims[name])
		}
		list.Next = next
		return list, nil
	case *agent.ListScopes:
		list := &agent.ScopeList{}
		names, next := page(s.scopes, q.Page)
		for _, name := range names {
			list.Items = append(list.Items, s.scopes[name].Scope)
		}
		list.Next = next
		return list, nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake knows no %T", read)
	}
}

// page returns a page of the names in a map.
func page[V any](m map[string]V, p agent.Page) (names []string, next string) {
	limit := p.Limit
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(name, p.Prefix) || name <= p.After {
			continue
		}
		if uint64(len(names)) == limit {
			return names, names[len(names)-1]
		}
		names = append(names, name)
	}
	return names, ""
}
