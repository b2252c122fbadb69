package thread

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// Compact removes the entries below a seq. Rev, head and the chain's value at the new floor stay,
// so that the rest can be verified.
func Compact(c *txn.Tx, op *agent.CompactThread) (agent.OpResult, error) {
	t, err := presentThread(c, op.Thread, op.IfIncarnation)
	if err != nil {
		return nil, err
	}
	if op.BeforeSeq > t.Rev {
		return nil, conflict(t.Id, t, fmt.Sprintf("it has no entry %d to compact up to", op.BeforeSeq))
	}
	if op.BeforeSeq >= t.Floor && op.Summary != nil {
		c.AddUsage(0, 0)
		if err := setSummary(c, t, op.Summary); err != nil {
			return nil, err
		}
	}
	if op.BeforeSeq > t.Floor {
		if err := compactBelow(c, t, op.BeforeSeq); err != nil {
			return nil, err
		}
	}
	thread, err := Store(c, t)
	if err != nil {
		return nil, err
	}
	return &agent.ThreadResult{Thread: thread}, nil
}

func compactBelow(c *txn.Tx, t *logpb.ThreadMeta, before uint64) error {
	if err := c.CheckCompaction(); err != nil {
		return err
	}
	if err := notPinnedBelow(c, t, before); err != nil && !seededbug.Is(seededbug.CompactionPastPointer) {
		return err
	}
	forked, err := forksBelow(c, t, before)
	if seededbug.Is(seededbug.CompactionPastFork) {
		forked, err = false, nil
	}
	if err != nil {
		return err
	}
	head, err := HeadAt(c, t, before)
	if err != nil {
		return err
	}
	had, err := bytesFrom(c, t, t.Floor)
	if err != nil {
		return err
	}
	has, err := bytesFrom(c, t, before)
	if err != nil {
		return err
	}
	c.AddUsage(0, int64(has)-int64(had))
	floor, held := t.Floor, txn.OwnEntries(t)
	t.Floor, t.FloorHead = before, head
	if seededbug.Is(seededbug.CompactionForgetsRev) {
		t.Rev -= before - floor
	}
	// The index of chosen ids is ordered by id, so to find the rows to remove each entry would have
	// to be read. These rows stay until the thread is deleted, and journal.indexed skips them. An
	// id that is used again replaces its row.
	if !forked {
		// Rows below the old floor were removed by an earlier compaction, or with the last fork
		// that read them.
		lower, upper := kv.EntryKey(c.Scope, t.Id, t.Incarnation, floor), kv.EntryKey(c.Scope, t.Id, t.Incarnation, before)
		if err := c.Rows.RemoveRange(lower, upper); err != nil {
			return err
		}
		if err := forgetKinds(c, t.Id, t.Incarnation, floor, before); err != nil {
			return err
		}
	} else if err := countShared(c, t.Id, t.Incarnation, before); err != nil {
		return err
	}
	below := 0
	for below < len(t.Segments) && t.Segments[below].To <= before {
		below++
	}
	gone := t.Segments[:below]
	t.Segments = t.Segments[below:]
	if err := c.CountThread(t.Id, 0, int64(txn.OwnEntries(t))-int64(held)); err != nil {
		return err
	}
	return unpinSegments(c, t, gone)
}

// notPinnedBelow refuses to compact past the pointer of a live checkpoint.
func notPinnedBelow(c *txn.Tx, t *logpb.ThreadMeta, before uint64) error {
	prefix := kv.IDKey(kv.KindPin, c.Scope, t.Id)
	return c.EachKey(prefix, func(key string) error {
		c.CountPin()
		checkpoint := key[len(prefix):]
		raw, err := c.Rows.Get(kv.IDKey(kv.KindCheckpoint, c.Scope, checkpoint))
		if err != nil || raw == nil {
			return err
		}
		row, err := command.DecodeCheckpointRow(checkpoint, raw)
		if err != nil || c.Gone(kv.KindCheckpoint, checkpoint, row) {
			return err
		}
		p := row.Thread
		if p.GetIncarnation() == t.Incarnation && p.Rev < before {
			return conflict(t.Id, t, fmt.Sprintf("checkpoint %q points to rev %d", checkpoint, p.Rev))
		}
		return nil
	})
}

// forksBelow reports whether forks read the thread's rows, and refuses to compact past the rev of a
// fork.
func forksBelow(c *txn.Tx, t *logpb.ThreadMeta, before uint64) (forked bool, err error) {
	prefix := kv.IncarnationKey(kv.KindForkPin, c.Scope, t.Id, t.Incarnation)
	err = c.EachKey(prefix, func(key string) error {
		forked = true
		c.CountPin()
		raw, err := c.Rows.Get(key)
		if err != nil {
			return err
		}
		fork, number, _ := strings.Cut(key[len(prefix):], kv.Separator)
		if c.Deletions.Delete(c.Scope, kv.KindThread, fork, kv.DecodeNumber(number)) {
			return nil // its rows are removed later, and then those that only it reads
		}
		if rev := kv.DecodeNumber(raw); rev < before {
			return conflict(t.Id, t, fmt.Sprintf("the fork %q shares its entries below %d: compact up to there at most, or delete the fork", fork, rev))
		}
		return nil
	})
	return forked, err
}
