package workload

import (
	"context"
	"sync"
	"time"
)

// Readers chooses one process of each node that only reads, with a short timeout. A
// process that also writes is soon blocked by a write that cannot succeed. Then no
// process would read from a leader that was replaced and does not know it, although
// exactly that node must not answer. The zero value is ready for use.
type Readers struct {
	mu sync.Mutex
	of map[string]*Process // guarded by mu; :: node → its reader
}

// Include reports whether p is a reader: the first process of a node that asks.
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

// ReaderMax bounds a read of a reader: a late answer is dropped, and the next read
// starts after the writes of the meantime.
const ReaderMax = 500 * time.Millisecond

// Run repeats the read until ctx ends.
func (*Readers) Run(ctx context.Context, p *Process, read func(ctx context.Context)) {
	for Pace(ctx, p) {
		soon, cancel := context.WithTimeout(ctx, ReaderMax)
		read(soon)
		cancel()
	}
}
