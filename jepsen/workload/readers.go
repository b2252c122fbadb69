package workload

import (
	"context"
	"sync"
	"time"
)

// Readers has one process of each node only read, and give up soon. One that
// writes too is soon kept by a write wherever nothing can be written, so that
// nobody asks the node which should know that it may not answer: a leader that
// was deposed and has not heard of it. The zero value is ready for use.
type Readers struct {
	mu sync.Mutex
	of map[string]*Process // guarded by mu; :: node → its reader
}

// Include tells whether p is a reader: the first of its node to ask is.
func (r *Readers) Include(p *Process) bool {
	if p.Node == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]*Process{}
	}
	if r.of[p.Node] == nil {
		r.of[p.Node] = p
	}
	return r.of[p.Node] == p
}

// ReaderMax bounds a reader's read: an answer that comes late is none, and the
// next read begins after whatever was written meanwhile.
const ReaderMax = 500 * time.Millisecond

// Run reads again and again until ctx ends.
func (*Readers) Run(ctx context.Context, p *Process, read func(ctx context.Context)) {
	for Pace(ctx, p) {
		soon, cancel := context.WithTimeout(ctx, ReaderMax)
		read(soon)
		cancel()
	}
}
