package dedupe

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/jepsen/workload"
)

// requestPool shares requests between processes, so that several of them attempt one
// request. Each process has its own node, so the attempts come from several nodes at
// once. The zero requestPool is empty. All methods may be called concurrently.
type requestPool struct {
	mu   sync.Mutex
	open []*request        // oldest first
	gone []*request        // recently removed requests: attempts of them are late
	seqs map[int]uint64    // :: process → seq of its last request
	revs map[string]uint64 // :: key → the highest rev in any answer
}

// request is a commit under a request id.
type request struct {
	in       dedupeIn
	key      string
	process  int
	until    time.Time   // when it is removed
	answered atomic.Bool // an attempt got an answer
}

const (
	openMax  = 200             // requests in the pool
	goneMax  = 50              // removed requests that are kept
	openLong = 4 * time.Second // mean time in the pool
	goneOne  = 20              // one pick in goneOne returns a removed request
)

// post adds a new request of p to the pool.
func (q *requestPool) post(p *workload.Process, key string, in dedupeIn) *request {
	stay := time.Duration(p.Rand.ExpFloat64() * float64(openLong))
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.seqs == nil {
		q.seqs = map[int]uint64{}
	}
	q.seqs[p.ID]++
	r := &request{in: in, key: key, process: p.ID, until: time.Now().Add(stay)}
	q.clear()
	r.in.Client, r.in.Seq, r.in.Low = fmt.Sprintf("%s/p%d", p.Scope, p.ID), q.seqs[p.ID], q.seqs[p.ID]
	for _, other := range q.open {
		if other.process == p.ID {
			r.in.Low = min(r.in.Low, other.in.Seq)
		}
	}
	q.open = append(q.open, r)
	return r
}

// clear removes requests that are old enough.
func (q *requestPool) clear() {
	now := time.Now()
	left := q.open[:0:0]
	for i, r := range q.open {
		if r.until.After(now) && len(q.open)-i < openMax {
			left = append(left, r)
			continue
		}
		q.gone = append(q.gone, r)
	}
	q.open = left
	q.gone = slices.Delete(q.gone, 0, max(0, len(q.gone)-goneMax))
}

// pick returns a request to attempt, or nil if there is none. Half of the time it is
// one of the newest three, which other processes attempt at the same time. Otherwise
// it is any open request, or sometimes a removed one.
func (q *requestPool) pick(p *workload.Process) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.open
	if p.Rand.IntN(goneOne) == 0 {
		from = q.gone
	}
	if len(from) == 0 {
		return nil
	}
	back := 1 + p.Rand.IntN(len(from))
	if p.Rand.IntN(2) == 0 {
		back = 1 + p.Rand.IntN(min(3, len(from)))
	}
	return from[len(from)-back]
}

// tell records that a thread has reached rev.
func (q *requestPool) tell(key string, rev uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.revs == nil {
		q.revs = map[string]uint64{}
	}
	q.revs[key] = max(q.revs[key], rev)
}

// rev returns the highest known rev of a thread.
func (q *requestPool) rev(key string) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.revs[key]
}
