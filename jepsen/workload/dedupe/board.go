package dedupe

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/jepsen/workload"
)

// board is where processes find each other's requests, to attempt them too:
// each process has its own node, so one request comes from several sides at
// once. The zero board is empty. All methods may be called concurrently.
type board struct {
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
	openMax  = 200             // requests on the board
	goneMax  = 50              // requests that are remembered after that
	openLong = 4 * time.Second // mean time on the board
	goneOne  = 20              // one pick in so many is of one of those
)

// post puts a new request of p's on the board.
func (b *board) post(p *workload.Process, key string, in dedupeIn) *request {
	stay := time.Duration(p.Rand.ExpFloat64() * float64(openLong))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seqs == nil {
		b.seqs = map[int]uint64{}
	}
	b.seqs[p.ID]++
	r := &request{in: in, key: key, process: p.ID, until: time.Now().Add(stay)}
	b.clear()
	r.in.Client, r.in.Seq, r.in.Low = fmt.Sprintf("%s/p%d", p.Scope, p.ID), b.seqs[p.ID], b.seqs[p.ID]
	for _, other := range b.open {
		if other.process == p.ID {
			r.in.Low = min(r.in.Low, other.in.Seq)
		}
	}
	b.open = append(b.open, r)
	return r
}

// clear takes down what has been up for long enough.
func (b *board) clear() {
	now := time.Now()
	left := b.open[:0:0]
	for i, r := range b.open {
		if r.until.After(now) && len(b.open)-i < openMax {
			left = append(left, r)
			continue
		}
		b.gone = append(b.gone, r)
	}
	b.open = left
	b.gone = slices.Delete(b.gone, 0, max(0, len(b.gone)-goneMax))
}

// pick is a request to attempt: one of the newest, more often than not, which
// others attempt at the same time; any; or one that is gone. nil where there
// is none.
func (b *board) pick(p *workload.Process) *request {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := b.open
	if p.Rand.IntN(goneOne) == 0 {
		from = b.gone
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
func (b *board) tell(key string, rev uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.revs == nil {
		b.revs = map[string]uint64{}
	}
	b.revs[key] = max(b.revs[key], rev)
}

// rev is where a thread was, as far as anybody knows.
func (b *board) rev(key string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.revs[key]
}
