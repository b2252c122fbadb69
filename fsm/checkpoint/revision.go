package checkpoint

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A checkpoint's older revisions are contiguous; CheckpointRow.kept lists them. Besides its body, a
// revision has a CheckpointRow. A small body's row carries it, so that a put need not write it
// again. For any other body it is a history row, so that a list of revisions reads no long body. A
// revision that is removed by age always has a history row, which holds the time.
//
// A body's row is named by a slot. The next revision reuses the slot of the revision that its
// policy removes. So nothing is deleted, and a put of a checkpoint with a full history writes two
// rows.

// CarriedBytesMax is the longest body whose row carries its revision's row. A list of
// agent.HistoryMax of them reads four megabytes.
const CarriedBytesMax = 4 << 10

// kept is an item of CheckpointRow.kept: the size of a revision's state and metadata, its slot, and
// whether its body carries its row.
type kept uint64

const (
	keptSlotBits = 16 // agent.HistoryMax needs ten
	keptSizeAt   = keptSlotBits + 1
)

func keptOf(row *logpb.CheckpointRow, carried bool) kept {
	k := kept(row.Size<<keptSizeAt | row.Slot<<1)
	if carried {
		k |= 1
	}
	return k
}

func (k kept) size() int64   { return int64(k >> keptSizeAt) }
func (k kept) slot() uint64  { return uint64(k) >> 1 & (1<<keptSlotBits - 1) }
func (k kept) carried() bool { return k&1 != 0 }

// keptRevision returns the item of a revision older than now. ok is false if it is not kept.
func keptRevision(now *logpb.CheckpointRow, revision uint64) (kept, bool) {
	count := uint64(len(now.Kept))
	if revision >= now.Revision || now.Revision-revision > count {
		return 0, false
	}
	return kept(now.Kept[count-(now.Revision-revision)]), true
}

// olderRevision returns the row of a revision older than now, or nil if it is not kept. get reads a
// row.
func olderRevision(get func(key string) ([]byte, error), scope, key string, now *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	k, ok := keptRevision(now, revision)
	if !ok {
		return nil, nil
	}
	row := kv.RevisionKey(kv.KindCheckpointHistory, scope, key, now.Incarnation, revision)
	if k.carried() {
		row = kv.SlotKey(scope, key, now.Incarnation, k.slot())
	}
	raw, err := get(row)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("checkpoint %q keeps revision %d, which has no row", key, revision)
	}
	if !k.carried() {
		return command.DecodeCheckpointRow(key, raw)
	}
	body, err := DecodeBody(key, raw)
	if err != nil {
		return nil, err
	}
	if body.Row == nil {
		return nil, fmt.Errorf("the body of checkpoint %q at revision %d does not carry its row", key, revision)
	}
	return body.Row, nil
}

// StoredRevision returns the row of a revision older than now, or nil if it is not kept.
func StoredRevision(c *txn.Tx, key string, now *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	return olderRevision(c.Rows.Get, c.Scope, key, now, revision)
}

// carry stores a revision's row in its body, if that is short.
func carry(body *logpb.CheckpointBody, row *logpb.CheckpointRow) {
	if row.Size > CarriedBytesMax {
		body.Row = nil
		return
	}
	body.Row = &logpb.CheckpointRow{
		Incarnation: row.Incarnation, Revision: row.Revision, Version: row.Version, Lifecycle: row.Lifecycle, Thread: row.Thread,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt, Size: row.Size, StateSize: row.StateSize, Slot: row.Slot,
	}
}

// keepRevision makes old the newest of the older revisions, removes those beyond the scope's
// policy, and gives row a slot.
func keepRevision(c *txn.Tx, key string, old, row *logpb.CheckpointRow) error {
	age := c.Policy().HistoryAgeMS
	carried := old.Carried && age == 0
	row.Kept = append(old.Kept, uint64(keptOf(old, carried)))
	if !carried {
		if err := writeHistory(c, key, old, age); err != nil {
			return err
		}
	}
	var gone []kept
	for keep := txn.OrDefault(c.Policy().History, agent.HistoryDefault) - 1; uint64(len(row.Kept)) > keep; {
		oldest, err := dropOldest(c, key, row)
		if err != nil {
			return err
		}
		gone = append(gone, oldest)
	}
	row.Slot = freeSlot(row)
	for _, k := range gone {
		if k.slot() != row.Slot {
			c.Rows.Remove(kv.SlotKey(c.Scope, key, row.Incarnation, k.slot()))
		}
	}
	return nil
}

// freeSlot returns the first slot that no older revision of row uses.
func freeSlot(row *logpb.CheckpointRow) uint64 {
	taken := make([]bool, len(row.Kept)+1)
	for _, k := range row.Kept {
		if slot := kept(k).slot(); slot < uint64(len(taken)) {
			taken[slot] = true
		}
	}
	return uint64(slices.Index(taken, false))
}

// writeHistory writes the history row of a replaced revision, which is removed after age
// milliseconds; 0 means never.
func writeHistory(c *txn.Tx, key string, old *logpb.CheckpointRow, age uint64) error {
	history := kv.RevisionKey(kv.KindCheckpointHistory, c.Scope, key, old.Incarnation, old.Revision)
	if age == 0 {
		raw, err := c.Rows.Get(kv.IDKey(kv.KindCheckpoint, c.Scope, key)) // the current row
		if err != nil {
			return err
		}
		c.Rows.Set(history, raw)
		return nil
	}
	raw := aging(c, old, age)
	c.SetExpiry(old.ForgetAt, history)
	c.Rows.Set(history, raw)
	return nil
}

// dropOldest removes the oldest revision that row keeps, except its body.
func dropOldest(c *txn.Tx, key string, row *logpb.CheckpointRow) (kept, error) {
	oldest := kept(row.Kept[0])
	if err := dropHistory(c, key, row, row.Revision-uint64(len(row.Kept)), oldest); err != nil {
		return 0, err
	}
	c.AddUsage(0, -oldest.size())
	row.Kept = row.Kept[1:]
	return oldest, nil
}

// dropHistory removes an older revision's history row and its queue entry.
func dropHistory(c *txn.Tx, key string, now *logpb.CheckpointRow, revision uint64, k kept) error {
	if k.carried() {
		return nil
	}
	history := kv.RevisionKey(kv.KindCheckpointHistory, c.Scope, key, now.Incarnation, revision)
	if c.Policy().HistoryAgeMS > 0 { // otherwise few have a queue entry, and the put saves a read
		raw, err := c.Rows.Get(history)
		if err != nil {
			return err
		}
		old, err := command.DecodeCheckpointRow(key, raw)
		if err != nil {
			return err
		}
		c.ClearExpiry(old.ForgetAt, history)
	}
	c.Rows.Remove(history)
	return nil
}

// Bytes returns the bytes that a checkpoint with its older revisions counts for in its scope.
func Bytes(row *logpb.CheckpointRow) uint64 {
	size := row.Size
	for _, k := range row.Kept {
		size += uint64(kept(k).size())
	}
	return size
}

// dropRevisions removes a checkpoint's history and all bodies, including the current one, and
// returns their size.
func dropRevisions(c *txn.Tx, key string, now *logpb.CheckpointRow) (size int64, err error) {
	c.Rows.Remove(kv.BodyKey(c.Scope, key, now))
	size = int64(now.Size)
	for i, raw := range now.Kept {
		k := kept(raw)
		if err := dropHistory(c, key, now, now.Revision-uint64(len(now.Kept)-i), k); err != nil {
			return 0, err
		}
		c.Rows.Remove(kv.SlotKey(c.Scope, key, now.Incarnation, k.slot()))
		size += k.size()
	}
	return size, nil
}

// olderRevisionOf is olderRevision in a view: a revision whose age has passed is not kept.
func olderRevisionOf(r txn.Reader, key string, now *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	row, err := olderRevision(r.Get, r.Scope, key, now, revision)
	if err != nil || row == nil || txn.Expired(row.ForgetAt, r.Progress.Wall) {
		return nil, err
	}
	return row, nil
}

// History lists the kept revisions of a key, newest first; at most agent.HistoryMax.
func History(r txn.Reader, q *agent.CheckpointHistory) (agent.Found, error) {
	current, err := currentCheckpoint(r, q.Key)
	if err != nil {
		return nil, err
	}
	list := &agent.CheckpointList{Items: []agent.CheckpointRow{checkpointRow(q.Key, current)}}
	for back := range uint64(len(current.Kept)) {
		row, err := olderRevisionOf(r, q.Key, current, current.Revision-1-back)
		if err != nil {
			return nil, err
		}
		if row == nil {
			break // and so have, or will have, all before it
		}
		list.Items = append(list.Items, checkpointRow(q.Key, row))
	}
	return list, nil
}
