package thread

import (
	"dormouse/agent"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// LoadEntries reads a page of a thread at a rev.
//
// From 0 begins at the floor, even after a compaction. Any other From below the floor is refused,
// since it names a removed entry. The page ends early once its entries reach agent.ReadBytesMax.
// Next is the next entry of the requested kinds, nil if there is none. A page without entries is
// the last, unless the load selects times: then it may have read entries of other times only.
func LoadEntries(r txn.Reader, q *agent.LoadEntries) (agent.Found, error) {
	j, err := ReadJournal(r, q.Thread)
	if err != nil {
		return nil, err
	}
	rev := j.Meta.Rev
	if q.AtRev != nil {
		if rev = *q.AtRev; rev > j.Meta.Rev {
			return nil, conflict(q.Thread, j.Meta, "it has not come to the rev that is asked for")
		}
	}
	out := &agent.Entries{}
	if out.Thread, err = At(r, j, rev); err != nil {
		return nil, err
	}
	from, to, err := entryBounds(r, j, q, rev)
	if err != nil {
		return nil, err
	}
	limit := min(txn.OrDefault(q.Limit, agent.EntriesLimitDefault), agent.EntriesLimitMax)
	seen, size := 0, 0 // all entries that the page reads
	add := func(_ *logpb.EntryRow, e agent.Entry) (bool, error) {
		if uint64(len(out.Items)) == limit || size > agent.ReadBytesMax || seen == agent.ReadRowsMax {
			out.Next = &e.Seq
			return false, nil
		}
		seen++
		size += int(EntryBytes(&e))
		if q.Has(e.At) {
			out.Items = append(out.Items, e)
		}
		return true, nil
	}
	back := q.Order == agent.Descending
	if len(q.Kinds) > 0 {
		return out, eachOfKinds(r, j, q.Kinds, from, to, back, add)
	}
	return out, eachEntry(r, j, from, to, back, add)
}

// entryBounds returns the first seq of a load and the seq after its last.
func entryBounds(r txn.Reader, j Journal, q *agent.LoadEntries, rev uint64) (from, to uint64, err error) {
	to = rev
	if q.To != nil && *q.To < rev {
		to = *q.To + 1
	}
	floor := j.Meta.Floor
	switch {
	case q.Tail > 0:
		from, err = tailStart(r, j, q, to)
		return from, to, err
	case q.From == 0:
		return floor, to, nil
	case q.From < floor:
		return 0, 0, compacted(j.Meta, q.From+1)
	}
	return q.From, to, nil
}

// tailStart returns the seq of the first of the last q.Tail entries of the requested kinds.
func tailStart(r txn.Reader, j Journal, q *agent.LoadEntries, to uint64) (uint64, error) {
	floor := min(j.Meta.Floor, to)
	if len(q.Kinds) > 0 {
		return lastOfKinds(r, j, q.Kinds, q.Tail, floor, to)
	}
	if to-floor < q.Tail {
		return floor, nil
	}
	return to - q.Tail, nil
}
