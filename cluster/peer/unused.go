package peer

import (
	"time"

	"google.golang.org/grpc/connectivity"
)

// unusedMax is how long a pool keeps the connection to a peer that no call uses, and that is not open.
// It is longer than a call waits for a connection.
const unusedMax = 10 * time.Minute

// takeUnused removes the links that were not used for unusedMax and are not open, and returns them to
// be closed. Hosts come and go, each under an address of its own, and a connection to an address
// that does not answer is tried again and again. The caller holds p.mu.
func (p *Pool) takeUnused(now time.Time) (unused []*link) {
	for addr, l := range p.links {
		if now.Sub(l.used) >= unusedMax && !l.open() {
			delete(p.links, addr)
			unused = append(unused, l)
		}
	}
	return unused
}

// open reports whether calls may be under way: on the connection, or on a stream that has its own.
func (l *link) open() bool {
	if l.conn.GetState() == connectivity.Ready {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exchange != nil && !l.exchange.ended() || l.terms != nil && !l.terms.ended()
}

// ended reports whether the stream is broken.
func (x *exchange) ended() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.broken != nil
}
