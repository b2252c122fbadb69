package checkpoint

import (
	"fmt"
	"math"
	"strings"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A scope's policy bounds the older revisions of a checkpoint by number, which Store enforces, and
// by age. A replaced revision gets its time of removal from the policy of that moment. All
// revisions before it are removed with it, so the kept ones are contiguous.

// aging returns the history row of a revision that is removed after an age.
func aging(c *txn.Tx, old *logpb.CheckpointRow, ageMS uint64) []byte {
	old.ForgetAt = c.Deadline(int64(min(ageMS, math.MaxInt64)))
	return command.Marshal(old)
}

// ForgetRevision removes a revision whose age has passed, and those before it. It ignores a
// revision that was already removed under a policy without an age, which leaves its queue entry.
// row is the checkpoint's key, a NUL, and its incarnation and revision.
func ForgetRevision(c *txn.Tx, row string) error {
	key, numbers, _ := strings.Cut(row, kv.Separator)
	if len(numbers) != 2*8 {
		return fmt.Errorf("the wall queue holds a revision of checkpoint %q with %d bytes of numbers", key, len(numbers))
	}
	incarnation, revision := kv.DecodeNumber(numbers[:8]), kv.DecodeNumber(numbers[8:])
	now, err := Load(c, key)
	if err != nil || now == nil || now.Incarnation != incarnation {
		return err
	}
	if oldest := now.Revision - uint64(len(now.Kept)); oldest > revision {
		return nil
	}
	for n := uint64(len(now.Kept)); n > 0 && now.Revision-n <= revision; n-- {
		oldest, err := dropOldest(c, key, now)
		if err != nil {
			return err
		}
		c.Rows.Remove(kv.SlotKey(c.Scope, key, incarnation, oldest.slot()))
	}
	raw := command.Marshal(now)
	c.Rows.Set(kv.IDKey(kv.KindCheckpoint, c.Scope, key), raw)
	return nil
}
