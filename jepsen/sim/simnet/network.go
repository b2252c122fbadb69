// Package simnet is a network in memory for the simulator. All that it does, it draws
// from one generator and notes in a trace.
//
// Between every two hosts there are two directed links. A link has a delay, a jitter and
// a loss, and can be cut. Connections are streams as under TCP: bytes that are lost are
// sent again and so arrive late, all bytes arrive in order, and bytes on a cut link wait
// until it is healed. Packets, which gossip uses, are lost, overtaken and duplicated.
// Nothing here starts a goroutine for a stream.
package simnet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"dormouse/internal/memconn"
	"dormouse/jepsen/sim/trace"
)

// Link is the state of a directed link.
type Link struct {
	Cut       bool
	Delay     time.Duration // of everything
	Jitter    time.Duration // mean of a further delay, exponentially distributed
	Loss      float64       // share of what is lost
	Duplicate float64       // share of packets that arrive twice
}

// resend is how long a sender waits before it sends lost bytes again. It doubles with
// each further loss.
const resend = 200 * time.Millisecond

type pair struct{ from, to string }

// Network connects hosts. Its methods may be called concurrently.
type Network struct {
	trace *trace.Trace

	mu        sync.Mutex
	draw      *rand.Rand           // guarded by mu
	usual     Link                 // guarded by mu; of links that are not in links
	links     map[pair]Link        // guarded by mu
	refused   map[pair]bool        // guarded by mu; see Refuse
	names     map[string]string    // guarded by mu; IP → host
	listeners map[string]*listener // guarded by mu; by address
	packets   map[string]*Gossip   // guarded by mu; by host
	conns     []*conn              // guarded by mu; the open ones, in the order of opening
	changed   chan struct{}        // guarded by mu; closed and replaced when a link or a listener changes
	sent      uint64               // guarded by mu; messages
}

// New returns a network whose links are as usual says.
func New(draw *rand.Rand, t *trace.Trace, usual Link) *Network {
	return &Network{
		trace: t, draw: draw, usual: usual, links: map[pair]Link{}, refused: map[pair]bool{}, names: map[string]string{},
		listeners: map[string]*listener{}, packets: map[string]*Gossip{}, changed: make(chan struct{}),
	}
}

// Set changes the link from one host to another, one way.
func (n *Network) Set(from, to string, change func(*Link)) {
	n.mu.Lock()
	l := n.link(pair{from, to})
	change(&l)
	n.links[pair{from, to}] = l
	n.mu.Unlock()
	n.trace.Note("link", from+">"+to, flag(l.Cut), uint64(l.Delay), uint64(l.Jitter), uint64(l.Loss*1e6))
	n.news()
}

// Heal makes all links as usual.
func (n *Network) Heal() {
	n.mu.Lock()
	clear(n.links)
	clear(n.refused)
	n.mu.Unlock()
	n.trace.Note("heal", "")
	n.news()
}

// Sent returns how many messages were sent.
func (n *Network) Sent() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent
}

func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// link returns the state of a link. The caller holds mu.
func (n *Network) link(p pair) Link {
	if l, changed := n.links[p]; changed {
		return l
	}
	if p.from == p.to {
		return Link{}
	}
	return n.usual
}

// isCut reports whether a link is cut.
func (n *Network) isCut(p pair) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link(p).Cut
}

// transit draws how long the next message on a link takes. On a stream, lost bytes are
// sent again.
func (n *Network) transit(p pair) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent++
	l := n.link(p)
	d := n.once(l)
	for again := resend; l.Loss > 0 && n.draw.Float64() < l.Loss && again < time.Minute; again *= 2 {
		d += again
	}
	return d
}

// once draws how long one message takes. The caller holds mu.
func (n *Network) once(l Link) time.Duration {
	d := l.Delay
	if l.Jitter > 0 {
		d += time.Duration(n.draw.ExpFloat64() * float64(l.Jitter))
	}
	return d
}

// news wakes all who wait for a change of the network.
func (n *Network) news() {
	n.mu.Lock()
	close(n.changed)
	n.changed = make(chan struct{})
	conns := append([]*conn(nil), n.conns...)
	n.mu.Unlock()
	for _, c := range conns {
		c.Wake()
	}
}

// hostOf returns the host of an address "host:port" or "ip:port".
func (n *Network) hostOf(addr string) string {
	host, _, _ := strings.Cut(addr, ":")
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, is := n.names[host]; is {
		return name
	}
	return host
}

// message notes that bytes were sent.
func (n *Network) message(from, to string, data []byte, takes time.Duration) {
	n.trace.Note("message", from+">"+to, trace.Bytes(data), uint64(takes))
}

// conn is one end of a connection, with the process that has it.
type conn struct {
	*memconn.Conn
	host *Host
	made pair // from which host to which
}

// listener accepts the connections to one address of a process.
type listener struct {
	*memconn.Listener
	host *Host
	addr string
}

// paths implements memconn.Network.
type paths struct{ *Network }

func (p paths) Send(from, to string, data []byte) time.Duration {
	takes := p.transit(pair{from, to})
	p.message(from, to, data, takes)
	return takes
}

func (p paths) IsCut(from, to string) bool { return p.isCut(pair{from, to}) }

func (p paths) Forget(c *memconn.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(open *conn) bool { return open.Conn == c })
}

// Open returns how many connections of a host are open.
func (n *Network) Open(host string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	open := 0
	for _, c := range n.conns {
		if c.Host() == host {
			open++
		}
	}
	return open
}

func inUse(addr string) error { return fmt.Errorf("listen on %s: address already in use", addr) }
