package node

import (
	"context"
	"net"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/gossip"
	"dormouse/config"
	"dormouse/internal/version"
)

// openGossip joins the gossip group, which shares which nodes are alive. It is only a hint.
func (n *Node) openGossip() error {
	c := n.o.Config
	all, err := n.secrets.gossip()
	if err != nil {
		return fault("gossip", err, codeConfig)
	}
	n.gossip, err = gossip.New(gossip.Options{
		Name: c.Node.ID, Incarnation: n.group.Incarnation(),
		BindAddr: c.Gossip.Addr, AdvertiseAddr: c.Gossip.Advertise, Keys: all,
		Meta: gossip.Meta{
			RaftAddr: n.group.Addr(), GRPCAddr: c.GRPC.Advertise, HTTPAddr: c.HTTP.Advertise, Version: version.String(), Timing: c.Cluster.Timing,
		},
		WAN: config.TimingOf(c.Cluster.Timing).GossipWAN, OnEvent: func(s gossip.Seen) { checkTiming(n.logger, c.Cluster.Timing, s) },
		Seeds: n.seeds, Transport: n.o.Gossip, Logger: n.logger.Named("gossip"),
	})
	return fault("open gossip", err, codeConfig)
}

// checkTiming warns if another node has another timing than this one.
func checkTiming(log hclog.Logger, own string, seen gossip.Seen) {
	if t := seen.Meta.Timing; t != "" && t != own {
		log.Warn("this node and another have different settings of cluster.timing: give all nodes of a cluster the same", "other", seen.Name, "its timing", t, "own timing", own)
	}
}

// seeds returns the gossip addresses of the other members, from the log.
func (n *Node) seeds() []string {
	var addrs []string
	for _, member := range n.machine.Members() {
		if member.ID != n.o.Config.Node.ID && member.GossipAddr != "" {
			addrs = append(addrs, member.GossipAddr)
		}
	}
	return addrs
}

// gossipAddrs returns the Raft addresses of the nodes that gossip knows.
func (n *Node) gossipAddrs() []string {
	if n.gossip == nil {
		return nil
	}
	var addrs []string
	for _, seen := range n.gossip.Members() {
		if seen.Name != n.o.Config.Node.ID && seen.Status == gossip.Alive && seen.Meta.RaftAddr != "" {
			addrs = append(addrs, seen.Meta.RaftAddr)
		}
	}
	return addrs
}

// lookup returns the resolver for host names of Raft addresses; nil if the network is not the
// machine's own.
func (n *Node) lookup() func(ctx context.Context, host string) ([]string, error) {
	if n.o.Network != nil {
		return nil
	}
	return net.DefaultResolver.LookupHost
}

// quitGossip announces the node's leave and closes gossip.
func (n *Node) quitGossip(ctx context.Context) error {
	if n.endGossip != nil { // its Run was started
		n.endGossip()
		<-n.gossipEnded
	}
	return n.gossip.Close(ctx)
}
