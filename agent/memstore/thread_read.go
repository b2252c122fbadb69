package memstore

import (
	"slices"

	"dormouse/agent"
)

// threadRead answers a read of a thread or of its entries.
func (s *scope) threadRead(read agent.Read) (agent.Found, *agent.Error) {
	id := ""
	switch q := read.(type) {
	case *agent.GetThread:
		if t := s.threads[q.Thread]; t != nil {
			return &t.Thread, nil
		}
		id = q.Thread
	case *agent.LoadEntries:
		if t := s.threads[q.Thread]; t != nil {
			return t.load(q)
		}
		id = q.Thread
	case *agent.GetEntry:
		t := s.threads[q.Thread]
		if t == nil {
			return nil, notFound("thread", q.Thread)
		}
		if at := slices.IndexFunc(t.entries, func(e agent.Entry) bool { return e.ID == q.Entry }); at >= 0 {
			return &t.entries[at], nil
		}
		if _, seq, ok := agent.GeneratedID(q.Entry); ok && seq < t.Floor {
			return nil, t.conflict(agent.CodeCompacted)
		}
		return nil, notFound("entry", q.Entry)
	case *agent.VerifyThread:
		if t := s.threads[q.Thread]; t != nil {
			h := t.heads[0]
			for _, e := range t.entries {
				h = h.After(&e)
			}
			return &agent.Verified{OK: h == t.Head, Rev: t.Rev, Head: h}, nil
		}
		id = q.Thread
	}
	return nil, notFound("thread", id)
}

// asOf returns the thread at rev, which is 0 or not below its floor.
func (t *thread) asOf(rev uint64) *thread {
	if rev < t.Floor {
		c := *t
		c.Rev, c.Floor, c.Head, c.entries, c.origins, c.heads = 0, 0, agent.Head{}, nil, nil, []agent.Head{{}}
		return &c
	}
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
	entries := slices.Clone(t.ofKinds(q.Kinds, from, to))
	if q.Order == agent.Descending {
		slices.Reverse(entries)
	}
	for _, e := range entries {
		if !q.Has(e.At) {
			continue
		}
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

func (s *scope) listThreads(q *agent.ListThreads) *agent.ThreadList {
	ids, next := sortedAt(s.threads, q.Page, func(t *thread) int64 { return t.UpdatedAt }, nil, nil)
	list := &agent.ThreadList{Next: next}
	for _, id := range ids {
		list.Items = append(list.Items, s.threads[id].Thread)
	}
	return list
}
