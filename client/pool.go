package client

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// endpoint is an address that a node may be reached at.
type endpoint struct {
	addr    string
	seed    bool                        // given by the caller: never forgotten
	link    *link                       // nil if there is none
	retryAt time.Time                   // not dialled before
	backoff *backoff.ExponentialBackOff // between dials that came to nothing
}

// place is where a call waits: in one of the pool's queues or in none.
type place struct {
	queue   *list.List
	element *list.Element
}

// pool keeps links to nodes and says which one to use: the preferred one while
// it is up, whoever else is up meanwhile. It connects only when somebody
// needs it to. At most one goroutine connects, one refreshes, one serves each
// link; close waits for all of them.
type pool struct {
	o       Options
	ctx     context.Context //nolint:containedctx // ends at close
	cancel  context.CancelFunc
	work    sync.WaitGroup // Add is guarded by mu and !closed
	kick    chan struct{}  // capacity 1: look at the cluster's members now
	cluster clusterID

	mu         sync.Mutex
	endpoints  []*endpoint // guarded by mu; never empty
	at         int         // guarded by mu; the preferred one
	parked     list.List   // guarded by mu; *call and chan struct{} that wait for a link
	resting    list.List   // guarded by mu; *call that wait for their next attempt
	connecting bool        // guarded by mu; connect runs
	refreshing bool        // guarded by mu; refresh runs
	closed     bool        // guarded by mu
	foreign    error       // guarded by mu; why the newest dial was given up, where a node of another cluster answered
}

func newPool(o Options) *pool {
	p := &pool{o: o, kick: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if o.ClusterID != "" {
		p.cluster.id.Store(&o.ClusterID)
	}
	for _, addr := range o.Endpoints {
		p.add(addr, true)
	}
	return p
}

// add makes an endpoint. mu is held, or the pool is new.
func (p *pool) add(addr string, seed bool) *endpoint {
	e := &endpoint{addr: addr, seed: seed, backoff: newBackoff(dialBackoffFirst, dialBackoffMost)}
	p.endpoints = append(p.endpoints, e)
	return e
}

// pick finds a link for k. Where there is none, k is parked, to be resumed
// when there is. open is false when the client is closed.
func (p *pool) pick(k *call) (l *link, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	p.leaveLocked(k)
	if l = p.up(); l == nil {
		k.place = place{&p.parked, p.parked.PushBack(k)}
	}
	if p.endpoints[p.at].link == nil {
		p.connectLocked()
	}
	return l, true
}

// up is the preferred link, or the next one that is up; one that was given up
// is not, even before it is down. mu is held.
func (p *pool) up() *link {
	for i := range p.endpoints {
		l := p.endpoints[(p.at+i)%len(p.endpoints)].link
		if l != nil && l.stream.Context().Err() == nil {
			return l
		}
	}
	return nil
}

// rest notes that k waits for its next attempt; false when the client is closed.
func (p *pool) rest(k *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked(k)
	if !p.closed {
		k.place = place{&p.resting, p.resting.PushBack(k)}
	}
	return !p.closed
}

// leave takes k out of the queue that it is in.
func (p *pool) leave(k *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked(k)
}

func (p *pool) leaveLocked(k *call) {
	if k.place.queue != nil {
		k.place.queue.Remove(k.place.element)
		k.place = place{}
	}
}

// wait finds a link for a call of its own, and counts it as used: release it.
// An error means that nothing was sent.
func (p *pool) wait(ctx context.Context) (l *link, release func(), err error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, nil, errClosed()
		}
		l = p.up()
		if p.endpoints[p.at].link == nil {
			p.connectLocked()
		}
		if l != nil {
			l.use(1)
			p.mu.Unlock()
			return l, func() { l.use(-1) }, nil
		}
		came := make(chan struct{})
		element := p.parked.PushBack(came)
		p.mu.Unlock()
		select {
		case <-came:
		case <-ctx.Done():
			p.mu.Lock()
			p.parked.Remove(element) // does nothing where it was taken out
			p.mu.Unlock()
			return nil, nil, neverSent(context.Cause(ctx))
		}
	}
}

// distrust prefers another endpoint than l's, whose node answers but cannot
// serve, or does not answer. Where there is no other, there may be by now.
func (p *pool) distrust(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endpoints[p.at].link != l || p.closed {
		return
	}
	p.refreshSoon()
	if len(p.endpoints) > 1 {
		p.at = (p.at + 1) % len(p.endpoints)
		p.connectLocked()
	}
}

// down notes that l is no more.
func (p *pool) down(e *endpoint, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.link != l {
		return
	}
	e.link = nil
	e.retryAt = time.Now().Add(e.backoff.NextBackOff())
	if !p.o.Fixed {
		p.addAll(l.others)
	}
	if p.endpoints[p.at] == e {
		p.at = (p.at + 1) % len(p.endpoints)
	}
	if p.parked.Len() > 0 {
		p.connectLocked()
	}
	p.refreshSoon()
}

// resume lets what is parked go on. mu is held, and released.
func (p *pool) resume() {
	waiting := take(&p.parked)
	p.mu.Unlock()
	for _, w := range waiting {
		switch w := w.(type) {
		case *call:
			w.resume()
		case chan struct{}:
			close(w)
		}
	}
}

// take empties a queue. pool.mu is held.
func take(queue *list.List) []any {
	var out []any
	for e := queue.Front(); e != nil; e = queue.Front() {
		if k, ok := e.Value.(*call); ok {
			k.place = place{}
		}
		out = append(out, queue.Remove(e))
	}
	return out
}

// close ends all calls and waits for all goroutines.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	resting := take(&p.resting)
	p.resume()
	for _, k := range resting {
		k.(*call).ended()
	}
	p.work.Wait()
}
