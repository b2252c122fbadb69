// Package budget shares a bounded resource of a node, such as bytes in memory or connections, among
// the callers that use it.
package budget

import (
	"context"
	"sync"
)

// Pool is a bounded amount of a resource. A caller may use at most half of it, so that one caller
// cannot take it from all others. A nil Pool has no bound.
type Pool struct {
	total, share int64

	mu    sync.Mutex
	used  int64            // guarded by mu
	by    map[string]int64 // guarded by mu; what each caller uses
	freed chan struct{}    // guarded by mu; closed when some is given back; nil if no caller waits
}

// New returns a Pool of total.
func New(total int64) *Pool {
	return &Pool{total: total, share: max(1, total/2), by: map[string]int64{}}
}

// Total returns the size of the pool.
func (p *Pool) Total() int64 { return p.total }

// Used returns how much is in use.
func (p *Pool) Used() int64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Fits reports whether Try would succeed now.
func (p *Pool) Fits(caller string, n int64) bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fits(caller, n)
}

// Try takes n for a caller, and reports whether there was room.
func (p *Pool) Try(caller string, n int64) bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fits(caller, n) {
		return false
	}
	p.take(caller, n)
	return true
}

// Take waits until there is room, and takes n for a caller. If ctx ends first it takes nothing and
// returns the error of ctx.
func (p *Pool) Take(ctx context.Context, caller string, n int64) error {
	if p == nil {
		return nil
	}
	for {
		p.mu.Lock()
		if p.fits(caller, n) {
			p.take(caller, n)
			p.mu.Unlock()
			return nil
		}
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Force takes n for a caller even if there is no room: it is in use already.
func (p *Pool) Force(caller string, n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(caller, n)
}

// Give gives back n that the caller has taken.
func (p *Pool) Give(caller string, n int64) {
	if p == nil || n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
	if p.by[caller] -= n; p.by[caller] == 0 {
		delete(p.by, caller)
	}
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

// fits reports whether n more fit. The first of a caller may exceed its share. mu is held.
func (p *Pool) fits(caller string, n int64) bool {
	mine := p.by[caller]
	return p.used+n <= p.total && (mine == 0 || mine+n <= p.share) || p.used == 0
}

// take notes that n more are in use. mu is held.
func (p *Pool) take(caller string, n int64) {
	if n == 0 {
		return
	}
	p.used += n
	p.by[caller] += n
}
