package txn

import (
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// A tombstone records a deleted thread, checkpoint or value while requests that name it may still
// arrive, or until its seal ends. Old incarnations never match even without it: incarnations are
// never reused.

// WriteTombstone writes the tombstone of an id, and replaces an existing one. It never shortens a
// seal.
func (c *Tx) WriteTombstone(kind, id string, incarnation uint64, seal time.Duration) error {
	return c.WriteTombstoneRow(kv.IDKey(kind, c.Scope, id), incarnation, seal)
}

// WriteTombstoneRow is WriteTombstone for the key of a tombstone.
func (c *Tx) WriteTombstoneRow(row string, incarnation uint64, seal time.Duration) error {
	old, err := c.tombstone(row)
	if err != nil {
		return err
	}
	stone := &logpb.Tombstone{Incarnation: incarnation, ForgetAt: c.Deadline(agent.TombstoneTTL.Milliseconds())}
	if old != nil {
		stone.SealedUntil = old.SealedUntil
		stone.Incarnation = max(incarnation, old.Incarnation)
		c.ClearExpiry(old.ForgetAt, row)
	}
	stone.SealedUntil = max(stone.SealedUntil, c.Deadline(seal.Milliseconds()))
	stone.ForgetAt = max(stone.ForgetAt, stone.SealedUntil)
	raw := command.Marshal(stone)
	c.Rows.Set(row, raw)
	c.SetExpiry(stone.ForgetAt, row)
	return nil
}

// CheckWritable checks a write to an id. current is its incarnation, 0 if it does not exist: then a
// seal refuses the write, and so does a want of a deleted incarnation. Otherwise the tombstone is
// removed.
func (c *Tx) CheckWritable(kind, id string, want, current uint64) error {
	return c.CheckWritableRow(kv.IDKey(kind, c.Scope, id), id, want, current)
}

// CheckWritableRow is CheckWritable for the key of a tombstone.
func (c *Tx) CheckWritableRow(row, id string, want, current uint64) error {
	if current != 0 {
		return SameIncarnation(id, want, current)
	}
	stone, err := c.tombstone(row)
	if err != nil {
		return err
	}
	if stone != nil && stone.SealedUntil > c.Progress.Wall && !seededbug.Is(seededbug.SealIgnored) {
		e := agent.Errorf(agent.CodeDeleted, "%q is deleted, and sealed until %d", id, stone.SealedUntil)
		e.Incarnation = stone.Incarnation
		return e
	}
	if want != 0 && !seededbug.Is(seededbug.LateWriteResurrects) {
		return deletedRefusal(id, want, stone.GetIncarnation())
	}
	if stone != nil {
		c.Rows.Remove(row)
		c.ClearExpiry(stone.ForgetAt, row)
	}
	return nil
}

// SameIncarnation returns an error if a write names another incarnation than the current one, which
// is 0 if there is none.
func SameIncarnation(id string, want, current uint64) error {
	if want != 0 && want != current {
		return deletedRefusal(id, want, current)
	}
	return nil
}

func deletedRefusal(id string, want, current uint64) *agent.Error {
	e := agent.Errorf(agent.CodeDeleted, "incarnation %d of %q has been deleted", want, id)
	e.Incarnation = current
	return e
}

func (c *Tx) tombstone(row string) (*logpb.Tombstone, error) {
	raw, err := c.Rows.Get(row)
	if err != nil || raw == nil {
		return nil, err
	}
	stone := &logpb.Tombstone{}
	if err := command.Unmarshal(raw, stone); err != nil {
		return nil, fmt.Errorf("decode tombstone: %w", err)
	}
	return stone, nil
}

// ExpireTombstone removes a tombstone that expires at when.
func (c *Tx) ExpireTombstone(row string, when int64) error {
	stone, err := c.tombstone(row)
	if err != nil || stone == nil || stone.ForgetAt != when {
		return err
	}
	c.Rows.Remove(row)
	return nil
}

// DeleteMissing deletes something that does not exist: this succeeds, and a seal takes effect.
func (c *Tx) DeleteMissing(kind, id string, seal time.Duration) (agent.OpResult, error) {
	return c.DeleteMissingRow(kv.IDKey(kind, c.Scope, id), seal)
}

// DeleteMissingRow is DeleteMissing for the key of a tombstone.
func (c *Tx) DeleteMissingRow(row string, seal time.Duration) (agent.OpResult, error) {
	if seal > 0 {
		c.AddUsage(0, 0)
		return &agent.DeleteResult{}, c.WriteTombstoneRow(row, 0, seal)
	}
	return &agent.DeleteResult{}, nil
}
