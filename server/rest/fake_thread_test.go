package rest_test

import (
	"context"
	"iter"
	"maps"
	"slices"

	"dormouse/agent"
)

func (t *fakeThread) headAt(rev uint64) string {
	var head agent.Head
	for _, e := range t.entries[:rev] {
		head = head.Next(e.ID, e.At, e.Kind, e.Payload, e.Refs)
	}
	return head.String()
}

func (f *fake) applyThread(s *fakeScope, op agent.Op, incarnation uint64) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.AppendThread:
		return f.append(s, o.Thread, o.Entries, o.ExpectedRev, o.Metadata, incarnation)
	case *agent.HibernateThread:
		stored := uint64(0)
		if t := s.threads[o.Thread]; t != nil {
			stored = t.Rev
		}
		if stored > o.Rev {
			return nil, &agent.Error{Code: agent.CodeRevRegression, Rev: stored, Head: s.threads[o.Thread].Head.String()}
		}
		return f.append(s, o.Thread, o.Entries[min(stored-o.FromSeq, uint64(len(o.Entries))):], nil, o.Metadata, incarnation)
	case *agent.DeleteThread:
		_, existed := s.threads[o.Thread]
		delete(s.threads, o.Thread)
		return &agent.DeleteResult{Existed: existed}, nil
	case *agent.CompactThread:
		t := s.threads[o.Thread]
		if t == nil {
			return nil, agent.Errorf(agent.CodeNotFound, "no thread")
		}
		t.Floor, t.Summary = o.BeforeSeq, o.Summary
		return &agent.ThreadResult{Thread: t.Thread}, nil
	case *agent.ForkThread:
		t := s.threads[o.Thread]
		if t == nil {
			return nil, agent.Errorf(agent.CodeNotFound, "no thread")
		}
		if s.threads[o.NewThread] != nil {
			return nil, agent.Errorf(agent.CodeAlreadyExists, "the thread %s exists", o.NewThread)
		}
		child := &fakeThread{Thread: t.Thread, entries: slices.Clone(t.entries)}
		child.ID, child.Incarnation, child.CreatedAt = o.NewThread, incarnation, f.now()
		child.ForkedFrom = &agent.ForkPoint{Thread: t.ID, Incarnation: t.Incarnation, Rev: t.Rev}
		s.threads[o.NewThread] = child
		return &agent.ThreadResult{Thread: child.Thread}, nil
	default:
		return f.applyClaim(s, op, incarnation)
	}
}

func (f *fake) append(s *fakeScope, id string, drafts []agent.Draft, expected *uint64, metadata agent.JSON, incarnation uint64) (agent.OpResult, *agent.Error) {
	t := s.threads[id]
	if t == nil {
		t = &fakeThread{Thread: agent.Thread{ID: id, Incarnation: incarnation, Metadata: agent.JSON("{}")}}
	}
	if expected != nil && *expected != t.Rev {
		return nil, &agent.Error{Code: agent.CodeConflict, Rev: t.Rev, Head: t.Head.String(), Detail: "the thread is elsewhere"}
	}
	s.threads[id] = t
	if t.Rev == 0 {
		t.CreatedAt = f.now()
		if metadata != nil {
			t.Metadata = metadata
		}
	}
	result := &agent.ThreadResult{}
	for _, d := range drafts {
		e := d.Entry(t.Incarnation, t.Rev, f.now())
		t.entries, t.Rev, t.Head = append(t.entries, e), t.Rev+1, t.Head.Next(e.ID, e.At, e.Kind, e.Payload, e.Refs)
		result.Entries = append(result.Entries, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	t.UpdatedAt = f.now()
	result.Thread = t.Thread
	return result, nil
}

func (f *fake) findThread(s *fakeScope, r agent.Read) (agent.Found, *agent.Error) {
	missing := agent.Errorf(agent.CodeNotFound, "there is no thread")
	switch q := r.(type) {
	case *agent.ListThreads:
		out := &agent.ThreadList{}
		keys, next := page(q.Page, slices.Sorted(maps.Keys(s.threads)))
		for _, k := range keys {
			out.Items = append(out.Items, s.threads[k].Thread)
		}
		out.Next = next
		return out, nil
	case *agent.GetThread:
		if t := s.threads[q.Thread]; t != nil {
			meta := t.Thread
			return &meta, nil
		}
	case *agent.VerifyThread:
		if t := s.threads[q.Thread]; t != nil {
			return &agent.Verified{OK: true, Rev: t.Rev, Head: t.Head}, nil
		}
	case *agent.GetEntry:
		if t := s.threads[q.Thread]; t != nil {
			for _, e := range t.entries {
				if e.ID == q.Entry {
					return &e, nil
				}
			}
		}
	case *agent.LoadEntries:
		if t := s.threads[q.Thread]; t != nil {
			return t.load(q), nil
		}
	default:
		return f.findClaim(s, r)
	}
	return nil, missing
}

func (t *fakeThread) load(q *agent.LoadEntries) *agent.Entries {
	out := &agent.Entries{Thread: t.Thread}
	entries := t.entries
	if q.AtRev != nil {
		entries, out.Thread.Rev = entries[:*q.AtRev], *q.AtRev
	}
	if len(q.Kinds) > 0 {
		entries = agent.OfKind(entries, q.Kinds...)
	}
	if q.Tail > 0 {
		entries = entries[max(0, len(entries)-int(q.Tail)):]
	}
	for _, e := range entries {
		switch {
		case e.Seq < max(q.From, t.Floor), q.To != nil && e.Seq > *q.To:
		case q.Limit > 0 && uint64(len(out.Items)) == q.Limit:
			next := e.Seq
			out.Next = &next
			return out
		default:
			out.Items = append(out.Items, e)
		}
	}
	return out
}

func (f *fake) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		f.mu.Lock()
		f.lastWatch = w
		f.mu.Unlock()
		if f.onWatch != nil {
			f.onWatch(yield)
			return
		}
		if w.Claim != "" {
			f.watchClaim(ctx, w, yield)
			return
		}
		for from := w.From; ; {
			f.mu.Lock()
			t, changed := f.scope(cmpScope(w.Scope)).threads[w.Thread], f.changed
			var fresh []agent.Entry
			floor := uint64(0)
			if t != nil {
				floor = t.Floor
				fresh = slices.Clone(t.entries[min(from, t.Rev):])
			}
			f.mu.Unlock()
			switch {
			case t == nil:
				yield(agent.Event{Kind: agent.EventDeleted}, nil)
				return
			case w.Incarnation != 0 && w.Incarnation != t.Incarnation:
				yield(agent.Event{Kind: agent.EventDeleted}, nil)
				return
			case from < floor:
				yield(agent.Event{Kind: agent.EventCompacted, Floor: floor}, nil)
				return
			}
			for _, e := range fresh {
				if !yield(agent.Event{Kind: agent.EventEntry, Entry: e}, nil) {
					return
				}
				from = e.Seq + 1
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

func cmpScope(name string) string {
	if name == "" {
		return agent.DefaultScope
	}
	return name
}
