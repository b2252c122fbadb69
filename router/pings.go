package router

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"dormouse/internal/pause"
)

// Bounds of the pings during calls to other nodes. A handler may take much longer than both: pings
// only check that the process answers.
const (
	pingEvery = time.Second     // from the start of a call, or an answer, to the next ping
	pingMax   = 2 * time.Second // how long a node has to answer one
)

// avoidFor is how long calls avoid the direct path to a node after an unanswered ping, unless it
// answers one meanwhile.
const avoidFor = 10 * time.Second

// Pinger asks the process at a peer address whether it answers.
type Pinger interface {
	// Ping returns nil if the process answers before ctx ends.
	Ping(ctx context.Context, addr string) error
}

// pings pings the nodes of open calls. All calls to a node share its pings: a node sends another at
// most one ping each pingEvery, for any number of calls. It may be used concurrently.
type pings struct {
	peers Pinger
	asked singleflight.Group // by address

	mu       sync.Mutex
	answered map[string]time.Time // :: address → its last answer; guarded by mu
	silent   map[string]time.Time // :: address → the first unanswered ping since the last answer; guarded by mu
}

func newPings(peers Pinger) *pings {
	return &pings{peers: peers, answered: map[string]time.Time{}, silent: map[string]time.Time{}}
}

// untilSilent ends a call with errSilent once the node at addr leaves a ping unanswered. It also
// returns when ctx ends.
func (p *pings) untilSilent(ctx context.Context, addr string, end context.CancelCauseFunc) {
	for pause.For(ctx, pingEvery) {
		if p.recent(addr) {
			continue
		}
		answer := p.asked.DoChan(addr, func() (any, error) { return nil, p.ping(addr) })
		select {
		case a := <-answer:
			if a.Err != nil {
				end(errSilent)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// ping sends one ping. It has its own timeout, since other calls may share it.
func (p *pings) ping(addr string) error {
	if p.recent(addr) { // a ping ended after the caller's check
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingMax)
	defer cancel()
	err := p.peers.Ping(ctx, addr)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	if err != nil {
		delete(p.answered, addr)
		p.silent[addr] = time.Now()
		return err
	}
	delete(p.silent, addr)
	p.answered[addr] = time.Now()
	return nil
}

// recent reports whether the node at addr has answered within pingEvery.
func (p *pings) recent(addr string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.answered[addr]
	return ok && time.Since(last) < pingEvery
}

// avoid reports whether the node at addr has left a ping unanswered within avoidFor.
func (p *pings) avoid(addr string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.silent[addr]
	return ok && time.Since(last) < avoidFor
}

// forget removes outdated entries, so that the maps hold only the addresses of the last seconds,
// for any number of hosts.
//
// p.mu must be held.
func (p *pings) forget() {
	maps.DeleteFunc(p.answered, func(_ string, last time.Time) bool { return time.Since(last) >= pingEvery })
	maps.DeleteFunc(p.silent, func(_ string, last time.Time) bool { return time.Since(last) >= avoidFor })
}
