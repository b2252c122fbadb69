package thread

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// Ops are the ops on threads.
var Ops = []txn.Op{txn.OpOf(Append), txn.OpOf(Hibernate), txn.OpOf(Delete), txn.OpOf(Compact), txn.OpOf(Fork)}

// Reads are the reads of threads.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List), txn.ReadOf(LoadEntries), txn.ReadOf(GetEntry), txn.ReadOf(Verify)}

// Load returns the row of a thread, or nil. The caller may change it. It first removes one that has
// expired or is deleted by prefix.
func Load(c *txn.Tx, id string) (*logpb.ThreadMeta, error) {
	if err := agent.ValidKey("thread", id); err != nil {
		return nil, err
	}
	t, err := stored(c, id)
	if err != nil || t == nil || !c.Gone(kv.KindThread, id, t) {
		return t, err
	}
	return nil, dropGone(c, t)
}

func journalOf(c *txn.Tx, t *logpb.ThreadMeta) Journal {
	return Journal{rows: c.Rows, scope: c.Scope, Meta: t}
}

// HeadAt returns the head of the hash chain of t at a rev.
func HeadAt(c *txn.Tx, t *logpb.ThreadMeta, rev uint64) ([]byte, error) {
	return journalOf(c, t).HeadAt(rev)
}

// newThread returns a thread at rev 0 that is not stored yet.
func newThread(c *txn.Tx, id string) (*logpb.ThreadMeta, error) {
	c.AddUsage(1, 0)
	t := &logpb.ThreadMeta{
		Id: id, Incarnation: c.NewIncarnation(), Head: ZeroHead, FloorHead: ZeroHead,
		CreatedAt: c.Progress.Wall, Metadata: []byte("{}"),
	}
	countDescribed(c, t, uint64(len(t.Metadata)))
	return t, c.CountThread(id, 1, 0)
}

// Store writes a thread's row and returns it as callers see it, but without the summary and the
// metadata, which only reads return: the result is kept for retries, and no quota counts it.
func Store(c *txn.Tx, t *logpb.ThreadMeta) (agent.Thread, error) {
	id := t.Id
	if err := describe(c, t); err != nil {
		return agent.Thread{}, err
	}
	invariant.Check(t.Floor <= t.Rev, "thread %q: floor %d is past rev %d", id, t.Floor, t.Rev)
	invariant.Check(t.Incarnation>>16 <= c.Progress.Index+c.MintBase, "thread %q: incarnation %d is of an entry to come", id, t.Incarnation)
	t.Id = "" // the key has it
	raw := command.Marshal(t)
	t.Id = id
	key := kv.IDKey(kv.KindThread, c.Scope, id)
	c.Rows.Set(key, raw)
	c.NotifyWatchers(key)
	c.Changed(agent.ChangedThread, id, t.Rev)
	thread, err := command.DecodeThread(t)
	if c.Level >= txn.OutcomeLevel {
		thread.Metadata = nil
	}
	return thread, err
}

// Append runs append_thread.
func Append(c *txn.Tx, op *agent.AppendThread) (agent.OpResult, error) {
	t, err := Load(c, op.Thread)
	if err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindThreadTombstone, op.Thread, op.IfIncarnation, t.GetIncarnation()); err != nil {
		return nil, err
	}
	if err := threadMatches(op, t); err != nil {
		return nil, err
	}
	if op.CreateOnly && t != nil {
		refusal := agent.Errorf(agent.CodeAlreadyExists, "there is a thread %q already, at rev %d", op.Thread, t.Rev)
		refusal.Rev, refusal.Head, refusal.Incarnation = t.Rev, headOf(t), t.Incarnation
		return nil, refusal
	}
	if t == nil {
		if t, err = newThread(c, op.Thread); err != nil {
			return nil, err
		}
	}
	renewThread(c, t, op.Metadata)
	stamps, err := extendThread(c, t, op.Entries, ifThere(op.SkipExisting))
	if err != nil {
		return nil, err
	}
	return appendedResult(c, t, stamps)
}

func appendedResult(c *txn.Tx, t *logpb.ThreadMeta, stamps []agent.EntryStamp) (agent.OpResult, error) {
	t.UpdatedAt = c.Progress.Wall
	thread, err := Store(c, t)
	if err != nil {
		return nil, err
	}
	return &agent.ThreadResult{Thread: thread, Entries: stamps}, nil
}

// threadMatches checks an append against the caller's expectations. A missing thread is at rev 0.
func threadMatches(op *agent.AppendThread, t *logpb.ThreadMeta) error {
	if seededbug.Is(seededbug.RevCheckedEarly) { // package store has, before it proposed
		return nil
	}
	if op.ExpectedRev != nil && *op.ExpectedRev != t.GetRev() {
		return conflict(op.Thread, t, fmt.Sprintf("not at rev %d", *op.ExpectedRev))
	}
	if op.ExpectedHead != "" && op.ExpectedHead != headOf(t) {
		return conflict(op.Thread, t, "its head is another")
	}
	return nil
}

// headOf returns the head in hex of a thread that may be missing.
func headOf(t *logpb.ThreadMeta) string {
	if t == nil {
		return hex.EncodeToString(ZeroHead)
	}
	return hex.EncodeToString(t.Head)
}

func conflict(id string, t *logpb.ThreadMeta, why string) *agent.Error {
	e := agent.Errorf(agent.CodeConflict, "thread %q is at rev %d: %s", id, t.GetRev(), why)
	e.Rev, e.Head = t.GetRev(), headOf(t)
	return e
}

// renewThread resets a thread that has no entries yet: until the first entry each append sets the
// time of creation, and may set metadata (S-23, S-24).
func renewThread(c *txn.Tx, t *logpb.ThreadMeta, metadata agent.JSON) {
	if t.Rev != 0 {
		return
	}
	t.CreatedAt = c.Progress.Wall
	if len(metadata) > 0 {
		setMetadata(c, t, metadata)
	}
}

// existing is what an append does with a draft whose id the thread has.
type existing int

const (
	refuseExisting existing = iota
	skipEqual               // keep an entry with equal content, and refuse another one
	skipAny                 // keep the entry
)

func ifThere(skip bool) existing {
	if skip {
		return skipAny
	}
	return skipEqual
}

// extendThread appends drafts to a thread, in memory and rows.
func extendThread(c *txn.Tx, t *logpb.ThreadMeta, drafts []agent.Draft, found existing) ([]agent.EntryStamp, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	stamps := make([]agent.EntryStamp, len(drafts))
	var head agent.Head
	copy(head[:], t.Head)
	bytes, rev := t.Bytes, t.Rev
	for i, draft := range drafts {
		if draft.ID != "" && !seededbug.Is(seededbug.DuplicateEntryIDs) {
			stamp, err := duplicateEntry(c, t, draft, found)
			if err != nil {
				return nil, err
			}
			if stamp != nil {
				stamps[i] = *stamp
				continue
			}
		}
		e := draft.Entry(t.Incarnation, t.Rev, c.Progress.Wall)
		after := head.After(&e) // the row keeps it
		if err := storeEntry(c, t, draft.ID, &e, after[:]); err != nil {
			return nil, err
		}
		head = after
		stamps[i] = agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At}
		t.Rev++
	}
	t.Head = head[:]
	c.AddUsage(0, int64(t.Bytes-bytes))
	return stamps, c.CountThread(t.Id, 0, int64(t.Rev-rev))
}

// duplicateEntry looks up a draft's id in the thread. It returns where an entry is kept, or nil if
// the thread has none of that id.
func duplicateEntry(c *txn.Tx, t *logpb.ThreadMeta, draft agent.Draft, do existing) (*agent.EntryStamp, error) {
	j := journalOf(c, t)
	seq, found, err := j.find(draft.ID)
	if err != nil || !found {
		return nil, err
	}
	e, err := j.entry(seq)
	if err != nil {
		return nil, err
	}
	if err := c.Bytes.CountRead(e.Size()); err != nil {
		return nil, err
	}
	if do == refuseExisting || do == skipEqual && !draft.SameContent(e) {
		refusal := agent.Errorf(agent.CodeDuplicateEntry, "entry %q is in thread %q already, at seq %d", draft.ID, t.Id, seq)
		refusal.Seq, refusal.Rev, refusal.Head = seq, t.Rev, headOf(t)
		return nil, refusal
	}
	return &agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At, Skipped: do == skipAny}, nil
}

// storeEntry writes the row of an appended entry, and the index row if its caller chose the id. The
// row shares the memory of e and head.
func storeEntry(c *txn.Tx, t *logpb.ThreadMeta, chosen string, e *agent.Entry, head []byte) error {
	row := logpb.EntryRow{
		At: e.At, Kind: e.Kind, Payload: e.Payload, Refs: e.Refs, Head: head, Offset: t.Bytes,
		ContentType: e.ContentType, Bytes: e.Bytes,
	}
	if chosen != "" {
		incarnation, seq, generated := agent.GeneratedID(chosen)
		switch {
		case !generated || incarnation != t.Incarnation:
			row.Id = chosen
			if err := indexEntry(c, t, chosen, e.Seq); err != nil {
				return err
			}
		case seq != e.Seq:
			return agent.Invalid("entries.id", "id %q is generated for another entry of thread %q: choose another", chosen, t.Id)
		}
	}
	c.Rows.SetMessage(kv.EntryKey(c.Scope, t.Id, t.Incarnation, e.Seq), &row)
	indexKind(c, t, e)
	t.Bytes += EntryBytes(e)
	return nil
}

// indexEntry adds a chosen id to the index.
func indexEntry(c *txn.Tx, t *logpb.ThreadMeta, id string, seq uint64) error {
	key := kv.EntryIDKey(c.Scope, t.Id, t.Incarnation, id)
	var seqs []byte
	if t.ChosenIds && t.Floor > 0 { // the id may have been compacted
		pinned, err := pinnedByForks(c, t.Id, t.Incarnation)
		if err != nil {
			return err
		}
		if pinned {
			old, err := c.Rows.Get(key)
			if err != nil {
				return err
			}
			seqs = append(seqs, old...)
		}
	}
	c.Rows.Set(key, binary.BigEndian.AppendUint64(seqs, seq))
	t.ChosenIds = true
	return nil
}

// EntryBytes returns the bytes that an entry counts for in its scope's quota.
func EntryBytes(e *agent.Entry) uint64 {
	return uint64(e.Size())
}

// Delete runs delete_thread.
func Delete(c *txn.Tx, op *agent.DeleteThread) (agent.OpResult, error) {
	t, err := Load(c, op.Thread)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Thread, op.IfIncarnation, t.GetIncarnation()); err != nil {
		return nil, err
	}
	if t == nil {
		return c.DeleteMissing(kv.KindThreadTombstone, op.Thread, op.Seal)
	}
	if err := Drop(c, t); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: t.Incarnation},
		c.WriteTombstone(kv.KindThreadTombstone, t.Id, t.Incarnation, op.Seal)
}

// Drop removes a thread, except for the rows that forks read.
func Drop(c *txn.Tx, t *logpb.ThreadMeta) error {
	bytes, err := bytesFrom(c, t, t.Floor)
	if err != nil {
		return err
	}
	key := kv.IDKey(kv.KindThread, c.Scope, t.Id)
	c.Rows.Remove(key)
	c.ClearExpiry(t.ExpiresAt, key)
	c.Rows.Remove(kv.IncarnationKey(kv.KindSummary, c.Scope, t.Id, t.Incarnation))
	c.NotifyWatchers(key)
	c.Removed(agent.ChangedThread, t.Id)
	c.AddUsage(-1, -int64(bytes+t.DescribedBytes))
	if err := c.CountThread(t.Id, -1, -int64(txn.OwnEntries(t))); err != nil {
		return err
	}
	if err := unpinSegments(c, t, t.Segments); err != nil {
		return err
	}
	return reclaim(c, t.Id, t.Incarnation, t.Rev)
}

// bytesFrom returns the bytes of the thread's own entries from seq on.
func bytesFrom(c *txn.Tx, t *logpb.ThreadMeta, seq uint64) (uint64, error) {
	j := journalOf(c, t)
	switch {
	case seq <= j.ownStart():
		return t.Bytes, nil
	case seq >= t.Rev:
		return 0, nil
	}
	row, err := j.row(seq)
	if err != nil {
		return 0, err
	}
	return t.Bytes - row.Offset, nil
}

// SetTTL runs set_ttl of a thread.
func SetTTL(c *txn.Tx, op *agent.SetTTL) (agent.OpResult, error) {
	t, err := presentThread(c, op.Thread, op.IfIncarnation)
	if err != nil {
		return nil, err
	}
	key := kv.IDKey(kv.KindThread, c.Scope, t.Id)
	c.ClearExpiry(t.ExpiresAt, key)
	t.ExpiresAt = c.Deadline(op.TTL.Milliseconds())
	c.SetExpiry(t.ExpiresAt, key)
	c.AddUsage(0, 0)
	thread, err := Store(c, t)
	if err != nil {
		return nil, err
	}
	return &agent.ThreadResult{Thread: thread}, nil
}

// stored returns the row of a thread, or nil, even if it has expired or is deleted by prefix.
func stored(c *txn.Tx, id string) (*logpb.ThreadMeta, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindThread, c.Scope, id))
	if err != nil || raw == nil {
		return nil, err
	}
	return decodeThreadRow(id, raw)
}

// Expire removes the thread of an id if it expires at when.
func Expire(c *txn.Tx, id string, when int64) error {
	t, err := stored(c, id)
	if err != nil || t == nil || t.ExpiresAt != when {
		return err
	}
	return dropGone(c, t)
}

// dropGone removes a thread that has expired or is deleted by prefix.
func dropGone(c *txn.Tx, t *logpb.ThreadMeta) error {
	if err := Drop(c, t); err != nil {
		return err
	}
	return c.CountDeleted(kv.KindThread, t.Id, t)
}

// RemoveDeleted removes the thread of an id if it is deleted by prefix, and returns about how many rows
// that deletes and writes.
func RemoveDeleted(c *txn.Tx, id string) (rows int, err error) {
	t, err := stored(c, id)
	if err != nil || t == nil || !c.Deletions.Delete(c.Scope, kv.KindThread, id, t.Incarnation) {
		return 0, err
	}
	return Rows(t), dropGone(c, t)
}

// Rows returns about how many rows the removal of a thread deletes and writes. Many entries are removed
// by range deletes.
func Rows(t *logpb.ThreadMeta) int {
	const itself, entry = 8, 3
	return itself + entry*int(min(t.Rev-min(t.Floor, t.Rev), kv.PointDeletesMax)) + len(t.Segments)
}
