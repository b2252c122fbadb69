package fsm_test

import (
	"bytes"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// model is a simple reference model of the state machine: one scope, everything in maps, copied
// whole before each commit. It has no rows. It takes incarnations from the machine's answers, and
// checks that they increase.
type model struct {
	now         int64
	tick        uint64
	newest      uint64 // incarnation or epoch
	values      map[string]agent.Value
	checkpoints map[string][]agent.Checkpoint // all revisions, oldest first
	threads     map[string]modelThread
	claims      map[string]modelClaim
	memories    map[string]agent.Memory // :: agent/id → the memory
	written     []string                // ids of memories, the last written last
	managers    map[string]agent.Manager
	sessions    memstore.SessionModel
	sealed      map[string]int64 // :: noun/id → until
	answers     map[uint64]agent.Decided
	low         uint64
	deletions   map[string]uint64 // :: id → how many keys the deletion by prefix has removed in the end

	countsWhole     bool // the scope's bytes count metadata and summaries, as from fsm/txn.WholeBytesLevel on
	repeatsMetadata bool // results of ops on threads have the metadata, as below fsm/txn.OutcomeLevel
}

type modelThread struct {
	agent.Thread
	entries []agent.Entry // all, including compacted ones
}

func newModel() *model {
	return &model{
		values: map[string]agent.Value{}, checkpoints: map[string][]agent.Checkpoint{}, threads: map[string]modelThread{},
		claims: map[string]modelClaim{}, memories: map[string]agent.Memory{}, sealed: map[string]int64{}, answers: map[uint64]agent.Decided{},
		sessions: memstore.NewSessionModel(), managers: map[string]agent.Manager{},
		deletions: map[string]uint64{},
	}
}

func (m *model) clone() *model {
	c := *m
	c.values, c.checkpoints, c.threads = maps.Clone(m.values), maps.Clone(m.checkpoints), maps.Clone(m.threads)
	c.memories, c.written = maps.Clone(m.memories), slices.Clone(m.written)
	c.managers, c.sessions = maps.Clone(m.managers), m.sessions.Clone()
	c.claims, c.sealed, c.answers = maps.Clone(m.claims), maps.Clone(m.sealed), maps.Clone(m.answers)
	c.deletions = maps.Clone(m.deletions)
	return &c
}

// headAt returns a thread's head at a rev.
func (t modelThread) headAt(rev uint64) agent.Head {
	var h agent.Head
	for _, e := range t.entries[:rev] {
		h = h.After(&e)
	}
	return h
}

// expire removes what has expired.
func (m *model) expire(now int64) {
	m.now = now
	maps.DeleteFunc(m.values, func(_ string, v agent.Value) bool { return v.ExpiresAt != 0 && v.ExpiresAt <= now })
	maps.DeleteFunc(m.memories, func(_ string, v agent.Memory) bool { return v.ExpiresAt != 0 && v.ExpiresAt <= now })
	maps.DeleteFunc(m.checkpoints, func(_ string, c []agent.Checkpoint) bool {
		at := c[len(c)-1].ExpiresAt
		return at != 0 && at <= now
	})
	m.sessions.Pass(sessionHost{model: m})
}

// enter checks a write to an id: it must not be sealed, and the incarnation must match.
func (m *model) enter(id string, want, current uint64) agent.Code {
	switch {
	case current == 0 && m.sealed[id] > m.now, want != 0 && want != current:
		return agent.CodeDeleted
	}
	return ""
}

// born checks the incarnation of something new.
func (m *model) born(incarnation uint64) uint64 {
	if incarnation <= m.newest {
		panic("an incarnation or epoch was used before")
	}
	m.newest = incarnation
	return incarnation
}

func (m *model) seal(id string, millis int64) {
	if millis > 0 {
		m.sealed[id] = max(m.sealed[id], m.now+millis)
	}
}

func revisionIs(want *uint64, have uint64) bool { return want == nil || *want == have }

func (m *model) putValue(op *agent.PutValue, got agent.OpResult) (agent.OpResult, agent.Code) {
	v, found := m.values[op.Key]
	if code := m.enter("v/"+op.Key, op.IfIncarnation, v.Incarnation); code != "" {
		return nil, code
	}
	if !revisionIs(op.IfRevision, v.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	if op.SkipExisting && found {
		return &agent.ValueResult{
			Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, Skipped: true,
		}, ""
	}
	if want := op.IfBytes; want != nil && ((*want == nil) == found || found && !bytes.Equal(*want, v.Bytes)) {
		return nil, agent.CodeRevisionMismatch
	}
	if !found {
		v = agent.Value{Key: op.Key, CreatedAt: m.now}
		if got, ok := got.(*agent.ValueResult); ok {
			v.Incarnation = m.born(got.Incarnation)
		}
	}
	v.Revision++
	v.Bytes, v.ContentType, v.UpdatedAt, v.ExpiresAt = op.Bytes, op.ContentType, m.now, 0
	if op.TTL > 0 {
		v.ExpiresAt = m.now + op.TTL.Milliseconds()
	}
	m.values[op.Key] = v
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, ""
}

func (m *model) deleteValue(op *agent.DeleteValue) (agent.OpResult, agent.Code) {
	v, found := m.values[op.Key]
	if op.IfIncarnation != 0 && op.IfIncarnation != v.Incarnation {
		return nil, agent.CodeDeleted
	}
	if !revisionIs(op.IfRevision, v.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	delete(m.values, op.Key)
	m.seal("v/"+op.Key, op.Seal.Milliseconds())
	return &agent.DeleteResult{Existed: found, Incarnation: v.Incarnation}, ""
}

// point returns a pointer with all fields, or the code why it does not match.
func (m *model) point(p *agent.Pointer) (*agent.Pointer, agent.Code) {
	if p == nil {
		return nil, ""
	}
	t, found := m.threads[p.Thread]
	switch {
	case !found && p.Rev == 0 && p.Incarnation == 0:
		return &agent.Pointer{Thread: p.Thread, Head: agent.Head{}.String()}, ""
	case !found:
		return nil, agent.CodeMissingThread
	case p.Incarnation != 0 && p.Incarnation != t.Incarnation, p.Rev > t.Rev:
		return nil, agent.CodeThreadMismatch
	case p.Rev < t.Floor && p.Rev != 0:
		return nil, agent.CodeCompacted
	}
	return &agent.Pointer{Thread: p.Thread, Rev: p.Rev, Head: t.headAt(p.Rev).String(), Incarnation: t.Incarnation}, ""
}

func (m *model) current(key string) agent.Checkpoint {
	if all := m.checkpoints[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	return agent.Checkpoint{}
}

func (m *model) putCheckpoint(op *agent.PutCheckpoint, got agent.OpResult) (agent.OpResult, agent.Code) {
	old := m.current(op.Key)
	if code := m.enter("c/"+op.Key, op.IfIncarnation, old.Incarnation); code != "" {
		return nil, code
	}
	if !revisionIs(op.IfRevision, old.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	if op.SkipExisting && old.Revision > 0 {
		return &agent.CheckpointResult{
			Key: old.Key, Incarnation: old.Incarnation, Revision: old.Revision, CreatedAt: old.CreatedAt, UpdatedAt: old.UpdatedAt,
			Thread: old.Thread, Skipped: true,
		}, ""
	}
	pointer, code := m.point(op.Thread)
	if code != "" {
		return nil, code
	}
	next := agent.Checkpoint{
		Key: op.Key, Version: max(op.Version, 1), State: op.State, Thread: pointer, Lifecycle: op.Lifecycle, Metadata: op.Metadata,
	}
	if op.TTL > 0 {
		next.ExpiresAt = m.now + op.TTL.Milliseconds()
	}
	return m.storeCheckpoint(old, next, got), ""
}

func (m *model) storeCheckpoint(old, next agent.Checkpoint, got agent.OpResult) agent.OpResult {
	next.Incarnation, next.Revision, next.CreatedAt, next.UpdatedAt = old.Incarnation, old.Revision+1, old.CreatedAt, m.now
	if old.Revision == 0 {
		next.CreatedAt = m.now
		if got, ok := got.(*agent.CheckpointResult); ok {
			next.Incarnation = m.born(got.Incarnation)
		}
	}
	m.checkpoints[next.Key] = append(slices.Clone(m.checkpoints[next.Key]), next)
	return &agent.CheckpointResult{
		Key: next.Key, Incarnation: next.Incarnation, Revision: next.Revision,
		CreatedAt: next.CreatedAt, UpdatedAt: next.UpdatedAt, Thread: next.Thread,
	}
}

func (m *model) patchCheckpoint(op *agent.PatchCheckpoint, got agent.OpResult) (agent.OpResult, agent.Code) {
	old := m.current(op.Key)
	if code := m.enter("c/"+op.Key, op.IfIncarnation, old.Incarnation); code != "" {
		return nil, code
	}
	if old.Revision == 0 && !op.Upsert {
		return nil, agent.CodeNotFound
	}
	if !revisionIs(op.IfRevision, old.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	next := old
	if old.Revision == 0 {
		next = agent.Checkpoint{Key: op.Key, Version: 1, State: agent.JSON(`{}`), Metadata: agent.JSON(`{}`)}
	}
	next.State, _ = op.Apply(next.State)
	return m.storeCheckpoint(old, next, got), ""
}

func (m *model) deleteCheckpoint(op *agent.DeleteCheckpoint) (agent.OpResult, agent.Code) {
	old := m.current(op.Key)
	if op.IfIncarnation != 0 && op.IfIncarnation != old.Incarnation {
		return nil, agent.CodeDeleted
	}
	if !revisionIs(op.IfRevision, old.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	delete(m.checkpoints, op.Key)
	m.seal("c/"+op.Key, op.Seal.Milliseconds())
	return &agent.DeleteResult{Existed: old.Revision > 0, Incarnation: old.Incarnation}, ""
}
