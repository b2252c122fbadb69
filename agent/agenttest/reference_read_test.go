package agenttest_test

import (
	"context"
	"fmt"
	"slices"

	"dormouse/agent"
)

func (r *reference) Read(ctx context.Context, q agent.Reads) (agent.Answers, error) {
	if err := q.Validate(); err != nil {
		return agent.Answers{}, err
	}
	if ctx.Err() != nil {
		return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "%v", context.Cause(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := agent.Answers{Index: r.index, Node: "reference"}
	for _, one := range q.Reads {
		found, err := r.answer(r.scope(q.Scope), one)
		if err != nil {
			found = nil
		}
		answers.Answers = append(answers.Answers, agent.Answer{Found: found, Err: err})
	}
	return answers, nil
}

func notFound(what string) *agent.Error { return agent.Errorf(agent.CodeNotFound, "no %s", what) }

func (r *reference) answer(s *scope, one agent.Read) (agent.Found, *agent.Error) {
	if found, refusal, ok := s.dialogues.Read(one); ok {
		return found, refusal
	}
	if found, refusal, ok := s.timers.Find(one); ok {
		return found, refusal
	}
	if q, ok := one.(*agent.GetErasure); ok {
		if e := s.erasures[q.Agent]; e != nil {
			return e, nil
		}
		return nil, notFound("erasure")
	}
	switch q := one.(type) {
	case *agent.GetSession, *agent.ListSessions, *agent.GetReview, *agent.ListReviews:
		if found := r.sessionRead(s, one); found != nil {
			return found, nil
		}
		return nil, notFound("session or review")
	case *agent.GetValue:
		if v := s.values[q.Key]; v != nil {
			return v, nil
		}
		return nil, notFound("value")
	case *agent.GetCheckpoint:
		return s.revision(q.Key, q.Revision)
	case *agent.CheckpointHistory:
		if s.checkpoints[q.Key] == nil {
			return nil, notFound("checkpoint")
		}
		list := &agent.CheckpointList{}
		for _, c := range s.checkpoints[q.Key] {
			list.Items = append(list.Items, row(c))
		}
		return list, nil
	case *agent.GetThread:
		if t := s.threads[q.Thread]; t != nil {
			return &t.Thread, nil
		}
		return nil, notFound("thread")
	case *agent.GetScope:
		if s.exists {
			return &s.Scope, nil
		}
		return nil, notFound("scope")
	case *agent.Thaw:
		return s.thaw(q)
	case *agent.GetClaim:
		s.lapse()
		if h := s.claims[q.Claim]; h != nil {
			return h.claim(q.Claim, r.now), nil
		}
		return nil, notFound("claim")
	case *agent.LoadEntries, *agent.GetEntry, *agent.VerifyThread:
		return s.journal(one)
	case *agent.GetMemory, *agent.ListMemories, *agent.Recall:
		return r.memoryRead(s, one)
	default:
		return r.managerRead(s, one)
	}
}

// journal answers a read of entries.
func (s *scope) journal(one agent.Read) (agent.Found, *agent.Error) {
	switch q := one.(type) {
	case *agent.LoadEntries:
		if t := s.threads[q.Thread]; t != nil {
			return t.load(q)
		}
	case *agent.GetEntry:
		t := s.threads[q.Thread]
		if t == nil {
			break
		}
		if at := slices.IndexFunc(t.entries, func(e agent.Entry) bool { return e.ID == q.Entry }); at >= 0 {
			return &t.entries[at], nil
		}
		if _, seq, ok := agent.GeneratedID(q.Entry); ok && seq < t.Floor {
			return nil, t.conflict(agent.CodeCompacted)
		}
		return nil, notFound("entry")
	case *agent.VerifyThread:
		if t := s.threads[q.Thread]; t != nil {
			h := t.heads[0]
			for _, e := range t.entries {
				h = h.Next(e.ID, e.At, e.Kind, e.Payload, e.Refs)
			}
			return &agent.Verified{OK: h == t.Head, Rev: t.Rev, Head: h}, nil
		}
	}
	return nil, notFound("thread")
}

func (s *scope) revision(key string, revision uint64) (*agent.Checkpoint, *agent.Error) {
	for _, c := range s.checkpoints[key] {
		if revision == 0 || c.Revision == revision {
			return c, nil
		}
	}
	e := notFound("checkpoint")
	if kept := s.checkpoints[key]; len(kept) > 0 {
		e.Revision, e.Floor = kept[0].Revision, kept[len(kept)-1].Revision
	}
	return nil, e
}

// asOf returns the thread at rev, which is not below its floor.
func (t *thread) asOf(rev uint64) *thread {
	c, n := *t, rev-t.Floor
	c.Rev, c.Head, c.entries = rev, t.heads[n], t.entries[:n]
	return &c
}

func (t *thread) load(q *agent.LoadEntries) (agent.Found, *agent.Error) {
	if q.AtRev != nil {
		if err := t.holds(agent.Pointer{Thread: t.ID, Rev: *q.AtRev}); err != nil {
			return nil, err
		}
		t = t.asOf(*q.AtRev)
	}
	from, to, limit := q.From, t.Rev, int(q.Limit)
	switch {
	case q.Tail > 0:
		for from = t.Rev; from > t.Floor && uint64(len(t.ofKinds(q.Kinds, from, to))) < q.Tail; {
			from--
		}
	case from == 0:
		from = t.Floor
	}
	if from < t.Floor {
		e := t.conflict(agent.CodeCompacted)
		e.Floor = t.Floor
		return nil, e
	}
	if q.To != nil {
		to = *q.To
	}
	if limit == 0 {
		limit = agent.EntriesLimitDefault
	}
	page := &agent.Entries{Thread: t.Thread}
	for _, e := range t.ofKinds(q.Kinds, from, to) {
		if len(page.Items) == limit {
			page.Next = &e.Seq
			break
		}
		page.Items = append(page.Items, e)
	}
	return page, nil
}

// ofKinds returns the entries from seq from to seq to, of those kinds or of all.
func (t *thread) ofKinds(kinds []string, from, to uint64) []agent.Entry {
	entries := agent.Slice(t.entries, from, to)
	if len(kinds) > 0 {
		entries = agent.OfKind(entries, kinds...)
	}
	return entries
}

func (s *scope) thaw(q *agent.Thaw) (agent.Found, *agent.Error) {
	c, err := s.revision(q.Key, q.Revision)
	if err != nil {
		return nil, err
	}
	thawed := &agent.Thawed{Checkpoint: *c}
	if c.Thread == nil {
		return thawed, nil
	}
	t := s.threads[c.Thread.Thread]
	if err := t.holds(*c.Thread); err != nil {
		return nil, err
	}
	at := t.asOf(c.Thread.Rev)
	thawed.Thread, thawed.Entries, thawed.Ahead = &at.Thread, at.entries, t.Rev-at.Rev
	if q.Tail != nil {
		thawed.Entries = at.entries[len(at.entries)-min(int(*q.Tail), len(at.entries)):]
	}
	return thawed, nil
}

func row(c *agent.Checkpoint) agent.CheckpointRow {
	return agent.CheckpointRow{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Bytes: uint64(len(c.State) + len(c.Metadata)),
		Thread: c.Thread, Lifecycle: c.Lifecycle, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

func (r *reference) list(s *scope, one agent.Read) agent.Found {
	switch q := one.(type) {
	case *agent.ListValues:
		keys, next := sorted(s.values, q.Page)
		list := &agent.ValueList{Next: next}
		for _, key := range keys {
			v := s.values[key]
			list.Items = append(list.Items, agent.ValueRow{
				Key: key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType,
				Size: uint64(len(v.Bytes)), Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
			})
		}
		return list
	case *agent.ListCheckpoints:
		keys, next := sorted(s.checkpoints, q.Page)
		list := &agent.CheckpointList{Next: next}
		for _, key := range keys {
			list.Items = append(list.Items, row(s.checkpoint(key)))
		}
		return list
	case *agent.ListThreads:
		keys, next := sorted(s.threads, q.Page)
		list := &agent.ThreadList{Next: next}
		for _, key := range keys {
			list.Items = append(list.Items, s.threads[key].Thread)
		}
		return list
	case *agent.ListClaims:
		s.lapse()
		keys, next := sorted(s.claims, q.Page)
		list := &agent.ClaimList{Next: next}
		for _, key := range keys {
			list.Items = append(list.Items, *s.claims[key].claim(key, r.now))
		}
		return list
	case *agent.ListScopes:
		keys, next := sorted(r.scopes, q.Page)
		list := &agent.ScopeList{Next: next}
		for _, key := range keys {
			list.Items = append(list.Items, r.scopes[key].Scope)
		}
		return list
	default:
		panic(fmt.Sprintf("read %T", one))
	}
}
