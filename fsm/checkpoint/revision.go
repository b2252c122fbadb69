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

// A checkpoint's older revisions are one stretch, which CheckpointRow.kept
// lists. What is known of one, besides its body, is a CheckpointRow: that of a
// small body is carried in the body's row, so that a put need not write it
// again; that of any other is a row of history, so that a list of revisions
// reads no long body. A revision that is forgotten by its age has one too,
// which says when.
//
// A body's row is named by a slot, which the next revision takes over from the
// one that its policy lets go of: so nothing is deleted, and a put of a
// checkpoint with a full history writes two rows.

// CarriedBytesMax is how long a body may be that carries its revision's row. A
// list of agent.HistoryMax of them reads four megabytes.
const CarriedBytesMax = 4 << 10

// kept is an item of CheckpointRow.kept: the size of a revision's state and
// metadata, its slot, and whether its body carries its row.
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

// keptRevision is a revision older than now, and whether it is kept.
func keptRevision(now *logpb.CheckpointRow, revision uint64) (kept, bool) {
	count := uint64(len(now.Kept))
	if revision >= now.Revision || now.Revision-revision > count {
		return 0, false
	}
	return kept(now.Kept[count-(now.Revision-revision)]), true
}

// olderRevision is the row of a revision older than now; nil where it is not
// kept. get reads a row.
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

// StoredRevision is the row of a revision of a checkpoint that is older than now; nil
// where it is not kept.
func StoredRevision(c *txn.Tx, key string, now *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	return olderRevision(c.Rows.Get, c.Scope, key, now, revision)
}

// carry puts a revision's row into its body, where that is short.
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

// keepRevision makes old the newest of the older revisions, lets go of those
// past the scope's policy, and gives row a slot.
func keepRevision(c *txn.Tx, key string, old, row *logpb.CheckpointRow) error {
	age := c.Record.Policy.HistoryAgeMS
	carried := old.Carried && age == 0
	row.Kept = append(old.Kept, uint64(keptOf(old, carried)))
	if !carried {
		if err := writeHistory(c, key, old, age); err != nil {
			return err
		}
	}
	var gone []kept
	for keep := c.Record.History() - 1; uint64(len(row.Kept)) > keep; {
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

// freeSlot is the first slot that no older revision of row's is in.
func freeSlot(row *logpb.CheckpointRow) uint64 {
	taken := make([]bool, len(row.Kept)+1)
	for _, k := range row.Kept {
		if slot := kept(k).slot(); slot < uint64(len(taken)) {
			taken[slot] = true
		}
	}
	return uint64(slices.Index(taken, false))
}

// writeHistory writes the row of history of a revision whose place was taken,
// which goes after an age; 0 is never.
func writeHistory(c *txn.Tx, key string, old *logpb.CheckpointRow, age uint64) error {
	history := kv.RevisionKey(kv.KindCheckpointHistory, c.Scope, key, old.Incarnation, old.Revision)
	if age == 0 {
		raw, err := c.Rows.Get(kv.IDKey(kv.KindCheckpoint, c.Scope, key)) // as it stands
		if err != nil {
			return err
		}
		c.Rows.Set(history, raw)
		return nil
	}
	raw, err := aging(c, key, old, age)
	if err != nil {
		return err
	}
	c.SetExpiry(old.ForgetAt, history)
	c.Rows.Set(history, raw)
	return nil
}

// dropOldest lets go of the oldest of the revisions that row keeps, but for its
// body.
func dropOldest(c *txn.Tx, key string, row *logpb.CheckpointRow) (kept, error) {
	oldest := kept(row.Kept[0])
	if err := dropHistory(c, key, row, row.Revision-uint64(len(row.Kept)), oldest); err != nil {
		return 0, err
	}
	c.AddUsage(0, -oldest.size())
	row.Kept = row.Kept[1:]
	return oldest, nil
}

// dropHistory lets go of an older revision's row of history, with its place in
// the queue.
func dropHistory(c *txn.Tx, key string, now *logpb.CheckpointRow, revision uint64, k kept) error {
	if k.carried() {
		return nil
	}
	history := kv.RevisionKey(kv.KindCheckpointHistory, c.Scope, key, now.Incarnation, revision)
	if c.Record.Policy.HistoryAgeMS > 0 { // else there is next to none, and a put reads no row more
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

// dropRevisions removes a checkpoint's history and its bodies, the current one
// too, and returns their size.
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

// olderRevisionOf is olderRevision in a view, as of its time: one whose age has come is
// not kept.
func olderRevisionOf(r txn.Reader, key string, now *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	row, err := olderRevision(r.Get, r.Scope, key, now, revision)
	if err != nil || row == nil || txn.Expired(row.ForgetAt, r.Progress.Wall) {
		return nil, err
	}
	return row, nil
}

// History lists what is kept of a key, newest first; that is never more than
// agent.HistoryMax.
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
			break // and so are all before it, or will be with it
		}
		list.Items = append(list.Items, checkpointRow(q.Key, row))
	}
	return list, nil
}
