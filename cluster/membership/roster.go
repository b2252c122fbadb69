package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/cluster/transport"
)

// Machine is the part of the state machine that this package uses.
type Machine interface {
	Applied() uint64
	// Chain returns the running checksum over all entries up to index.
	Chain() (index uint64, chain uint32)

	// Members returns the member rows of the log.
	Members() []layout.Member
	// Removed reports whether the node with that incarnation was removed for good.
	Removed(incarnation string) bool
	// FeatureLevel returns the level that all members supported when it was raised.
	FeatureLevel() uint32

	// The encoders return whole commits.

	EncodePutMember(layout.Member) []byte
	EncodeRemoveMember(id, incarnation string) []byte
	EncodeFeatureLevel(level uint32) []byte
}

// Roster answers questions about the members, on any node. Its methods may be
// called concurrently.
type Roster struct {
	Raft    *raft.Raft
	Machine Machine
	Peers   Peers // nil on a node that is alone
	Self    *transport.Self
}

// Members returns the members, sorted by id: their rows, who has a vote and who
// leads. The applied index is known of this node and, on the leader, of the
// followers that answered its last request.
func (r *Roster) Members(followers *Followers) []layout.MemberStatus {
	servers := r.servers()
	_, leader := r.Raft.LeaderWithID()
	members := make([]layout.MemberStatus, 0, len(servers))
	for _, m := range r.Machine.Members() {
		s := layout.MemberStatus{Member: m, Leader: m.ID == string(leader), Status: "unknown"}
		s.Voter = servers[m.ID].Suffrage == raft.Voter && servers[m.ID].ID != ""
		if m.ID == r.Self.Node {
			s.Status, s.AppliedIndex = "alive", r.Machine.Applied()
		} else if index, ok := followers.applied(m.Incarnation); ok {
			s.AppliedIndex = index
		}
		if m.Host {
			s.Status = "alive" // a host is a member only while it has a lease
		}
		members = append(members, s)
	}
	slices.SortFunc(members, func(a, b layout.MemberStatus) int { return strings.Compare(a.ID, b.ID) })
	return members
}

// servers returns the servers of Raft's configuration, by node id.
func (r *Roster) servers() map[string]raft.Server {
	servers := make(map[string]raft.Server)
	f := r.Raft.GetConfiguration() // a copy; it never waits
	if f.Error() != nil {
		return servers
	}
	for _, s := range f.Configuration().Servers {
		servers[string(s.ID)] = s
	}
	return servers
}

// AddrOf returns the address of a node in Raft's configuration, or "".
func (r *Roster) AddrOf(node string) string { return string(r.servers()[node].Address) }

// OtherVoters returns the voters other than id.
func (r *Roster) OtherVoters(id string) []raft.Server {
	var voters []raft.Server
	for _, s := range r.servers() {
		if s.Suffrage == raft.Voter && string(s.ID) != id {
			voters = append(voters, s)
		}
	}
	return voters
}

func (r *Roster) isVoter(node string) bool {
	s, known := r.servers()[node]
	return known && s.Suffrage == raft.Voter
}

func (r *Roster) member(id string) (layout.Member, bool) {
	for _, m := range r.Machine.Members() {
		if m.ID == id {
			return m, true
		}
	}
	return layout.Member{}, false
}

// rows returns the member rows by id.
func (r *Roster) rows() map[string]layout.Member {
	rows := make(map[string]layout.Member)
	for _, m := range r.Machine.Members() {
		rows[m.ID] = m
	}
	return rows
}

// memberAt returns the member whose Raft address is addr, or no member.
func (r *Roster) memberAt(addr string) layout.Member {
	for _, m := range r.Machine.Members() {
		if m.RaftAddr == addr {
			return m
		}
	}
	return layout.Member{}
}

// ServerAt returns the node that Raft expects at addr, or "" if it expects none.
// It uses Raft's configuration, by which Raft dials; the member rows of this node
// may be older. r may be nil.
func ServerAt(r *raft.Raft, addr string) string {
	if r == nil { // not started yet
		return ""
	}
	for _, s := range r.GetConfiguration().Configuration().Servers {
		if string(s.Address) == addr {
			return string(s.ID)
		}
	}
	return ""
}

// status asks the node at addr for its status.
func (r *Roster) status(ctx context.Context, addr string) (PeerStatus, error) {
	if r.Peers == nil {
		return PeerStatus{}, fmt.Errorf("ask %s: this node has no way to ask others", addr)
	}
	ctx, cancel := context.WithTimeout(ctx, transport.RequestTimeout)
	defer cancel()
	return r.Peers.Status(ctx, addr)
}

// quorumWithout returns why the cluster cannot do without node's vote now, or "" if
// a majority of the other voters answers.
func (r *Roster) quorumWithout(ctx context.Context, node string) string {
	others := r.OtherVoters(node)
	if len(others) == 0 {
		return fmt.Sprintf("node %s is the last voter: without it the cluster could commit nothing: promote another node first", node)
	}
	var alive atomic.Int32
	var asking sync.WaitGroup
	for _, s := range others {
		if string(s.ID) == r.Self.Node {
			alive.Add(1)
			continue
		}
		asking.Go(func() {
			if status, err := r.status(ctx, string(s.Address)); err == nil && status.ClusterID == r.Self.ClusterID() {
				alive.Add(1)
			}
		})
	}
	asking.Wait()
	if need := len(others)/2 + 1; int(alive.Load()) < need {
		return fmt.Sprintf("without node %s there are %d voters, of which %d answer and %d are needed: bring one back first", node, len(others), alive.Load(), need)
	}
	return ""
}
