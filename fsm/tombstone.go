package fsm

import (
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// A tombstone remembers a deleted thread, checkpoint or value for as long as
// requests that knew it may still arrive, or as its seal says. Even without
// one no old incarnation ever matches again: incarnations are never reused.

// bury makes the tombstone of an id in place of the one that may be there.
// A seal is never shortened.
func (c *commit) bury(kind, id string, incarnation uint64, seal time.Duration) error {
	return c.buryRow(kv.IDKey(kind, c.scope, id), incarnation, seal)
}

// buryRow is bury of the tombstone whose row is named.
func (c *commit) buryRow(row string, incarnation uint64, seal time.Duration) error {
	old, err := c.tombstone(row)
	if err != nil {
		return err
	}
	stone := &logpb.Tombstone{Incarnation: incarnation, ForgetAt: c.deadline(agent.TombstoneTTL.Milliseconds())}
	if old != nil {
		stone.SealedUntil = old.SealedUntil
		stone.Incarnation = max(incarnation, old.Incarnation)
		c.unexpire(old.ForgetAt, row)
	}
	stone.SealedUntil = max(stone.SealedUntil, c.deadline(seal.Milliseconds()))
	stone.ForgetAt = max(stone.ForgetAt, stone.SealedUntil)
	raw, err := command.Marshal(stone)
	if err != nil {
		return fmt.Errorf("encode tombstone: %w", err)
	}
	c.rows.Set(row, raw)
	c.expireAt(stone.ForgetAt, row)
	return nil
}

// enter lets a write to an id in. current is its incarnation, 0 where it is
// not there: then the write must not be stopped by a seal, nor name an
// incarnation that is gone, and the tombstone makes way for the next one.
func (c *commit) enter(kind, id string, want, current uint64) error {
	return c.enterRow(kv.IDKey(kind, c.scope, id), id, want, current)
}

// enterRow is enter where the tombstone's row is named.
func (c *commit) enterRow(row, id string, want, current uint64) error {
	if current != 0 {
		return sameIncarnation(id, want, current)
	}
	stone, err := c.tombstone(row)
	if err != nil {
		return err
	}
	if stone != nil && stone.SealedUntil > c.progress.wall && !seededbug.Is(seededbug.SealIgnored) {
		e := agent.Errorf(agent.CodeDeleted, "%q is deleted, and sealed until %d", id, stone.SealedUntil)
		e.Incarnation = stone.Incarnation
		return e
	}
	if want != 0 && !seededbug.Is(seededbug.LateWriteResurrects) {
		return deletedRefusal(id, want, stone.GetIncarnation())
	}
	if stone != nil {
		c.rows.Remove(row)
		c.unexpire(stone.ForgetAt, row)
	}
	return nil
}

// sameIncarnation refuses a write that names another incarnation than the
// current one, which is 0 where there is none.
func sameIncarnation(id string, want, current uint64) error {
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

func (c *commit) tombstone(row string) (*logpb.Tombstone, error) {
	raw, err := c.rows.Get(row)
	if err != nil || raw == nil {
		return nil, err
	}
	stone := &logpb.Tombstone{}
	if err := command.Unmarshal(raw, stone); err != nil {
		return nil, fmt.Errorf("decode tombstone: %w", err)
	}
	return stone, nil
}

func (c *commit) expireTombstone(row string, when int64) error {
	stone, err := c.tombstone(row)
	if err != nil || stone == nil || stone.ForgetAt != when {
		return err
	}
	c.rows.Remove(row)
	return nil
}

// deleteMissing deletes what is not there, which is fine; a seal holds all the
// same.
func (c *commit) deleteMissing(kind, id string, seal time.Duration) (agent.OpResult, error) {
	return c.deleteMissingRow(kv.IDKey(kind, c.scope, id), seal)
}

// deleteMissingRow is deleteMissing where the tombstone's row is named.
func (c *commit) deleteMissingRow(row string, seal time.Duration) (agent.OpResult, error) {
	if seal > 0 {
		c.grow(0, 0)
		return &agent.DeleteResult{}, c.buryRow(row, 0, seal)
	}
	return &agent.DeleteResult{}, nil
}
