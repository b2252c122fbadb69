package checkpoint

import (
	"encoding/hex"
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	logpb "dormouse/proto/log"
)

// Ops are the ops on checkpoints.
var Ops = []txn.Op{txn.OpOf(Put), txn.OpOf(Patch), txn.OpOf(Delete)}

// Reads are the reads of checkpoints.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List), txn.ReadOf(History)}

// Load returns the row of the checkpoint under a key, or nil.
func Load(c *txn.Tx, key string) (*logpb.CheckpointRow, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindCheckpoint, c.Scope, key))
	if err != nil || raw == nil {
		return nil, err
	}
	return command.DecodeCheckpointRow(key, raw)
}

// Live returns the checkpoint under a key, or nil. It first removes one that has expired or is deleted
// by prefix.
func Live(c *txn.Tx, key string) (*logpb.CheckpointRow, error) {
	if err := agent.ValidKey("key", key); err != nil {
		return nil, err
	}
	row, err := Load(c, key)
	if err != nil || row == nil {
		return nil, err
	}
	if c.Gone(kv.KindCheckpoint, key, row) {
		return nil, dropGone(c, key, row)
	}
	return row, nil
}

// EnterCheckpoint returns the checkpoint under a key for a write that may create it: nil if there
// is none.
func EnterCheckpoint(c *txn.Tx, key string, ifIncarnation uint64, ifRevision *uint64) (*logpb.CheckpointRow, error) {
	old, err := Live(c, key)
	if err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindCheckpointTombstone, key, ifIncarnation, old.GetIncarnation()); err != nil {
		return nil, err
	}
	return old, txn.RevisionMatches(key, ifRevision, old.GetRevision())
}

// Put runs put_checkpoint: it writes the next revision of a checkpoint.
func Put(c *txn.Tx, op *agent.PutCheckpoint) (agent.OpResult, error) {
	old, err := EnterCheckpoint(c, op.Key, op.IfIncarnation, op.IfRevision)
	if err != nil {
		return nil, err
	}
	if op.SkipExisting && old != nil {
		kept := resultOf(op.Key, old)
		kept.Skipped = true
		return kept, nil
	}
	pointer, err := PointTo(c, op.Thread)
	if err != nil {
		return nil, err
	}
	row := &logpb.CheckpointRow{
		Version: max(op.Version, 1), Lifecycle: op.Lifecycle, Thread: pointer,
		ExpiresAt: c.Deadline(op.TTL.Milliseconds()),
	}
	body := &logpb.CheckpointBody{State: command.OrEmptyObject(op.State), Metadata: command.OrEmptyObject(op.Metadata)}
	return Store(c, op.Key, old, row, body)
}

// Patch runs patch_checkpoint: it applies a JSON merge patch (RFC 7396) to the newest
// revision.
func Patch(c *txn.Tx, op *agent.PatchCheckpoint) (agent.OpResult, error) {
	old, err := Live(c, op.Key)
	if err != nil {
		return nil, err
	}
	if old == nil {
		if err := c.CheckWritable(kv.KindCheckpointTombstone, op.Key, op.IfIncarnation, 0); err != nil {
			return nil, err
		}
		if op.Upsert {
			return insert(c, op)
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is no checkpoint %q to patch", op.Key)
	}
	if err := txn.Matches(op.Key, op.IfIncarnation, op.IfRevision, old); err != nil {
		return nil, err
	}
	body, err := Body(c, op.Key, old)
	if err != nil {
		return nil, err
	}
	if body.State, err = patched(op, body); err != nil {
		return nil, err
	}
	row := &logpb.CheckpointRow{
		Version: old.Version, Lifecycle: old.Lifecycle, Thread: old.Thread, ExpiresAt: old.ExpiresAt,
	}
	return Store(c, op.Key, old, row, body)
}

// insert stores a missing checkpoint, as if the patch were applied to an empty one.
func insert(c *txn.Tx, op *agent.PatchCheckpoint) (agent.OpResult, error) {
	if err := txn.RevisionMatches(op.Key, op.IfRevision, 0); err != nil {
		return nil, err
	}
	body := &logpb.CheckpointBody{State: command.OrEmptyObject(nil), Metadata: command.OrEmptyObject(nil)}
	var err error
	if body.State, err = patched(op, body); err != nil {
		return nil, err
	}
	return Store(c, op.Key, nil, &logpb.CheckpointRow{Version: 1}, body)
}

// patched returns the state of a body after a patch.
func patched(op *agent.PatchCheckpoint, body *logpb.CheckpointBody) (agent.JSON, error) {
	state, err := op.Apply(body.State)
	if err != nil {
		return nil, agent.Invalid("patch", "%v", err)
	}
	if size := len(state) + len(body.Metadata); size > agent.CheckpointBytesMax {
		return nil, agent.TooLarge("state", "checkpoint_bytes_max", size, agent.CheckpointBytesMax)
	}
	return state, nil
}

// Body reads a revision's body.
func Body(c *txn.Tx, key string, row *logpb.CheckpointRow) (*logpb.CheckpointBody, error) {
	raw, err := c.Rows.Get(kv.BodyKey(c.Scope, key, row))
	if err != nil {
		return nil, err
	}
	return DecodeBody(key, raw)
}

// DecodeBody decodes the body of a revision, which shares raw's memory.
func DecodeBody(key string, raw []byte) (*logpb.CheckpointBody, error) {
	body := &logpb.CheckpointBody{}
	if raw == nil {
		return nil, fmt.Errorf("checkpoint %q has no body", key)
	}
	if err := command.UnmarshalShared(raw, body); err != nil {
		return nil, fmt.Errorf("decode the body of checkpoint %q: %w", key, err)
	}
	return body, nil
}

// Store writes the next revision: row and body are the new one, old is the revision before, or nil.
func Store(c *txn.Tx, key string, old, row *logpb.CheckpointRow, body *logpb.CheckpointBody) (agent.OpResult, error) {
	now := c.Progress.Wall
	row.Revision, row.CreatedAt, row.UpdatedAt = 1, now, now
	row.StateSize = uint64(len(body.State))
	row.Size = row.StateSize + uint64(len(body.Metadata))
	metaKey := kv.IDKey(kv.KindCheckpoint, c.Scope, key)
	if err := indexMetadata(c, key, old, body.Metadata); err != nil { // before the old body may be replaced
		return nil, err
	}
	if old == nil {
		row.Incarnation = c.NewIncarnation()
		c.AddUsage(1, int64(row.Size))
		if err := c.CountAgent(metaKey, 1); err != nil {
			return nil, err
		}
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		if row.ExpiresAt != old.ExpiresAt {
			c.ClearExpiry(old.ExpiresAt, metaKey)
		}
		if err := keepRevision(c, key, old, row); err != nil {
			return nil, err
		}
		c.AddUsage(0, int64(row.Size))
	}
	carry(body, row)
	row.Carried = body.Row != nil
	c.Rows.SetMessage(metaKey, row)
	c.Rows.SetMessage(kv.BodyKey(c.Scope, key, row), body)
	if row.ExpiresAt != old.GetExpiresAt() {
		c.SetExpiry(row.ExpiresAt, metaKey)
	}
	pinPointer(c, key, old.GetThread(), row.Thread)
	c.Changed(agent.ChangedCheckpoint, key, row.Revision)
	return resultOf(key, row), nil
}

// resultOf returns the result of a write that stored or kept a row.
func resultOf(key string, row *logpb.CheckpointRow) *agent.CheckpointResult {
	return &agent.CheckpointResult{
		Key: key, Incarnation: row.Incarnation, Revision: row.Revision,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, Thread: command.DecodePointer(row.Thread),
	}
}

// indexMetadata replaces the index rows of a checkpoint: old is its row before, or nil, and its body
// must still exist.
func indexMetadata(c *txn.Tx, key string, old *logpb.CheckpointRow, metadata agent.JSON) error {
	if !c.HasMetadataIndex() {
		return nil
	}
	var before agent.JSON
	if old != nil {
		body, err := Body(c, key, old)
		if err != nil {
			return err
		}
		before = body.Metadata
	}
	c.IndexMetadata(kv.KindCheckpoint, key, before, metadata)
	return nil
}

// Delete runs delete_checkpoint.
func Delete(c *txn.Tx, op *agent.DeleteCheckpoint) (agent.OpResult, error) {
	old, err := Live(c, op.Key)
	if err != nil {
		return nil, err
	}
	if err := txn.Matches(op.Key, op.IfIncarnation, op.IfRevision, old); err != nil {
		return nil, err
	}
	if old == nil {
		return c.DeleteMissing(kv.KindCheckpointTombstone, op.Key, op.Seal)
	}
	if err := Drop(c, op.Key, old); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: old.Incarnation},
		c.WriteTombstone(kv.KindCheckpointTombstone, op.Key, old.Incarnation, op.Seal)
}

// Drop removes a checkpoint with its history.
func Drop(c *txn.Tx, key string, row *logpb.CheckpointRow) error {
	metaKey := kv.IDKey(kv.KindCheckpoint, c.Scope, key)
	c.Rows.Remove(metaKey)
	c.ClearExpiry(row.ExpiresAt, metaKey)
	if err := indexMetadata(c, key, row, nil); err != nil {
		return err
	}
	size, err := dropRevisions(c, key, row)
	if err != nil {
		return err
	}
	pinPointer(c, key, row.Thread, nil)
	c.Removed(agent.ChangedCheckpoint, key)
	c.AddUsage(-1, -size)
	return c.CountAgent(metaKey, -1)
}

// Expire removes the checkpoint under key if it expires at when.
func Expire(c *txn.Tx, key string, when int64) error {
	row, err := Load(c, key)
	if err != nil || row == nil || row.ExpiresAt != when {
		return err
	}
	return dropGone(c, key, row)
}

// dropGone removes a checkpoint that has expired or is deleted by prefix.
func dropGone(c *txn.Tx, key string, row *logpb.CheckpointRow) error {
	if err := Drop(c, key, row); err != nil {
		return err
	}
	return c.CountDeleted(kv.KindCheckpoint, key, row)
}

// RemoveDeleted removes the checkpoint under a key if it is deleted by prefix, and returns about how
// many rows that deletes and writes.
func RemoveDeleted(c *txn.Tx, key string) (rows int, err error) {
	row, err := Load(c, key)
	if err != nil || row == nil || !c.Deletions.Delete(c.Scope, kv.KindCheckpoint, key, row.Incarnation) {
		return 0, err
	}
	return Rows(row), dropGone(c, key, row)
}

// Rows returns about how many rows the removal of a checkpoint deletes and writes.
func Rows(row *logpb.CheckpointRow) int {
	const itself, revision = 7, 2
	return itself + revision*len(row.Kept)
}

// pinPointer writes the row that records, for a thread, a checkpoint that points to it.
func pinPointer(c *txn.Tx, key string, before, now *logpb.Pointer) {
	if before.GetThread() == now.GetThread() {
		return
	}
	if before != nil {
		c.Rows.Remove(kv.PinKey(c.Scope, before.Thread, key))
	}
	if now != nil {
		c.Rows.Set(kv.PinKey(c.Scope, now.Thread, key), nil)
	}
}

// PointTo checks a pointer against the thread at this commit, and completes it from the thread.
func PointTo(c *txn.Tx, p *agent.Pointer) (*logpb.Pointer, error) {
	if p == nil {
		return nil, nil
	}
	t, err := thread.Load(c, p.Thread)
	if err != nil {
		return nil, err
	}
	if t == nil {
		// The checkpoint of an agent without messages points to a thread at rev 0, which need not
		// exist (P-5).
		if p.Rev == 0 && p.Incarnation == 0 && (p.Head == "" || p.Head == agent.Head{}.String()) {
			return &logpb.Pointer{Thread: p.Thread, Head: make([]byte, len(agent.Head{}))}, nil
		}
		return nil, MissingThread(p.Thread)
	}
	if p.Incarnation != 0 && p.Incarnation != t.Incarnation {
		return nil, ThreadMismatch(t, "it was deleted and created again since")
	}
	if p.Rev > t.Rev {
		return nil, ThreadMismatch(t, fmt.Sprintf("it has not come to rev %d", p.Rev))
	}
	head, err := thread.HeadAt(c, t, p.Rev)
	if err != nil {
		return nil, err
	}
	if p.Head != "" && p.Head != hex.EncodeToString(head) {
		return nil, ThreadMismatch(t, fmt.Sprintf("its head at rev %d is another", p.Rev))
	}
	invariant.Check((p.Rev >= t.Floor || p.Rev == 0) && p.Rev <= t.Rev, // at rev 0 every head is the same
		"a pointer at rev %d into thread %q, which has revs %d to %d", p.Rev, p.Thread, t.Floor, t.Rev)
	return &logpb.Pointer{Thread: p.Thread, Rev: p.Rev, Head: head, Incarnation: t.Incarnation}, nil
}

// MissingThread returns the error of a pointer to a thread that does not exist.
func MissingThread(id string) *agent.Error {
	e := agent.Errorf(agent.CodeMissingThread, "there is no thread %q", id)
	e.Thread, e.Head = id, agent.Head{}.String()
	return e
}

// ThreadMismatch returns the error of a pointer that a thread does not satisfy.
func ThreadMismatch(thread *logpb.ThreadMeta, why string) *agent.Error {
	e := agent.Errorf(agent.CodeThreadMismatch, "thread %q at rev %d does not match the pointer: %s", thread.Id, thread.Rev, why)
	e.Thread, e.Rev, e.Head, e.Incarnation = thread.Id, thread.Rev, hex.EncodeToString(thread.Head), thread.Incarnation
	return e
}
