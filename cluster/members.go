package cluster

import (
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// Members are the nodes of the cluster, by id: what the log says of them, who
// has a vote, and who leads. Applied indexes are known of this node, and on
// the leader of those that answered it lately.
func (g *Group) Members() []agent.MemberStatus {
	servers := g.servers()
	leader, _ := g.Leader()
	members := make([]agent.MemberStatus, 0, len(servers))
	for _, m := range g.machine.Members() {
		s := agent.MemberStatus{Member: m, Leader: m.ID == leader, Status: "unknown"}
		s.Voter = servers[m.ID].Suffrage == raft.Voter && servers[m.ID].ID != ""
		if m.ID == g.o.NodeID {
			s.Status, s.AppliedIndex = "alive", g.machine.Applied()
		} else if index, ok := g.followed.applied(m.Incarnation); ok {
			s.AppliedIndex = index
		}
		if m.Host {
			s.Status = "alive" // its lease stands: it would be no member else
		}
		members = append(members, s)
	}
	slices.SortFunc(members, func(a, b agent.MemberStatus) int { return strings.Compare(a.ID, b.ID) })
	return members
}

// servers are the nodes that raft replicates to, by id.
func (g *Group) servers() map[string]raft.Server {
	servers := make(map[string]raft.Server)
	f := g.raft.GetConfiguration() // a copy; it never waits
	if f.Error() != nil {
		return servers
	}
	for _, s := range f.Configuration().Servers {
		servers[string(s.ID)] = s
	}
	return servers
}

// otherVoters are the voters other than id.
func (g *Group) otherVoters(id string) []raft.Server {
	var voters []raft.Server
	for _, s := range g.servers() {
		if s.Suffrage == raft.Voter && string(s.ID) != id {
			voters = append(voters, s)
		}
	}
	return voters
}

func (g *Group) member(id string) (agent.Member, bool) {
	for _, m := range g.machine.Members() {
		if m.ID == id {
			return m, true
		}
	}
	return agent.Member{}, false
}

// ownerOf is the member whose address is addr; "" where there is none.
func (g *Group) ownerOf(addr string) string {
	for _, m := range g.machine.Members() {
		if m.RaftAddr == addr {
			return m.ID
		}
	}
	return ""
}

// answering is the node that raft means by addr; "" where it knows none. It
// goes by raft's configuration, since that is what raft dials by: the member
// rows may lag behind it here.
func answering(r *raft.Raft, addr string) string {
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
