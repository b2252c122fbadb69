package client

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

const (
	refreshEvery   = 10 * time.Second // often enough to learn new members before the old ones leave
	refreshAlone   = 2 * time.Second  // …by a client that knows one node, which another may replace in a few seconds
	refreshAtMost  = time.Second      // minimum interval between refreshes
	refreshRefused = time.Hour        // interval of a client that may not see the cluster: nodes record each refusal in their audit logs
	refreshTimeout = 2 * time.Second
	linkIdleAfter  = time.Minute // an unused link to a node that is not preferred is closed
)

// refreshSoon requests a refresh before its time.
func (p *pool) refreshSoon() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// refresh reads the members periodically, until close.
func (p *pool) refresh() {
	for {
		p.learnOnce()
		p.closeIdle()
		select {
		case <-time.After(refreshAtMost):
		case <-p.ctx.Done():
			return
		}
		select {
		case <-time.After(p.refreshInterval() - refreshAtMost):
		case <-p.kick:
		case <-p.ctx.Done():
			return
		}
	}
}

// refreshInterval returns the time between two refreshes.
func (p *pool) refreshInterval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.endpoints) == 1 {
		return refreshAlone
	}
	return refreshEvery
}

// learnOnce reads the members from one node. After a refusal it does nothing for refreshRefused.
func (p *pool) learnOnce() {
	if time.Now().Before(p.refused.Add(refreshRefused)) {
		return
	}
	p.mu.Lock()
	l := p.up()
	if l == nil {
		p.mu.Unlock()
		return
	}
	used := l.take()
	p.mu.Unlock()
	defer used.release()
	ctx, cancel := context.WithTimeout(p.ctx, refreshTimeout)
	defer cancel()
	status, err := apipb.NewClusterClient(used).Status(ctx, &apipb.StatusRequest{})
	if err != nil {
		if code := errorOf(err, false).Code; code == agent.CodeForbidden || code == agent.CodeUnauthenticated {
			p.refused = time.Now()
		}
		p.o.Logger.Debug("cannot learn the members", "endpoint", l.addr, "error", err)
		return
	}
	p.learn(convert.StatusFromProto(status))
}

// learn adds the members' addresses, removes those of nodes that left, and prefers the
// leader if the options say so.
func (p *pool) learn(status layout.ClusterStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := map[string]*endpoint{}
	for _, e := range p.endpoints {
		known[e.addr] = e
	}
	members := map[string]bool{}
	leader := ""
	for _, m := range status.Members {
		if !reachable(m.GRPCAddr) || m.Status == "left" {
			continue
		}
		members[m.GRPCAddr] = true
		if m.Leader || m.ID == status.Leader && m.ID != "" {
			leader = m.GRPCAddr
		}
		if known[m.GRPCAddr] == nil && len(p.endpoints) < endpointsMax {
			known[m.GRPCAddr] = p.add(m.GRPCAddr, false)
		}
	}
	preferred := p.endpoints[p.at]
	if e := known[leader]; e != nil && p.o.PreferLeader {
		preferred = e
	}
	kept := p.endpoints[:0]
	for _, e := range p.endpoints {
		if e.seed || e.link != nil || e == preferred || members[e.addr] {
			kept = append(kept, e)
		}
	}
	clear(p.endpoints[len(kept):])
	p.endpoints = kept
	for i, e := range kept {
		if e == preferred {
			p.at = i
		}
	}
	if preferred.link == nil {
		p.connectLocked()
	}
}

// addAll adds addresses that are new. mu is held.
func (p *pool) addAll(addrs []string) {
	for _, addr := range addrs {
		known := slices.ContainsFunc(p.endpoints, func(e *endpoint) bool { return e.addr == addr })
		if !known && reachable(addr) && len(p.endpoints) < endpointsMax {
			p.add(addr, false)
		}
	}
}

// reachable reports whether addr can be dialled; a listen address such as 0.0.0.0
// cannot.
func reachable(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" || port == "0" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.IsUnspecified()
}

// closeIdle closes links that are neither preferred nor in use.
func (p *pool) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for i, e := range p.endpoints {
		if i != p.at && e.link != nil && e.link.idle(now, linkIdleAfter) {
			e.link.cancel()
		}
	}
}
