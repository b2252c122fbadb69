package cluster

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
)

// around is what the other nodes that this node knows of have answered.
type around struct {
	cluster string                // that one of them belongs to; "" if none does
	member  string                // the node of that cluster
	nodes   map[string]PeerStatus // :: address → the node there, this one left out
	silent  []string              // addresses without an answer
}

// missing returns what a node with options o lacks to found a cluster, or "".
func (r around) missing(o Options) string {
	met := map[string]bool{o.NodeID: true}
	for _, n := range r.nodes {
		met[n.Node] = true
	}
	switch {
	case o.Expect > 0 && len(met) < o.Expect:
		why := fmt.Sprintf("%d of the %d nodes that are expected have met", len(met), o.Expect)
		if len(r.silent) > 0 {
			why += "; no answer from " + strings.Join(r.silent, ", ")
		}
		return why
	case o.Expect == 0 && len(r.silent) > 0:
		return "no answer from " + strings.Join(r.silent, ", ") + ": each must say that it belongs to no cluster"
	}
	return ""
}

// askAround asks the node at every address that this node knows of.
func (g *Group) askAround(ctx context.Context) around {
	r := around{nodes: map[string]PeerStatus{}}
	for _, addr := range g.knownAddrs(ctx) {
		status, err := g.askStatus(ctx, addr)
		switch {
		case err != nil:
			g.noAnswer(addr, err)
			r.silent = append(r.silent, addr)
		case status.Incarnation == g.self.Incarnation: // this node, under another name
		case status.ClusterID != "" && status.ClusterID != g.self.ClusterID():
			return around{cluster: status.ClusterID, member: status.Node}
		default:
			r.nodes[addr] = status
		}
	}
	return r
}

func (g *Group) askStatus(ctx context.Context, addr string) (PeerStatus, error) {
	if g.peers == nil {
		return PeerStatus{}, fmt.Errorf("ask %s: this node has no way to ask others", addr)
	}
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	return g.peers.Status(ctx, addr)
}

// knownAddrs returns the addresses that this node was given, has heard of and
// was dialed from, sorted, without its own. A host name with several addresses,
// such as that of a headless service, counts as all of them.
func (g *Group) knownAddrs(ctx context.Context) []string {
	known := map[string]bool{}
	for _, addr := range slices.Concat(g.o.Join, g.heard(), g.met.list()) {
		for _, each := range g.lookup(ctx, addr) {
			known[each] = true
		}
	}
	delete(known, g.Addr())
	delete(known, "")
	return slices.Sorted(maps.Keys(known))
}

func (g *Group) heard() []string {
	if g.o.Heard == nil {
		return nil
	}
	return g.o.Heard()
}

// lookup returns the addresses behind addr if its host is a name with several,
// and addr itself otherwise.
func (g *Group) lookup(ctx context.Context, addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || g.o.Lookup == nil || net.ParseIP(host) != nil {
		return []string{addr}
	}
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	ips, err := g.o.Lookup(ctx, host)
	if err != nil || len(ips) < 2 {
		return []string{addr}
	}
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		addrs[i] = net.JoinHostPort(ip, port)
	}
	return addrs
}

// metMax bounds the addresses that are kept of nodes that dialed this one.
const metMax = 64

// met is where the nodes of a cluster are that dialed this node while it
// belonged to none. It may be used concurrently.
type met struct {
	mu    sync.Mutex
	addrs []string // guarded by mu
}

func (m *met) note(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.addrs) < metMax && !slices.Contains(m.addrs, addr) {
		m.addrs = append(m.addrs, addr)
	}
}

func (m *met) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.addrs)
}
