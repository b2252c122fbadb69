package memstore

import "dormouse/agent"

// checkpoint returns the current revision of a checkpoint, nil if there is none.
func (s *scope) checkpoint(key string) *agent.Checkpoint {
	if kept := s.checkpoints[key]; len(kept) > 0 {
		return kept[0]
	}
	return nil
}

// storeCheckpoint stores c as the newest revision, and drops the oldest.
func (s *scope) storeCheckpoint(c agent.Checkpoint) *agent.CheckpointResult {
	history := int(s.Policy.History)
	if history == 0 {
		history = agent.HistoryDefault
	}
	if old := s.checkpoint(c.Key); old != nil && s.Policy.HistoryAgeMS > 0 {
		s.replaced[old] = s.now + int64(s.Policy.HistoryAgeMS)
	}
	kept := append([]*agent.Checkpoint{&c}, s.checkpoints[c.Key]...)
	s.checkpoints[c.Key] = kept[:min(len(kept), history)]
	s.forgetReplaced()
	return checkpointResult(&c)
}

func checkpointResult(c *agent.Checkpoint) *agent.CheckpointResult {
	return &agent.CheckpointResult{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread,
	}
}

func (st *Store) putCheckpoint(s *scope, o *agent.PutCheckpoint) (*agent.CheckpointResult, *agent.Error) {
	c := agent.Checkpoint{
		Key: o.Key, Version: max(o.Version, 1), State: o.State, Lifecycle: o.Lifecycle, Metadata: o.Metadata,
		CreatedAt: s.now, UpdatedAt: s.now, ExpiresAt: s.expiry(o.TTL),
	}
	old := s.checkpoint(o.Key)
	if old != nil {
		c.Incarnation, c.Revision, c.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
	}
	if e := first(s.alive("checkpoint", o.Key, o.IfIncarnation, c.Incarnation), atRevision(o.IfRevision, c.Revision)); e != nil {
		return nil, e
	}
	if o.SkipExisting && old != nil {
		kept := checkpointResult(old)
		kept.Skipped = true
		return kept, nil
	}
	if o.Thread != nil {
		pointer, e := pointTo(s, *o.Thread)
		if e != nil {
			return nil, e
		}
		c.Thread = pointer
	}
	if old == nil {
		c.Incarnation = st.newIncarnation()
	}
	c.Revision++
	return s.storeCheckpoint(c), nil
}

func (st *Store) patchCheckpoint(s *scope, o *agent.PatchCheckpoint) (agent.OpResult, *agent.Error) {
	old := s.checkpoint(o.Key)
	if old == nil {
		if e := s.alive("checkpoint", o.Key, o.IfIncarnation, 0); e != nil {
			return nil, e
		}
		if !o.Upsert {
			return nil, notFound("checkpoint", o.Key)
		}
		old = &agent.Checkpoint{Key: o.Key, Version: 1, State: agent.JSON("{}"), Metadata: agent.JSON("{}"), CreatedAt: s.now}
	}
	if e := first(s.alive("checkpoint", o.Key, o.IfIncarnation, old.Incarnation), atRevision(o.IfRevision, old.Revision)); e != nil {
		return nil, e
	}
	state, err := o.Apply(old.State)
	if err != nil {
		return nil, agent.Invalid("patch", "%v", err)
	}
	c := *old
	if size := len(state) + len(c.Metadata); size > agent.CheckpointBytesMax {
		return nil, agent.TooLarge("state", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	c.State, c.UpdatedAt = state, s.now
	if c.Revision == 0 {
		c.Incarnation = st.newIncarnation()
	}
	c.Revision++
	return s.storeCheckpoint(c), nil
}

func (s *scope) deleteCheckpoint(o *agent.DeleteCheckpoint) (agent.OpResult, *agent.Error) {
	old, incarnation, revision := s.checkpoint(o.Key), uint64(0), uint64(0)
	if old != nil {
		incarnation, revision = old.Incarnation, old.Revision
	}
	if e := first(sameIncarnation("checkpoint", o.Key, o.IfIncarnation, incarnation), atRevision(o.IfRevision, revision)); e != nil {
		return nil, e
	}
	delete(s.checkpoints, o.Key)
	s.forgetReplaced()
	return s.removed("checkpoint", o.Key, incarnation, o.Seal), nil
}

// pointTo returns a pointer of a checkpoint, whole. One at rev 0 can be to a thread that does not exist.
func pointTo(s *scope, p agent.Pointer) (*agent.Pointer, *agent.Error) {
	start, t := agent.Head{}.String(), s.threads[p.Thread]
	if t == nil && p.Rev == 0 && p.Incarnation == 0 && (p.Head == "" || p.Head == start) {
		return &agent.Pointer{Thread: p.Thread, Head: start}, nil
	}
	if e := t.holds(p); e != nil {
		return nil, e
	}
	return &agent.Pointer{Thread: t.ID, Rev: p.Rev, Head: t.asOf(p.Rev).Head.String(), Incarnation: t.Incarnation}, nil
}

// revision returns a kept revision of a checkpoint; 0 means the current one.
func (s *scope) revision(key string, revision uint64) (*agent.Checkpoint, *agent.Error) {
	kept := s.checkpoints[key]
	for _, c := range kept {
		if revision == 0 || c.Revision == revision {
			return c, nil
		}
	}
	e := notFound("checkpoint", key)
	if len(kept) > 0 {
		e.Revision, e.Floor = kept[0].Revision, kept[len(kept)-1].Revision
	}
	return nil, e
}

func checkpointRow(c *agent.Checkpoint) agent.CheckpointRow {
	return agent.CheckpointRow{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Bytes: uint64(len(c.State) + len(c.Metadata)),
		Thread: c.Thread, Lifecycle: c.Lifecycle, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

func (s *scope) listCheckpoints(q *agent.ListCheckpoints) *agent.CheckpointList {
	keys, next := sortedAt(s.checkpoints, q.Page, func(kept []*agent.Checkpoint) int64 { return kept[0].UpdatedAt },
		q.Where, func(kept []*agent.Checkpoint) agent.JSON { return kept[0].Metadata })
	list := &agent.CheckpointList{Next: next}
	for _, key := range keys {
		c := s.checkpoint(key)
		row := checkpointRow(c)
		if q.Body {
			row.State, row.Metadata = c.State, c.Metadata
		}
		list.Items = append(list.Items, row)
	}
	return list
}

func (s *scope) history(q *agent.CheckpointHistory) (agent.Found, *agent.Error) {
	kept := s.checkpoints[q.Key]
	if len(kept) == 0 {
		return nil, notFound("checkpoint", q.Key)
	}
	list := &agent.CheckpointList{}
	for _, c := range kept {
		list.Items = append(list.Items, checkpointRow(c))
	}
	return list, nil
}

// thaw reads a checkpoint with the entries that it points to.
func (s *scope) thaw(q *agent.Thaw) (agent.Found, *agent.Error) {
	c, e := s.revision(q.Key, q.Revision)
	if e != nil {
		return nil, e
	}
	thawed := &agent.Thawed{Checkpoint: *c}
	if c.Thread == nil {
		return thawed, nil
	}
	t := s.threads[c.Thread.Thread]
	if t == nil && c.Thread.Rev == 0 && c.Thread.Incarnation == 0 {
		thawed.Thread = &agent.Thread{ID: c.Thread.Thread, Metadata: agent.JSON("{}")}
		return thawed, nil
	}
	if e := t.holds(*c.Thread); e != nil {
		return nil, e
	}
	at := t.asOf(c.Thread.Rev)
	thawed.Thread, thawed.Entries, thawed.Ahead = &at.Thread, at.entries, t.Rev-at.Rev
	if q.Tail != nil {
		thawed.Entries = at.entries[len(at.entries)-min(int(*q.Tail), len(at.entries)):]
	}
	return thawed, nil
}
