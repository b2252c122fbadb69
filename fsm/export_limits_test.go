package fsm

import (
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
