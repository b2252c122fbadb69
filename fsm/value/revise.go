package value

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Revise runs revise_value: it renames a value, or changes its metadata.
func Revise(c *txn.Tx, op *agent.ReviseValue) (agent.OpResult, error) {
	old, err := liveValue(c, op.Key)
	if err != nil {
		return nil, err
	}
	if err := txn.Matches(op.Key, op.IfIncarnation, op.IfRevision, old); err != nil {
		return nil, err
	}
	if old == nil {
		return nil, txn.NotFound("value", op.Key)
	}
	row, ok := proto.Clone(old).(*logpb.ValueRow)
	if !ok {
		return nil, fmt.Errorf("value %q has a row of another type", op.Key)
	}
	if op.ContentType != "" {
		row.ContentType = op.ContentType
	}
	if err := describe(row, op.Metadata); err != nil {
		return nil, err
	}
	row.Revision++
	row.UpdatedAt = c.Progress.Wall
	if op.To != "" {
		return moveValue(c, op, old, row)
	}
	c.AddUsage(0, int64(Bytes(row))-int64(Bytes(old)))
	return storeValue(c, op.Key, old, row)
}

// describe merges a patch into a value's metadata.
func describe(row *logpb.ValueRow, patch agent.JSON) error {
	if patch == nil {
		return nil
	}
	merged, err := agent.MergePatch(command.OrEmptyObject(row.Metadata), patch)
	if err != nil {
		return agent.Invalid("metadata", "%v", err)
	}
	if len(merged) == 0 || merged[0] != '{' {
		return agent.Invalid("metadata", "metadata must be a JSON object")
	}
	if len(merged) > agent.MetadataBytesMax {
		return agent.TooLarge("metadata", "metadata_bytes_max", len(merged), agent.MetadataBytesMax)
	}
	row.Metadata = merged
	return nil
}

// moveValue moves a value to another key, with a new incarnation. Its times of creation and expiry
// stay.
func moveValue(c *txn.Tx, op *agent.ReviseValue, old, row *logpb.ValueRow) (agent.OpResult, error) {
	there, err := liveValue(c, op.To)
	if err != nil {
		return nil, err
	}
	if there != nil {
		e := agent.Errorf(agent.CodeAlreadyExists, "there is a value %q already, at revision %d: delete it first, or choose another key", op.To, there.Revision)
		e.Revision = there.Revision
		return nil, e
	}
	if err := c.CheckWritable(kv.KindValueTombstone, op.To, 0, 0); err != nil {
		return nil, err
	}
	bytes, err := c.Rows.Get(kv.IDKey(kv.KindValueBytes, c.Scope, op.Key))
	if err != nil {
		return nil, err
	}
	if bytes == nil {
		return nil, fmt.Errorf("value %q has no bytes", op.Key)
	}
	dropValue(c, op.Key, old)
	if err := c.WriteTombstone(kv.KindValueTombstone, op.Key, old.Incarnation, 0); err != nil {
		return nil, err
	}
	row.Incarnation, row.Revision = c.NewIncarnation(), 1
	c.Rows.Set(kv.IDKey(kv.KindValueBytes, c.Scope, op.To), bytes)
	c.SetExpiry(row.ExpiresAt, kv.IDKey(kv.KindValue, c.Scope, op.To))
	c.AddUsage(1, int64(Bytes(row)))
	return storeValue(c, op.To, nil, row)
}

// storeValue writes a value's row, records the change, and returns it as the op's result. old is the
// row before, or nil.
func storeValue(c *txn.Tx, key string, old, row *logpb.ValueRow) (agent.OpResult, error) {
	c.IndexMetadata(kv.KindValue, key, old.GetMetadata(), row.Metadata)
	raw := command.Marshal(row)
	c.Rows.Set(kv.IDKey(kv.KindValue, c.Scope, key), raw)
	c.Changed(agent.ChangedValue, key, row.Revision)
	return resultOf(key, row), nil
}

// resultOf returns the result of a write that stored or kept a row.
func resultOf(key string, row *logpb.ValueRow) *agent.ValueResult {
	return &agent.ValueResult{
		Key: key, Incarnation: row.Incarnation, Revision: row.Revision, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

// Bytes returns the bytes that a value counts for in its scope.
func Bytes(row *logpb.ValueRow) uint64 { return row.GetSize() + uint64(len(row.GetMetadata())) }
