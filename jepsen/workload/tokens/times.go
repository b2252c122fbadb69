package tokens

import (
	"cmp"
	"slices"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// logTimes are the times of the log that the answers to the puts of all keys tell, by index.
type logTimes struct {
	puts   []timed
	newest []int // :: position in puts → that of the put with the largest time up to it
}

// timed is an answered put.
type timed struct {
	op    history.Op
	index uint64
	time  int64 // of the log, in Unix ms
}

func logTimesOf(h *history.History) (t logTimes) {
	for _, op := range h.Ops {
		if op.Call != workload.CallPut || op.Outcome != history.OK {
			continue
		}
		if out, err := history.Decode[seen](op.Out); err == nil && out.Index > 0 { // the judge of its key tells of an error
			t.puts = append(t.puts, timed{op, out.Index, out.Time})
		}
	}
	slices.SortStableFunc(t.puts, func(a, b timed) int { return cmp.Compare(a.index, b.index) })
	t.newest = make([]int, len(t.puts))
	for i := range t.puts {
		if t.newest[i] = i; i > 0 && t.puts[t.newest[i-1]].time >= t.puts[i].time {
			t.newest[i] = t.newest[i-1]
		}
	}
	return t
}

// before returns the put with the largest time of the log among those that a node has applied before it
// serves a read at an index: the puts of earlier entries, and those of the entry itself that were
// answered before the read began. A read may show an entry a moment before the node knows its time. It
// returns nil if there is none.
func (t *logTimes) before(index uint64, began time.Duration) *timed {
	at, _ := slices.BinarySearchFunc(t.puts, index, func(p timed, index uint64) int { return cmp.Compare(p.index, index) })
	var last *timed
	if at > 0 {
		last = &t.puts[t.newest[at-1]]
	}
	for ; at < len(t.puts) && t.puts[at].index == index; at++ {
		if p := &t.puts[at]; p.op.Return < began && (last == nil || p.time > last.time) {
			last = p
		}
	}
	return last
}
