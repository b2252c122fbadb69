package fsm

import (
	"slices"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// entries reads a page of a thread as it stood at a rev.
//
// From 0 begins at the floor, however much has been compacted; any other From
// below the floor is refused, since the caller means an entry that is gone.
// The page ends early once it has read agent.ReadBytesMax, of any kind.
func (r reader) entries(q *agent.LoadEntries) (agent.Found, error) {
	j, err := r.journal(q.Thread)
	if err != nil {
		return nil, err
	}
	rev := j.meta.Rev
	if q.AtRev != nil {
		if rev = *q.AtRev; rev > j.meta.Rev {
			return nil, conflict(q.Thread, j.meta, "it has not come to the rev that is asked for")
		}
	}
	out := &agent.Entries{}
	if out.Thread, err = r.threadAt(j, rev); err != nil {
		return nil, err
	}
	from, to, err := r.span(j, q, rev)
	if err != nil {
		return nil, err
	}
	limit := min(orDefault(q.Limit, agent.EntriesLimitDefault), agent.EntriesLimitMax)
	size := 0
	err = r.eachEntry(j, from, to, func(_ *logpb.EntryRow, e agent.Entry) (bool, error) {
		if uint64(len(out.Items)) == limit || size > agent.ReadBytesMax {
			out.Next = &e.Seq
			return false, nil
		}
		size += int(entryBytes(&e))
		if len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind) {
			out.Items = append(out.Items, e)
		}
		return true, nil
	})
	return out, err
}

// span is where a load begins and ends.
func (r reader) span(j journal, q *agent.LoadEntries, rev uint64) (from, to uint64, err error) {
	to = rev
	if q.To != nil && *q.To < rev {
		to = *q.To + 1
	}
	floor := j.meta.Floor
	switch {
	case q.Tail > 0:
		from, err = r.tailStart(j, q, to)
		return from, to, err
	case q.From == 0:
		return floor, to, nil
	case q.From < floor:
		return 0, 0, compacted(j.meta, q.From+1)
	}
	return q.From, to, nil
}

// tailStart is the seq of the first of the last q.Tail entries, of the kinds
// that are asked for. It looks back over at most agent.ReadBytesMax.
func (r reader) tailStart(j journal, q *agent.LoadEntries, to uint64) (uint64, error) {
	floor := j.meta.Floor
	if len(q.Kinds) == 0 {
		if to < floor+q.Tail || floor+q.Tail < floor {
			return min(floor, to), nil
		}
		return to - q.Tail, nil
	}
	size, left := 0, q.Tail
	for to > floor && left > 0 && size <= agent.ReadBytesMax {
		e, err := j.entry(to - 1)
		if err != nil {
			return 0, err
		}
		to--
		size += int(entryBytes(&e))
		if slices.Contains(q.Kinds, e.Kind) {
			left--
		}
	}
	return to, nil
}

// WatchPage is what a watch has to tell next.
type WatchPage struct {
	Exists      bool   // the incarnation that is asked for is there
	Incarnation uint64 // of the thread that is there now; 0 for none
	Rev         uint64
	Floor       uint64
	Entries     []agent.Entry // from the seq that is asked for; none where that is below Floor
}

// watchPageBytesMax bounds a page: a watch asks for the next one at once.
const watchPageBytesMax = 1 << 20

// WatchPage reads a thread's entries from a seq on, at most limit of them.
// incarnation 0 means whichever is there.
func (v *View) WatchPage(scope, thread string, incarnation, from uint64, limit int) (WatchPage, error) {
	if v.err != nil {
		return WatchPage{}, v.err
	}
	r := reader{View: v, scope: scope}
	if scope == "" {
		r.scope = agent.DefaultScope
	}
	j, err := r.journalOrNone(thread)
	if err != nil || j.meta == nil {
		return WatchPage{}, err
	}
	page := WatchPage{Incarnation: j.meta.Incarnation, Rev: j.meta.Rev, Floor: j.meta.Floor}
	page.Exists = incarnation == 0 || incarnation == page.Incarnation
	if !page.Exists || from < page.Floor {
		return page, nil
	}
	size := 0
	err = r.eachEntry(j, from, j.meta.Rev, func(_ *logpb.EntryRow, e agent.Entry) (bool, error) {
		if len(page.Entries) >= limit || size > watchPageBytesMax {
			return false, nil
		}
		size += int(entryBytes(&e))
		page.Entries = append(page.Entries, e)
		return true, nil
	})
	return page, err
}
