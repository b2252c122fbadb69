package dedupe

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/jepsen/workload"
)

// requestPool is where processes find each other's requests, to attempt them too:
// each process has its own node, so one request comes from several sides at
// once. The zero requestPool is empty. All methods may be called concurrently.
type requestPool struct {
	mu   sync.Mutex
	open []*request        // oldest first
	gone []*request        // those that were taken down lately: attempts at them come late
	seqs map[int]uint64    // :: process → its last request
	revs map[string]uint64 // :: key → the highest rev that anybody was told
}

// request is a commit under a request id.
type request struct {
	in       dedupeIn
	key      string
	process  int
	until    time.Time   // when it is taken down
	answered atomic.Bool // somebody was told what became of it
}

const (
	openMax  = 200             // requests in the pool
	goneMax  = 50              // requests that are remembered after that
	openLong = 4 * time.Second // mean time in the pool
	goneOne  = 20              // one pick in so many is of one of those
)

// post puts a new request of p's in the pool.
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

// clear takes down what has been up for long enough.
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

// pick is a request to attempt: one of the newest, more often than not, which
// others attempt at the same time; any; or one that is gone. nil where there
// is none.
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

// tell notes that a thread has come to rev.
func (q *requestPool) tell(key string, rev uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.revs == nil {
		q.revs = map[string]uint64{}
	}
	q.revs[key] = max(q.revs[key], rev)
}

// rev is where a thread was, as far as anybody knows.
func (q *requestPool) rev(key string) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.revs[key]
}
