package fsm

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A small step of the backfills lets tests see states in which some rows count and others do not.
func init() {
	for _, f := range txn.CountBackfills {
		f.Most = 3
	}
}

// Recounted counts a scope's rows, of those kinds and keys that the backfills are past. all reports
// that they are complete.
func (v *View) Recounted(scope string) (counts agent.Scope, all bool, err error) {
	agents := map[string]bool{}
	all = true
	for _, f := range txn.CountBackfills {
		cursor, err := v.Get(f.Cursor)
		if err != nil {
			return counts, false, err
		}
		all = all && string(cursor) == f.End()
		err = txn.EachRow(v.view, f.Kind+scope+kv.Separator, func(rest string, raw []byte) error {
			if f.Kind+scope+kv.Separator+rest >= string(cursor) {
				return nil
			}
			switch id, _, _ := strings.Cut(rest, kv.Separator); f.Kind {
			case kv.KindThread:
				t := &logpb.ThreadMeta{}
				if err := command.Unmarshal(raw, t); err != nil {
					return err
				}
				counts.Threads++
				from := t.Floor
				for _, s := range t.Segments {
					from = max(from, s.To)
				}
				counts.Entries += t.Rev - from
			case kv.KindTimer:
				counts.Timers++
			default:
				agents[id] = true
			}
			return nil
		})
		if err != nil {
			return counts, false, err
		}
	}
	counts.Agents = uint64(len(agents))
	return counts, all, nil
}

// ThreadBytes counts the bytes of a scope's threads: of the entries that a thread or only its forks
// read, and of metadata and summaries. It fails if a row says that other bytes count.
func (v *View) ThreadBytes(scope string) (total uint64, err error) {
	stored := func(thread string, incarnation, from, to uint64) (bytes uint64, err error) {
		for seq := from; seq < to; seq++ {
			raw, err := v.Get(kv.EntryKey(scope, thread, incarnation, seq))
			if err != nil {
				return 0, err
			}
			row := &logpb.EntryRow{}
			if raw == nil {
				continue
			}
			if err := command.Unmarshal(raw, row); err != nil {
				return 0, err
			}
			draft := agent.Draft{ID: row.Id, At: &row.At, Kind: row.Kind, Payload: row.Payload, Refs: row.Refs, ContentType: row.ContentType, Bytes: row.Bytes}
			e := draft.Entry(incarnation, seq, row.At)
			bytes += uint64(e.Size())
		}
		return bytes, nil
	}
	err = txn.EachRow(v.view, kv.ScopeKey(kv.KindThread, scope), func(rest string, raw []byte) error {
		t, id := &logpb.ThreadMeta{}, strings.TrimSuffix(rest, kv.Separator)
		if err := command.Unmarshal(raw, t); err != nil {
			return err
		}
		summary, err := v.Get(kv.IncarnationKey(kv.KindSummary, scope, id, t.Incarnation))
		if err != nil {
			return err
		}
		if n := t.DescribedBytes; n != 0 && n != uint64(len(t.Metadata)+len(summary)) {
			return fmt.Errorf("thread %q counts %d bytes of metadata and summary, and has %d", id, n, len(t.Metadata)+len(summary))
		}
		own, err := stored(id, t.Incarnation, t.Rev-txn.OwnEntries(t), t.Rev)
		total += own + t.DescribedBytes
		return err
	})
	if err != nil {
		return 0, err
	}
	return total, txn.EachRow(v.view, kv.ScopeKey(kv.KindShared, scope), func(rest string, raw []byte) error {
		id, incarnation, _ := strings.Cut(rest, kv.Separator)
		bytes, err := stored(id, kv.DecodeNumber(incarnation), 0, kv.DecodeNumber(raw[:8]))
		if err == nil && bytes != kv.DecodeNumber(raw[8:]) {
			err = fmt.Errorf("thread %q counts %d bytes that only forks read, and has %d", id, kv.DecodeNumber(raw[8:]), bytes)
		}
		total += bytes
		return err
	})
}
