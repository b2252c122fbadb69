package client

import (
	"container/list"
	"context"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/retry"
)

// endpoint is an address of a node.
type endpoint struct {
	addr    string
	seed    bool           // given by the caller: never removed
	link    *link          // nil if there is none
	retryAt time.Time      // not dialled before this time
	backoff *retry.Backoff // between dials; begins again after a link that lasted
}

// place is where a call waits: in one of the pool's queues, or nowhere.
type place struct {
	queue   *list.List
	element *list.Element
}

// pool keeps links to nodes and picks the one to use: the preferred one if it is up,
// otherwise any other. It connects only when a call needs a link. At most one
// goroutine connects, one refreshes, and one serves each link; close waits for all of
// them.
type pool struct {
	o       Options
	ctx     context.Context //nolint:containedctx // ends at close
	cancel  context.CancelFunc
	work    sync.WaitGroup // Add is guarded by mu and !closed
	kick    chan struct{}  // capacity 1: refresh the members now
	cluster clusterID
	lookout *lookout
	refused time.Time // when a node last refused to name the members; used only by refresh

	mu         sync.Mutex
	endpoints  []*endpoint // guarded by mu; never empty
	at         int         // guarded by mu; index of the preferred one
	parked     list.List   // guarded by mu; *call and chan struct{} that wait for a link
	resting    list.List   // guarded by mu; *call that wait for their next attempt
	connecting bool        // guarded by mu; connect is running
	refreshing bool        // guarded by mu; refresh is running
	closed     bool        // guarded by mu
	foreign    error       // guarded by mu; set if the last dialled node belongs to another cluster
}

func newPool(o Options) *pool {
	p := &pool{o: o, kick: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.lookout = newLookout(p.ctx, o.Silence)
	if o.ClusterID != "" {
		p.cluster.id.Store(&o.ClusterID)
	}
	for _, addr := range o.Endpoints {
		p.add(addr, true)
	}
	return p
}

// add adds an endpoint. mu is held, or the pool is new.
func (p *pool) add(addr string, seed bool) *endpoint {
	e := &endpoint{addr: addr, seed: seed, backoff: retry.New(dialBackoffFirst, dialBackoffMost)}
	p.endpoints = append(p.endpoints, e)
	return e
}

// pick returns a link for k. If there is none, k is parked and resumed later. open is
// false if the client is closed.
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

// up returns the preferred link, or another one that is up. A cancelled link is not
// up. mu is held.
func (p *pool) up() *link {
	for i := range p.endpoints {
		l := p.endpoints[(p.at+i)%len(p.endpoints)].link
		if l != nil && l.stream.Context().Err() == nil {
			return l
		}
	}
	return nil
}

// rest records that k waits for its next attempt; it returns false if the client is
// closed.
func (p *pool) rest(k *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked(k)
	if !p.closed {
		k.place = place{&p.resting, p.resting.PushBack(k)}
	}
	return !p.closed
}

// leave removes k from its queue.
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

// wait waits for a link, and returns one of its connections for a separate call. An
// error means that nothing was sent.
func (p *pool) wait(ctx context.Context) (*usedConn, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, errClosed()
		}
		l := p.up()
		if p.endpoints[p.at].link == nil {
			p.connectLocked()
		}
		if l != nil {
			used := l.take()
			p.mu.Unlock()
			return used, nil
		}
		came := make(chan struct{})
		element := p.parked.PushBack(came)
		p.mu.Unlock()
		select {
		case <-came:
		case <-ctx.Done():
			p.mu.Lock()
			p.parked.Remove(element) // has no effect if it was removed already
			p.mu.Unlock()
			return nil, p.unreachable(context.Cause(ctx))
		}
	}
}

// unreachable returns the error of a call for which no node could be reached before cause
// ended it.
func (p *pool) unreachable(cause error) *agent.Error {
	if foreign := p.foreignNode(); foreign != nil {
		return agent.Errorf(agent.CodeUnavailable, "%v", foreign)
	}
	return agent.Errorf(agent.CodeUnavailable, "no node could be reached: %v", cause)
}

// markUnhealthy prefers another endpoint than l's, whose node cannot serve or does not
// answer. It also refreshes the members, which may add an endpoint.
func (p *pool) markUnhealthy(l *link) {
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

// down records that l has ended.
func (p *pool) down(e *endpoint, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.link != l {
		return
	}
	e.link = nil
	if time.Since(l.since) > dialBackoffMost { // not as soon as it is made: a node may accept links and then break each
		e.backoff.Reset()
	}
	e.retryAt = time.Now().Add(e.backoff.Next())
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

// resume resumes all parked calls. mu is held, and released.
func (p *pool) resume() {
	waiting := takeAll(&p.parked)
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

// takeAll empties a queue and returns its elements. pool.mu is held.
func takeAll(queue *list.List) []any {
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
	resting := takeAll(&p.resting)
	p.resume()
	for _, k := range resting {
		k.(*call).ended()
	}
	p.work.Wait()
}
