package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/thread"
	logpb "dormouse/proto/log"
)

// WatchPage is the next page of a watch.
type WatchPage struct {
	Exists      bool   // the requested incarnation exists
	Incarnation uint64 // of the current thread; 0 means none
	Rev         uint64
	Floor       uint64
	Entries     []agent.Entry // from the requested seq on; none if that is below Floor
}

// watchPageBytesMax bounds a page: a watch requests the next one at once.
const watchPageBytesMax = 1 << 20

// WatchPage reads at most limit entries of a thread, from a seq on. incarnation 0 means the current
// one. Like other reads, it is refused while the scope is being imported.
func (v *View) WatchPage(scope, id string, incarnation, from uint64, limit int) (WatchPage, error) {
	if v.err != nil {
		return WatchPage{}, v.err
	}
	if scope == "" {
		scope = agent.DefaultScope
	}
	if err := v.readable(scope, &agent.GetThread{Thread: id}); err != nil {
		return WatchPage{}, err
	}
	r := v.reader(scope)
	j, err := thread.JournalOrNone(r, id)
	if err != nil || j.Meta == nil {
		return WatchPage{}, err
	}
	page := WatchPage{Incarnation: j.Meta.Incarnation, Rev: j.Meta.Rev, Floor: j.Meta.Floor}
	page.Exists = incarnation == 0 || incarnation == page.Incarnation
	if !page.Exists || from < page.Floor {
		return page, nil
	}
	size := 0
	err = thread.EachEntry(r, j, from, j.Meta.Rev, func(_ *logpb.EntryRow, e agent.Entry) (bool, error) {
		if len(page.Entries) >= limit || size > watchPageBytesMax {
			return false, nil
		}
		size += int(thread.EntryBytes(&e))
		page.Entries = append(page.Entries, e)
		return true, nil
	})
	return page, err
}
