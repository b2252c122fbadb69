package memstore

import (
	"slices"

	"dormouse/agent"
)

// thread is a thread from its floor on: heads[i] is the head before entries[i].
type thread struct {
	agent.Thread
	entries []agent.Entry
	origins []uint64     // of each entry: the incarnation that it was appended to
	heads   []agent.Head // one more than entries
}

// openThread returns a working copy of a thread, or an empty one.
func (s *scope) openThread(id string, ifIncarnation uint64) (*thread, *agent.Error) {
	t := &thread{Thread: agent.Thread{ID: id, CreatedAt: s.now, Metadata: agent.JSON("{}")}, heads: []agent.Head{{}}}
	if old := s.threads[id]; old != nil {
		c := *old
		t = &c
	}
	return t, s.alive("thread", id, ifIncarnation, t.Incarnation)
}

// holds refuses a pointer that does not match t, which may be nil.
func (t *thread) holds(p agent.Pointer) *agent.Error {
	if t == nil {
		e := agent.Errorf(agent.CodeMissingThread, "there is no thread %q", p.Thread)
		e.Thread, e.Head = p.Thread, agent.Head{}.String()
		return e
	}
	var e *agent.Error
	switch {
	case p.Rev > t.Rev || (p.Incarnation != 0 && p.Incarnation != t.Incarnation):
		e = agent.Errorf(agent.CodeThreadMismatch, "thread %q has another history", p.Thread)
	case p.Rev == 0 && (p.Head == "" || p.Head == agent.Head{}.String()): // also below the floor
		return nil
	case p.Rev < t.Floor:
		e = agent.Errorf(agent.CodeCompacted, "rev %d of thread %q is below its floor", p.Rev, p.Thread)
		e.Floor = t.Floor
	case p.Head != "" && p.Head != t.heads[p.Rev-t.Floor].String():
		e = agent.Errorf(agent.CodeThreadMismatch, "thread %q has another head at that rev", p.Thread)
	default:
		return nil
	}
	e.Thread, e.Rev, e.Head = p.Thread, t.Rev, t.Head.String()
	return e
}

func (t *thread) conflict(code agent.Code) *agent.Error {
	e := agent.Errorf(code, "thread %q is at rev %d", t.ID, t.Rev)
	e.Thread, e.Rev, e.Head, e.Floor = t.ID, t.Rev, t.Head.String(), t.Floor
	return e
}

// addEntries appends drafts to a working copy and stores it. With skip it keeps entries whose id exists.
func (st *Store) addEntries(s *scope, t *thread, drafts []agent.Draft, metadata agent.JSON, skip bool) (*agent.ThreadResult, *agent.Error) {
	if t.Incarnation == 0 {
		t.Incarnation = st.newIncarnation()
	}
	if t.Rev == 0 && metadata != nil {
		t.Metadata = metadata
	}
	var stamps []agent.EntryStamp
	for _, d := range drafts {
		e := d.Entry(t.Incarnation, t.Rev, s.now)
		if at := slices.IndexFunc(t.entries, func(old agent.Entry) bool { return old.ID == e.ID }); at >= 0 {
			old := t.entries[at]
			if !skip && !d.SameContent(old) {
				refusal := agent.Errorf(agent.CodeDuplicateEntry, "there is another entry %q", d.ID)
				refusal.Seq = old.Seq
				return nil, refusal
			}
			stamps = append(stamps, agent.EntryStamp{ID: old.ID, Seq: old.Seq, At: old.At, Skipped: skip})
			continue
		}
		t.Head = t.Head.After(&e)
		t.entries = append(slices.Clip(t.entries), e)
		t.origins = append(slices.Clip(t.origins), t.Incarnation)
		t.heads = append(slices.Clip(t.heads), t.Head)
		t.Rev++
		stamps = append(stamps, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	t.UpdatedAt = s.now
	s.threads[t.ID] = t
	return t.result(stamps), nil
}

// result returns the result of a write, without what only reads return.
func (t *thread) result(stamps []agent.EntryStamp) *agent.ThreadResult {
	written := t.Thread
	written.Metadata, written.Summary = nil, nil
	return &agent.ThreadResult{Thread: written, Entries: stamps}
}

func (st *Store) appendThread(s *scope, o *agent.AppendThread) (agent.OpResult, *agent.Error) {
	t, err := s.openThread(o.Thread, o.IfIncarnation)
	if err != nil {
		return nil, err
	}
	if (o.ExpectedRev != nil && *o.ExpectedRev != t.Rev) || (o.ExpectedHead != "" && o.ExpectedHead != t.Head.String()) {
		return nil, t.conflict(agent.CodeConflict)
	}
	if o.CreateOnly && t.Incarnation != 0 {
		return nil, t.conflict(agent.CodeAlreadyExists)
	}
	return opResult(st.addEntries(s, t, o.Entries, o.Metadata, o.SkipExisting))
}

func (st *Store) hibernateThread(s *scope, o *agent.HibernateThread) (agent.OpResult, *agent.Error) {
	t, err := s.openThread(o.Thread, o.IfIncarnation)
	switch {
	case err != nil:
		return nil, err
	case t.Rev > o.Rev:
		return nil, t.conflict(agent.CodeRevRegression)
	case t.Rev < o.FromSeq:
		return nil, t.conflict(agent.CodeConflict)
	}
	var stamps []agent.EntryStamp
	overlap := t.Rev - o.FromSeq
	for i, d := range o.Entries[:overlap] {
		seq := o.FromSeq + uint64(i)
		if seq < t.Floor {
			return nil, t.conflict(agent.CodeCompacted)
		}
		e := t.entries[seq-t.Floor]
		if !d.SameContent(e) {
			return nil, t.conflict(agent.CodeConflict)
		}
		stamps = append(stamps, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	result, err := st.addEntries(s, t, o.Entries[overlap:], o.Metadata, false)
	if err != nil {
		return nil, err
	}
	result.Entries = append(stamps, result.Entries...)
	return result, nil
}

func (s *scope) deleteThread(o *agent.DeleteThread) (agent.OpResult, *agent.Error) {
	incarnation := uint64(0)
	if old := s.threads[o.Thread]; old != nil {
		incarnation = old.Incarnation
	}
	if err := sameIncarnation("thread", o.Thread, o.IfIncarnation, incarnation); err != nil {
		return nil, err
	}
	delete(s.threads, o.Thread)
	return s.removed("thread", o.Thread, incarnation, o.Seal), nil
}

// reads returns the seq below which a thread reads entries of an incarnation; 0 if it reads none.
func (t *thread) reads(incarnation uint64) uint64 {
	for i := len(t.origins) - 1; i >= 0; i-- {
		if t.origins[i] == incarnation {
			return t.entries[i].Seq + 1
		}
	}
	return 0
}

func (s *scope) compactThread(o *agent.CompactThread) (agent.OpResult, *agent.Error) {
	t, err := s.openThread(o.Thread, o.IfIncarnation)
	if err != nil {
		return nil, err
	}
	if t.Incarnation == 0 {
		return nil, notFound("thread", o.Thread)
	}
	pinned := o.BeforeSeq > t.Rev
	for _, kept := range s.checkpoints {
		p := kept[0].Thread
		pinned = pinned || (p != nil && p.Thread == t.ID && p.Incarnation == t.Incarnation && p.Rev < o.BeforeSeq)
	}
	for id, fork := range s.threads {
		to := fork.reads(t.Incarnation)
		pinned = pinned || id != t.ID && to > 0 && to < o.BeforeSeq
	}
	if pinned {
		return nil, t.conflict(agent.CodeConflict)
	}
	if o.BeforeSeq > t.Floor {
		forget := o.BeforeSeq - t.Floor
		t.entries, t.origins, t.heads, t.Floor = t.entries[forget:], t.origins[forget:], t.heads[forget:], o.BeforeSeq
	}
	if o.Summary != nil && o.BeforeSeq == t.Floor {
		t.Summary = o.Summary
	}
	s.threads[t.ID] = t
	return t.result(nil), nil
}

func (st *Store) forkThread(s *scope, o *agent.ForkThread) (*agent.ThreadResult, *agent.Error) {
	t, err := s.openThread(o.Thread, o.IfIncarnation)
	if err != nil {
		return nil, err
	}
	at := t.Rev
	if o.AtRev != nil {
		at = *o.AtRev
	}
	fork, err := s.openThread(o.NewThread, 0)
	switch {
	case err != nil:
		return nil, err
	case t.Incarnation == 0:
		return nil, notFound("thread", o.Thread)
	case fork.Incarnation != 0:
		return nil, agent.Errorf(agent.CodeAlreadyExists, "there is a thread %q already", o.NewThread)
	case at > t.Rev:
		return nil, t.conflict(agent.CodeConflict)
	case at < t.Floor:
		return nil, t.conflict(agent.CodeCompacted)
	}
	n := at - t.Floor
	fork.Incarnation, fork.UpdatedAt = st.newIncarnation(), s.now
	fork.Rev, fork.Head, fork.Floor, fork.Summary, fork.Metadata = at, t.heads[n], t.Floor, t.Summary, t.Metadata
	fork.entries, fork.origins, fork.heads = t.entries[:n:n], t.origins[:n:n], t.heads[:n+1:n+1]
	fork.ForkedFrom = &agent.ForkPoint{Thread: t.ID, Incarnation: t.Incarnation, Rev: at}
	s.threads[fork.ID] = fork
	result := fork.result(nil)
	result.Thread.Metadata = fork.Metadata
	return result, nil
}
