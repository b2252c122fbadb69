package fsm_test

import (
	"math"
	"slices"

	"dormouse/agent"
)

// untold is the incarnation of a thread that begins in a commit that the machine refused, which
// tells none. It is not 0: a pointer to a thread that does not exist has incarnation 0.
const untold = math.MaxUint64

// entered returns a thread for a write, and creates it if it is missing.
func (m *model) entered(id string, got agent.OpResult) modelThread {
	t, found := m.threads[id]
	if !found {
		t = modelThread{Thread: agent.Thread{ID: id, Incarnation: untold, Metadata: agent.JSON(`{}`), CreatedAt: m.now}}
		if got, ok := got.(*agent.ThreadResult); ok {
			t.Incarnation = m.born(got.Thread.Incarnation)
		}
	}
	return t
}

func (m *model) appendThread(op *agent.AppendThread, got agent.OpResult) (agent.OpResult, agent.Code) {
	old := m.threads[op.Thread]
	if code := m.enter("t/"+op.Thread, op.IfIncarnation, old.Incarnation); code != "" {
		return nil, code
	}
	if !revisionIs(op.ExpectedRev, old.Rev) || op.ExpectedHead != "" && op.ExpectedHead != old.headAt(old.Rev).String() {
		return nil, agent.CodeConflict
	}
	if _, found := m.threads[op.Thread]; op.CreateOnly && found {
		return nil, agent.CodeAlreadyExists
	}
	return m.extend(m.entered(op.Thread, got), op.Entries, op.Metadata, true, op.SkipExisting)
}

func (m *model) extend(t modelThread, drafts []agent.Draft, metadata agent.JSON, equal, any bool) (agent.OpResult, agent.Code) {
	if t.Rev == 0 {
		t.CreatedAt = m.now
		if metadata != nil {
			t.Metadata = metadata
		}
	}
	var stamps []agent.EntryStamp
	for _, d := range drafts {
		e := d.Entry(t.Incarnation, t.Rev, m.now)
		known := slices.IndexFunc(t.entries, func(have agent.Entry) bool { return have.Seq >= t.Floor && have.ID == e.ID })
		if known >= 0 {
			if e = t.entries[known]; !any && (!equal || !d.SameContent(e)) {
				return nil, agent.CodeDuplicateEntry
			}
		} else {
			t.entries = append(slices.Clone(t.entries), e)
			t.Rev++
		}
		stamps = append(stamps, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At, Skipped: any && known >= 0})
	}
	t.UpdatedAt = m.now
	return m.storeThread(t, stamps), ""
}

// storeThread answers like thread.Store, without the summary and the metadata, which only reads give.
func (m *model) storeThread(t modelThread, stamps []agent.EntryStamp) *agent.ThreadResult {
	t.Head = t.headAt(t.Rev)
	m.threads[t.ID] = t
	t.Summary = nil
	if !m.repeatsMetadata {
		t.Metadata = nil
	}
	return &agent.ThreadResult{Thread: t.Thread, Entries: stamps}
}

func (m *model) hibernateThread(op *agent.HibernateThread, got agent.OpResult) (agent.OpResult, agent.Code) {
	old := m.threads[op.Thread]
	if code := m.enter("t/"+op.Thread, op.IfIncarnation, old.Incarnation); code != "" {
		return nil, code
	}
	switch {
	case old.Rev > op.Rev:
		return nil, agent.CodeRevRegression
	case op.FromSeq > old.Rev:
		return nil, agent.CodeConflict
	case op.FromSeq < old.Floor && len(op.Entries) > 0:
		return nil, agent.CodeCompacted // the generator gives no times, so the chain cannot be checked
	}
	t := m.entered(op.Thread, got)
	var stamps []agent.EntryStamp
	for i, d := range op.Entries[:t.Rev-op.FromSeq] {
		e := t.entries[op.FromSeq+uint64(i)]
		if !d.SameContent(e) {
			return nil, agent.CodeConflict
		}
		stamps = append(stamps, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	result, code := m.extend(t, op.Entries[t.Rev-op.FromSeq:], op.Metadata, false, false)
	if code != "" {
		return nil, code
	}
	r := result.(*agent.ThreadResult)
	r.Entries = append(stamps, r.Entries...)
	return r, ""
}

func (m *model) deleteThread(op *agent.DeleteThread) (agent.OpResult, agent.Code) {
	old, found := m.threads[op.Thread]
	if op.IfIncarnation != 0 && op.IfIncarnation != old.Incarnation {
		return nil, agent.CodeDeleted
	}
	delete(m.threads, op.Thread)
	m.seal("t/"+op.Thread, op.Seal.Milliseconds())
	return &agent.DeleteResult{Existed: found, Incarnation: old.Incarnation}, ""
}

func (m *model) forkThread(op *agent.ForkThread, got agent.OpResult) (agent.OpResult, agent.Code) {
	t, found := m.threads[op.Thread]
	if code := m.enter("t/"+op.Thread, op.IfIncarnation, t.Incarnation); code != "" {
		return nil, code
	}
	if !found {
		return nil, agent.CodeNotFound
	}
	if _, there := m.threads[op.NewThread]; there {
		return nil, agent.CodeAlreadyExists
	}
	if code := m.enter("t/"+op.NewThread, 0, 0); code != "" {
		return nil, code
	}
	at := t.Rev
	if op.AtRev != nil {
		at = *op.AtRev
	}
	switch {
	case at > t.Rev:
		return nil, agent.CodeConflict
	case at < t.Floor:
		return nil, agent.CodeCompacted
	}
	fork := m.entered(op.NewThread, got)
	fork.Rev, fork.entries = at, slices.Clip(t.entries[:at])
	fork.Floor, fork.Metadata, fork.Summary, fork.UpdatedAt = t.Floor, t.Metadata, t.Summary, m.now
	fork.ForkedFrom = &agent.ForkPoint{Thread: t.ID, Incarnation: t.Incarnation, Rev: at}
	result := m.storeThread(fork, nil)
	result.Thread.Metadata = fork.Metadata
	return result, ""
}

func (m *model) compactThread(op *agent.CompactThread) (agent.OpResult, agent.Code) {
	t, found := m.threads[op.Thread]
	if code := m.enter("t/"+op.Thread, op.IfIncarnation, t.Incarnation); code != "" {
		return nil, code
	}
	if !found {
		return nil, agent.CodeNotFound
	}
	if op.BeforeSeq > t.Rev || op.BeforeSeq > t.Floor && m.pinnedBelow(t, op.BeforeSeq) {
		return nil, agent.CodeConflict
	}
	if op.BeforeSeq >= t.Floor && op.Summary != nil {
		t.Summary = op.Summary
	}
	t.Floor = max(t.Floor, op.BeforeSeq)
	return m.storeThread(t, nil), ""
}

// pinnedBelow reports whether a live checkpoint or a fork points below a seq.
func (m *model) pinnedBelow(t modelThread, before uint64) bool {
	for key := range m.checkpoints {
		p := m.current(key).Thread
		if p != nil && p.Thread == t.ID && p.Incarnation == t.Incarnation && p.Rev < before {
			return true
		}
	}
	for _, f := range m.threads {
		if rev, reads := m.readsOf(f, t); reads && rev < before {
			return true
		}
	}
	return false
}

// readsOf returns the rev up to which f reads entries that t itself appended and f has not
// compacted. It follows forks of forks, deleted or not.
func (m *model) readsOf(f, t modelThread) (rev uint64, reads bool) {
	if f.ID == t.ID {
		return 0, false
	}
	for _, e := range f.entries[f.Floor:] {
		if t.appended(e) {
			rev, reads = e.Seq+1, true
		}
	}
	return rev, reads
}

// appended reports whether t itself appended the entry. It compares addresses, since the generator
// makes every payload separately.
func (t modelThread) appended(e agent.Entry) bool {
	from := uint64(0)
	if t.ForkedFrom != nil {
		from = t.ForkedFrom.Rev
	}
	return e.Seq >= from && e.Seq < t.Rev && &t.entries[e.Seq].Payload[0] == &e.Payload[0]
}
