package membership

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"dormouse/cluster/transport"
)

// survey is the answers of the other nodes that this node knows of.
type survey struct {
	cluster string                // that one of them belongs to; "" if none does
	member  string                // the node of that cluster
	nodes   map[string]PeerStatus // by address, without this node
	silent  []string              // addresses without an answer
}

// missing returns what node needs to found a cluster and lacks, or "".
func (s survey) missing(node string, expect int) string {
	met := map[string]bool{node: true}
	for _, n := range s.nodes {
		met[n.Node] = true
	}
	switch {
	case expect > 0 && len(met) < expect:
		why := fmt.Sprintf("%d of the %d nodes that are expected have met", len(met), expect)
		if len(s.silent) > 0 {
			why += "; no answer from " + strings.Join(s.silent, ", ")
		}
		return why
	case expect <= 1 && len(s.silent) > 0: // a node that expects no other one must not miss its own cluster
		return "no answer from " + strings.Join(s.silent, ", ") + ": each must say that it belongs to no cluster"
	}
	return ""
}

// survey asks the node at every address that this node knows of.
func (j *Joiner) survey(ctx context.Context) survey {
	s := survey{nodes: map[string]PeerStatus{}}
	addrs := j.knownAddrs(ctx, j.Contacts.members())
	for i, status := range j.statuses(ctx, addrs) {
		addr := addrs[i]
		switch {
		case status == nil:
			s.silent = append(s.silent, addr)
		case status.Incarnation == j.Self.Incarnation: // this node, at another address
		case status.ClusterID != "" && status.ClusterID != j.Self.ClusterID():
			return survey{cluster: status.ClusterID, member: status.Node}
		default:
			s.nodes[addr] = *status
		}
	}
	return s
}

// statuses asks the nodes at all addresses at once. The status of one that does not answer is nil.
func (j *Joiner) statuses(ctx context.Context, addrs []string) []*PeerStatus {
	all := make([]*PeerStatus, len(addrs))
	var asking sync.WaitGroup
	for i, addr := range addrs {
		asking.Go(func() {
			status, err := j.status(ctx, addr)
			if err != nil {
				j.logNoAnswer(addr, err)
				return
			}
			all[i] = &status
		})
	}
	asking.Wait()
	return all
}

// logNoAnswer logs that the node at addr did not answer. An address that is no Raft
// port never will, so it is a warning, at most once in 10 s.
func (j *Joiner) logNoAnswer(addr string, err error) {
	if why := notRaftPort(err); why != "" {
		if j.Stream.LogDue(addr) {
			j.Logger.Warn("an address to join is not the Raft port of a node", "addr", addr, "error", why)
		}
		return
	}
	if strings.Contains(err.Error(), transport.ErrOtherKey.Error()) {
		if j.Stream.LogDue(addr) {
			j.Logger.Warn("a node to join has another cluster key", "addr", addr, "error", err)
		}
		return
	}
	j.Logger.Debug("a node does not answer", "addr", addr, "error", err)
}

// notRaftPort returns err's text if it says that an address is no Raft port, and
// "" otherwise. Errors lose their chain on the way through gRPC.
func notRaftPort(err error) string {
	if text := err.Error(); strings.Contains(text, transport.ErrNotRaftPort.Error()) {
		return text
	}
	return ""
}

// knownAddrs returns the addresses that this node was given and has learned, and
// more, sorted, without its own. A host name with several addresses, such as that
// of a headless service, counts as all of them.
func (j *Joiner) knownAddrs(ctx context.Context, more []string) []string {
	var learned []string
	if j.Learned != nil {
		learned = j.Learned()
	}
	known := map[string]bool{}
	for _, addr := range slices.Concat(j.Join, learned, more) {
		for _, each := range j.resolve(ctx, addr) {
			known[each] = true
		}
	}
	delete(known, j.Stream.Addr())
	delete(known, "")
	return slices.Sorted(maps.Keys(known))
}

// resolve returns the addresses behind addr if its host is a name with several, and
// addr itself otherwise.
func (j *Joiner) resolve(ctx context.Context, addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || j.Lookup == nil || net.ParseIP(host) != nil {
		return []string{addr}
	}
	ctx, cancel := context.WithTimeout(ctx, transport.RequestTimeout)
	defer cancel()
	ips, err := j.Lookup(ctx, host)
	if err != nil || len(ips) < 2 {
		return []string{addr}
	}
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		addrs[i] = net.JoinHostPort(ip, port)
	}
	return addrs
}

// membersMax bounds the addresses that Contacts keeps of members.
const membersMax = 64

// Contacts is what connections have shown about the nodes at other addresses.
// Nothing proves the addresses, and they may not answer. Its
// methods may be called concurrently. The zero value is empty.
type Contacts struct {
	mu      sync.Mutex
	dialers []string          // members of a cluster that dialed this node while it belonged to none; guarded by mu
	foreign map[string]string // addresses of another cluster, and the error that says so; guarded by mu
}

// NoteMember records the address of a member that dialed this node while it
// belonged to no cluster.
func (c *Contacts) NoteMember(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.dialers) < membersMax && !slices.Contains(c.dialers, addr) {
		c.dialers = append(c.dialers, addr)
	}
}

func (c *Contacts) members() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.dialers)
}

// NoteForeign records that addr belongs to another cluster; why says which.
func (c *Contacts) NoteForeign(addr, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.foreign == nil {
		c.foreign = make(map[string]string)
	}
	c.foreign[addr] = why
}

// whyForeign returns the error that shows that addr belongs to another cluster, or
// "".
func (c *Contacts) whyForeign(addr string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.foreign[addr]
}
