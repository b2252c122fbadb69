package workload

import (
	"context"
	"sync"
	"time"
)

// readers has one process of each node only read, and give up soon. One that
// writes too is soon kept by a write wherever nothing can be written, so that
// nobody asks the node which should know that it may not answer: a leader that
// was deposed and has not heard of it. The zero value is ready for use.
type readers struct {
	mu sync.Mutex
	of map[string]*Process // guarded by mu; :: node → its reader
}

// include tells whether p is a reader: the first of its node to ask is.
func (r *readers) include(p *Process) bool {
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

// readerMax bounds a reader's read: an answer that comes late is none, and the
// next read begins after whatever was written meanwhile.
const readerMax = 500 * time.Millisecond

// run reads again and again until ctx ends.
func (*readers) run(ctx context.Context, p *Process, read func(ctx context.Context)) {
	for pace(ctx, p) {
		soon, cancel := context.WithTimeout(ctx, readerMax)
		read(soon)
		cancel()
	}
}
