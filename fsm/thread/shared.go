package thread

import (
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// From txn.WholeBytesLevel on, a scope's bytes count the metadata and the summary of each thread, and
// the entries that only forks read: those of a deleted incarnation, and those below the floor of a
// thread. Rows from below the level count from the next change on: a thread's from its next write, and
// shared entries when a fork of them goes, or when their thread is compacted or deleted.
// ThreadMeta.described_bytes and the rows of kv.KindShared say what counts, so no row counts twice, also
// after an import.

// pinsMax is how many pins of forks highestPin reads.
const pinsMax = 64

// describe begins to count the metadata and the summary of a thread from below the level.
func describe(c *txn.Tx, t *logpb.ThreadMeta) error {
	if c.Level < txn.WholeBytesLevel || t.DescribedBytes > 0 {
		return nil
	}
	summary, err := c.Rows.Get(kv.IncarnationKey(kv.KindSummary, c.Scope, t.Id, t.Incarnation))
	countDescribed(c, t, uint64(len(t.Metadata)+len(summary)))
	return err
}

// countDescribed replaces what counts for the metadata and the summary of a thread.
func countDescribed(c *txn.Tx, t *logpb.ThreadMeta, bytes uint64) {
	if c.Level < txn.WholeBytesLevel {
		return
	}
	c.AddUsage(0, int64(bytes)-int64(t.DescribedBytes))
	t.DescribedBytes = bytes
}

func setMetadata(c *txn.Tx, t *logpb.ThreadMeta, metadata []byte) {
	old := len(t.Metadata)
	t.Metadata = metadata
	if t.DescribedBytes > 0 {
		countDescribed(c, t, redescribed(t, old, metadata))
	}
}

// redescribed returns what counts for a thread after a part of its metadata and its summary was replaced. An import may
// bring a thread that counts less than the part.
func redescribed(t *logpb.ThreadMeta, old int, replacement []byte) uint64 {
	return t.DescribedBytes - min(t.DescribedBytes, uint64(old)) + uint64(len(replacement))
}

func setSummary(c *txn.Tx, t *logpb.ThreadMeta, summary []byte) error {
	key := kv.IncarnationKey(kv.KindSummary, c.Scope, t.Id, t.Incarnation)
	old, err := c.Rows.Get(key)
	if err != nil {
		return err
	}
	c.Rows.Set(key, summary)
	if t.DescribedBytes > 0 {
		countDescribed(c, t, redescribed(t, len(old), summary))
	}
	return nil
}

// reclaim removes the rows of one incarnation of a thread that neither it nor a fork reads any more,
// and counts those that only forks read. rev is the number of its entries; 0 means that it was deleted
// before.
func reclaim(c *txn.Tx, id string, incarnation, rev uint64) error {
	if c.Level < txn.WholeBytesLevel {
		if pinned, err := pinnedByForks(c, id, incarnation); err != nil || pinned {
			return err
		}
	}
	load := stored // one that is gone removes its rows when it goes: forks of forks have no bound together
	if c.Level < txn.ForkChainLevel {
		load = Load
	}
	t, err := load(c, id)
	if err != nil {
		return err
	}
	pinned, err := pinnedByForks(c, id, incarnation)
	if err != nil {
		return err
	}
	switch current := t.GetIncarnation() == incarnation; {
	case current && pinned:
		return countShared(c, id, incarnation, t.Floor)
	case current:
		if err := c.Rows.RemoveRange(kv.EntryKey(c.Scope, id, incarnation, 0), kv.EntryKey(c.Scope, id, incarnation, t.Floor)); err != nil {
			return err
		}
		if err := forgetKinds(c, id, incarnation, 0, t.Floor); err != nil {
			return err
		}
		return countShared(c, id, incarnation, t.Floor)
	case pinned:
		return trimShared(c, id, incarnation, rev)
	}
	for _, kind := range []string{kv.KindEntry, kv.KindEntryID, kv.KindEntryKind} {
		prefix := kv.IncarnationKey(kind, c.Scope, id, incarnation)
		if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return err
		}
	}
	return countShared(c, id, incarnation, 0)
}

// trimShared removes the rows of a deleted incarnation that are above the highest pin of its forks. The
// index of chosen ids is ordered by id, so to find the rows to remove each entry would have to be
// read: entries with chosen ids stay, and count, until the last fork is gone.
func trimShared(c *txn.Tx, id string, incarnation, rev uint64) error {
	ids := kv.IncarnationKey(kv.KindEntryID, c.Scope, id, incarnation)
	chosen, _, err := c.Rows.Keys(ids, kv.After(ids), 1)
	if err != nil {
		return err
	}
	pin, known, err := highestPin(c, id, incarnation)
	if err != nil {
		return err
	}
	if len(chosen) > 0 || !known {
		return countShared(c, id, incarnation, rev)
	}
	entries := kv.IncarnationKey(kv.KindEntry, c.Scope, id, incarnation)
	if err := c.Rows.RemoveRange(kv.EntryKey(c.Scope, id, incarnation, pin), kv.After(entries)); err != nil {
		return err
	}
	kinds, block := kv.IncarnationKey(kv.KindEntryKind, c.Scope, id, incarnation), (pin+kv.KindBlock-1)/kv.KindBlock
	if err := c.Rows.RemoveRange(kv.EntryKindPrefix(c.Scope, id, incarnation, block), kv.After(kinds)); err != nil {
		return err
	}
	return countShared(c, id, incarnation, pin)
}

// highestPin returns the highest rev at which forks of an incarnation were made. known is false if they
// are more than pinsMax.
func highestPin(c *txn.Tx, id string, incarnation uint64) (pin uint64, known bool, err error) {
	prefix := kv.IncarnationKey(kv.KindForkPin, c.Scope, id, incarnation)
	keys, more, err := c.Rows.Keys(prefix, kv.After(prefix), pinsMax)
	if err != nil || more {
		return 0, false, err
	}
	for _, key := range keys {
		raw, err := c.Rows.Get(key)
		if err != nil {
			return 0, false, err
		}
		pin = max(pin, kv.DecodeNumber(raw))
	}
	return pin, true, nil
}

// countShared counts the stored entries of an incarnation below a seq, which only forks read, in place
// of those that it counted before. A seq of 0 means the same seq as before, of rows that are still
// stored.
func countShared(c *txn.Tx, id string, incarnation, to uint64) error {
	if c.Level < txn.WholeBytesLevel {
		return nil
	}
	key := kv.IncarnationKey(kv.KindShared, c.Scope, id, incarnation)
	raw, err := c.Rows.Get(key)
	if err != nil {
		return err
	}
	before, had := DecodeShared(raw)
	if to == 0 {
		to = before
	}
	has, err := storedBytes(c, id, incarnation, to)
	if err != nil {
		return err
	}
	if has != had {
		c.AddUsage(0, int64(has)-int64(had))
	}
	switch {
	case has == 0 && raw != nil:
		c.Rows.Remove(key)
	case has != had || to != before && has > 0:
		c.Rows.Set(key, []byte(kv.EncodeNumber(to)+kv.EncodeNumber(has)))
	}
	return nil
}

// DecodeShared returns the content of a row of kv.KindShared: how many entries only forks read, and their bytes. A row
// that is none has neither.
func DecodeShared(raw []byte) (to, bytes uint64) {
	if len(raw) != 16 {
		return 0, 0
	}
	return kv.DecodeNumber(raw[:8]), kv.DecodeNumber(raw[8:])
}

// storedBytes returns the bytes of the stored entries of an incarnation below a seq. Rows that contradict
// each other, which only an import can bring, count nothing.
func storedBytes(c *txn.Tx, id string, incarnation, to uint64) (uint64, error) {
	keys, _, err := c.Rows.Keys(kv.EntryKey(c.Scope, id, incarnation, 0), kv.EntryKey(c.Scope, id, incarnation, to), 1)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	first, err := storedEntry(c, keys[0], kv.DecodeNumber(keys[0][len(keys[0])-8:]))
	if err != nil {
		return 0, err
	}
	last, err := storedEntry(c, kv.EntryKey(c.Scope, id, incarnation, to-1), to-1)
	if err != nil || last == nil || last.Offset < first.Offset {
		return 0, err
	}
	e := entryOf(last, incarnation, to-1)
	return last.Offset + EntryBytes(&e) - first.Offset, nil
}

// storedEntry returns the row of an entry, or nil.
func storedEntry(c *txn.Tx, key string, seq uint64) (*logpb.EntryRow, error) {
	raw, err := c.Rows.Get(key)
	if err != nil || raw == nil {
		return nil, err
	}
	row := &logpb.EntryRow{}
	return row, decodeEntryRow(seq, raw, row)
}
