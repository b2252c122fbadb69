package scoperow

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	"dormouse/fsm/value"
	logpb "dormouse/proto/log"
)

// numberMax bounds the numbers of an imported row: sizes in bytes, revs and ordinals. Their sums over a scope fit
// 64 bits.
const numberMax = 1 << 44

// ofNoun returns what each noun's main row counts for in its scope.
func ofNoun(m command.Coded) (keys, bytes uint64) {
	switch row := m.(type) {
	case *logpb.ValueRow:
		return 1, value.Bytes(row)
	case *logpb.CheckpointRow:
		return 1, checkpoint.Bytes(row)
	case *logpb.ThreadMeta:
		if row.Floor >= row.Rev {
			return 1, row.DescribedBytes
		}
		return 1, row.Bytes + row.DescribedBytes
	case *logpb.MemoryRow:
		return 1, row.Size
	case *logpb.SessionRow:
		return 1, session.Bytes(row)
	case *logpb.ReviewRow:
		return 0, uint64(session.ReviewBytes(row))
	case *logpb.ConversationRow:
		return 1, conversation.Bytes(row)
	case *logpb.ManagerRow:
		return 1, row.Size
	case *logpb.TimerRow:
		return 1, row.Size
	default:
		return 0, 0
	}
}

// mainKinds are the kinds of rows that ofNoun counts: other kinds may have the same messages.
var mainKinds = kv.KindValue + kv.KindCheckpoint + kv.KindThread + kv.KindMemory + kv.KindSession + kv.KindReview +
	kv.KindConversation + kv.KindManager + kv.KindTimer

// Valid checks the numbers of an imported row, and its lists: no op of the scope may meet a number or a list that no op
// writes. m is the message in its value, or nil.
// below is the log index that no incarnation of the source reaches.
func Valid(row agent.ScopeRow, m command.Coded, below uint64) error {
	if string(row.Key[:1]) == kv.KindShared {
		if to, bytes := thread.DecodeShared(row.Value); max(to, bytes) > numberMax {
			return fmt.Errorf("it counts %d bytes of %d entries, and at most %d are possible", bytes, to, uint64(numberMax))
		}
		return nil
	}
	if of, ok := m.(interface{ GetIncarnation() uint64 }); ok && of.GetIncarnation()>>16 >= below {
		return fmt.Errorf("its incarnation %d is not one of the source, whose numbers end below %d", of.GetIncarnation(), below<<16)
	}
	if _, bytes := ofNoun(m); bytes > numberMax {
		return fmt.Errorf("it counts for %d bytes, more than %d", bytes, uint64(numberMax))
	}
	if err := validLists(m); err != nil {
		return err
	}
	switch m := m.(type) {
	case *logpb.ThreadMeta:
		if m.Floor > m.Rev || m.Rev > numberMax {
			return fmt.Errorf("its floor %d and its rev %d do not fit together, or are above %d", m.Floor, m.Rev, uint64(numberMax))
		}
		if n := m.DescribedBytes; n > numberMax || n > 0 && n < uint64(len(m.Metadata)) {
			return fmt.Errorf("its described_bytes = %d do not fit its %d bytes of metadata", n, len(m.Metadata))
		}
	case *logpb.EntryRow:
		if m.Offset > numberMax {
			return fmt.Errorf("its offset %d is above %d", m.Offset, uint64(numberMax))
		}
	case *logpb.SessionRow:
		return validSession(m)
	}
	return nil
}

func validSession(row *logpb.SessionRow) error {
	for _, end := range []struct {
		name      string
		end, rows uint64
	}{
		{"requests_end", row.RequestsEnd, uint64(len(row.RequestSizes))},
		{"snapshots_end", row.SnapshotsEnd, uint64(len(row.Snapshots))},
		{"queue_end", row.QueueEnd, uint64(len(row.QueueSizes))},
		{"reviews_end", row.ReviewsEnd, row.PendingReviews},
	} {
		if end.end < end.rows || end.end > numberMax {
			return fmt.Errorf("its %s = %d does not fit its %d rows, or is above %d", end.name, end.end, end.rows, uint64(numberMax))
		}
	}
	return nil
}

// Usage returns the keys and bytes that an imported row counts for. m is the message in its value, or nil. The entries
// of a thread count with the thread's row, which must come first. Those below the floor were removed, so the entry at
// the floor takes their bytes off.
func Usage(c *txn.Tx, key string, value []byte, m command.Coded) (keys, bytes int64, err error) {
	if key[:1] == kv.KindShared {
		_, shared := thread.DecodeShared(value)
		return 0, int64(shared), nil
	}
	if entry, ok := m.(*logpb.EntryRow); ok {
		bytes, err = compacted(c, key, entry)
		return 0, -bytes, err
	}
	if !strings.Contains(mainKinds, key[:1]) {
		return 0, 0, nil
	}
	k, b := ofNoun(m)
	return int64(k), int64(b), nil
}

// compacted returns the bytes of a thread's own entries below an entry, if that one is at its floor.
func compacted(c *txn.Tx, key string, entry *logpb.EntryRow) (int64, error) {
	if entry.Offset == 0 { // no entry of the thread is below it
		return 0, nil
	}
	const numbers = 2 * 8
	id := key[len(kv.ScopeKey(kv.KindEntry, c.Scope)) : len(key)-numbers-len(kv.Separator)]
	incarnation, seq := kv.DecodeNumber([]byte(key[len(key)-numbers:len(key)-8])), kv.DecodeNumber([]byte(key[len(key)-8:]))
	raw, err := c.Rows.Get(kv.IDKey(kv.KindThread, c.Scope, id))
	if err != nil || raw == nil {
		return 0, err
	}
	t := &logpb.ThreadMeta{}
	if err := command.Unmarshal(raw, t); err != nil {
		return 0, fmt.Errorf("decode thread %q: %w", id, err)
	}
	if t.Incarnation != incarnation || t.Floor != seq || seq >= t.Rev {
		return 0, nil
	}
	return int64(entry.Offset), nil
}
