package workload

import (
	"context"
	"sync"
	"time"
)

// Readers chooses one process of each node to only read, with a short timeout. A
// process that also writes soon waits for a write where no write can succeed. Then
// no process reads from a leader that was replaced and does not know it, which is
// the node that must not answer. The zero value is ready for use.
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
