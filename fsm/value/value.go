package value

import (
	"bytes"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Ops are the ops on values.
var Ops = []txn.Op{txn.OpOf(Put), txn.OpOf(Delete), txn.OpOf(Revise)}

// Reads are the reads of values.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// loadValue returns the row of a value, or nil.
func loadValue(c *txn.Tx, key string) (*logpb.ValueRow, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindValue, c.Scope, key))
	if err != nil || raw == nil {
		return nil, err
	}
	return decodeValueRow(key, raw)
}

func decodeValueRow(key string, raw []byte) (*logpb.ValueRow, error) {
	return command.Decode[logpb.ValueRow](raw, "value", key)
}

// liveValue returns the value under a key, or nil. It first removes one that has expired or is deleted
// by prefix.
func liveValue(c *txn.Tx, key string) (*logpb.ValueRow, error) {
	if err := agent.ValidKey("key", key); err != nil {
		return nil, err
	}
	row, err := loadValue(c, key)
	if err != nil || row == nil {
		return nil, err
	}
	if c.Gone(kv.KindValue, key, row) {
		return nil, dropGone(c, key, row)
	}
	return row, nil
}

// Put runs put_value.
func Put(c *txn.Tx, op *agent.PutValue) (agent.OpResult, error) {
	old, err := liveValue(c, op.Key)
	if err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindValueTombstone, op.Key, op.IfIncarnation, old.GetIncarnation()); err != nil {
		return nil, err
	}
	if op.SkipExisting && old != nil {
		kept := resultOf(op.Key, old)
		kept.Skipped = true
		return kept, nil
	}
	if err := valueMatches(c, op.Key, old, op.IfRevision, op.IfBytes); err != nil {
		return nil, err
	}
	now := c.Progress.Wall
	row := &logpb.ValueRow{
		ContentType: op.ContentType, Size: uint64(len(op.Bytes)), Revision: 1, CreatedAt: now, UpdatedAt: now,
		ExpiresAt: c.Deadline(op.TTL.Milliseconds()), Metadata: op.Metadata,
	}
	if row.Metadata == nil {
		row.Metadata = old.GetMetadata()
	}
	metaKey := kv.IDKey(kv.KindValue, c.Scope, op.Key)
	if old == nil {
		row.Incarnation = c.NewIncarnation()
		c.AddUsage(1, int64(Bytes(row)))
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		c.ClearExpiry(old.ExpiresAt, metaKey)
		c.AddUsage(0, int64(Bytes(row))-int64(Bytes(old)))
	}
	c.Rows.Set(kv.IDKey(kv.KindValueBytes, c.Scope, op.Key), op.Bytes)
	c.SetExpiry(row.ExpiresAt, metaKey)
	return storeValue(c, op.Key, old, row)
}

// Delete runs delete_value.
func Delete(c *txn.Tx, op *agent.DeleteValue) (agent.OpResult, error) {
	old, err := liveValue(c, op.Key)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Key, op.IfIncarnation, old.GetIncarnation()); err != nil {
		return nil, err
	}
	if err := valueMatches(c, op.Key, old, op.IfRevision, op.IfBytes); err != nil {
		return nil, err
	}
	if old == nil {
		return c.DeleteMissing(kv.KindValueTombstone, op.Key, op.Seal)
	}
	dropValue(c, op.Key, old)
	return &agent.DeleteResult{Existed: true, Incarnation: old.Incarnation},
		c.WriteTombstone(kv.KindValueTombstone, op.Key, old.Incarnation, op.Seal)
}

// valueMatches checks a write against the caller's expectations; old is nil if there is no value.
func valueMatches(c *txn.Tx, key string, old *logpb.ValueRow, revision *uint64, want *[]byte) error {
	if err := txn.RevisionMatches(key, revision, old.GetRevision()); err != nil {
		return err
	}
	if want == nil {
		return nil
	}
	if (*want == nil) != (old == nil) {
		return txn.RevisionMismatch(key, "its bytes are not as expected", old.GetRevision())
	}
	if old == nil {
		return nil
	}
	stored, err := c.Rows.Get(kv.IDKey(kv.KindValueBytes, c.Scope, key))
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, *want) {
		return txn.RevisionMismatch(key, "its bytes are not as expected", old.Revision)
	}
	return nil
}

func dropValue(c *txn.Tx, key string, row *logpb.ValueRow) {
	metaKey := kv.IDKey(kv.KindValue, c.Scope, key)
	c.Rows.Remove(metaKey)
	c.Rows.Remove(kv.IDKey(kv.KindValueBytes, c.Scope, key))
	c.ClearExpiry(row.ExpiresAt, metaKey)
	c.IndexMetadata(kv.KindValue, key, row.Metadata, nil)
	c.Removed(agent.ChangedValue, key)
	c.AddUsage(-1, -int64(Bytes(row)))
}

// Expire removes the value under key if it expires at when.
func Expire(c *txn.Tx, key string, when int64) error {
	row, err := loadValue(c, key)
	if err != nil || row == nil || row.ExpiresAt != when {
		return err
	}
	return dropGone(c, key, row)
}

// dropGone removes a value that has expired or is deleted by prefix.
func dropGone(c *txn.Tx, key string, row *logpb.ValueRow) error {
	dropValue(c, key, row)
	return c.CountDeleted(kv.KindValue, key, row)
}

// RemoveDeleted removes the value under a key if it is deleted by prefix, and returns about how many
// rows that deletes and writes.
func RemoveDeleted(c *txn.Tx, key string) (rows int, err error) {
	const each = 5
	row, err := loadValue(c, key)
	if err != nil || row == nil || !c.Deletions.Delete(c.Scope, kv.KindValue, key, row.Incarnation) {
		return 0, err
	}
	return each, dropGone(c, key, row)
}
