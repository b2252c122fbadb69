package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/internal/pause"
	"dormouse/internal/retry"
)

// ErrRefused says that the cluster refuses this node; the error that wraps it says
// why and what to do.
var ErrRefused = errors.New("the cluster refuses this node")

// removedInterval is the time between two checks whether this node was removed.
const removedInterval = time.Second

// quietMax is how long a node has no contact to a leader before it asks whether it
// was removed.
const quietMax = 5 * time.Second

// Joiner makes this node a member of a cluster and keeps its member row up to
// date. Its methods may be called concurrently, Run and Promote once.
type Joiner struct {
	*Roster
	Stream   *transport.Stream
	Stores   *raftlog.Stores
	Contacts *Contacts
	Logger   hclog.Logger

	Member    layout.Member // this node's row; ID, Incarnation and RaftAddr are ignored
	Empty     bool          // this node's directory held no state when it was opened
	Bootstrap bool          // found a cluster once every address of Join has answered that it knows none
	Expect    int           // found a cluster once this many nodes have met; 0 means never
	Alone     bool          // no other node can exist: found at once
	Join      []string      // Raft addresses of nodes to ask
	Learned   func() []string
	Lookup    func(ctx context.Context, host string) ([]string, error)

	Founded       func() // called once this node has founded a cluster
	IsLeader      func() bool
	LeaderChanged func() <-chan struct{}
	HandleJoin    func(ctx context.Context, r JoinRequest) JoinResponse // of this node, if it leads

	HeartbeatTimeout, ElectionTimeout time.Duration
	SetTimeouts                       func(heartbeat, election time.Duration) error // Raft's

	grants *grants
}

// Init prepares the joiner for use and returns it.
func (j *Joiner) Init() *Joiner {
	j.grants = newGrants(j.Stores.Stable)
	return j
}

// Standing returns the id of the founding that this node has under way, or "", and the cluster that it belongs to,
// or "". A founding ends after the node has adopted its cluster. Read in the other order, one that has just
// succeeded could look like one that has failed.
func (j *Joiner) Standing() (founding, cluster string) {
	founding = j.grants.underWay()
	return founding, j.Self.ClusterID()
}

// Run founds or joins a cluster, updates this node's row at the leader, and then
// watches for its removal. It returns nil when ctx ends, an error that wraps
// transport.ErrRemoved once the node was removed, ErrRefused if the cluster refuses
// it, and raftlog.ErrForeign if its data is that of another cluster.
func (j *Joiner) Run(ctx context.Context) error {
	if j.MayFound() {
		if err := j.joinOrFound(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if j.Self.ClusterID() == "" && len(j.knownAddrs(ctx, j.Contacts.members())) == 0 {
		j.Logger.Warn("this node belongs to no cluster and knows no other node: start it with --bootstrap, or with an address to --join")
	}
	attempts := retry.New(askRetry, askRetryMax)
	for ctx.Err() == nil {
		if j.wasRemoved() {
			return transport.ErrRemoved
		}
		if err := j.resolveAddress(ctx); err != nil {
			return err
		}
		changed := j.LeaderChanged()
		answer := j.askToJoin(ctx)
		if answer.Refused == transport.ErrRemoved.Error() { // another node answered with its text
			j.NoteRemoved()
		}
		if j.wasRemoved() {
			return transport.ErrRemoved
		}
		if answer.Refused != "" {
			return fmt.Errorf("%w: %s", ErrRefused, answer.Refused)
		}
		if why := j.inOtherCluster(ctx); why != "" {
			return fmt.Errorf("%w: %s", raftlog.ErrForeign, why)
		}
		if answer.Accepted {
			return j.stay(ctx, answer.ClusterID, answer.Admission)
		}
		again := time.NewTimer(attempts.Next())
		select {
		case <-again.C:
		case <-changed:
			attempts.Reset()
		case <-ctx.Done():
		}
		again.Stop()
	}
	return nil
}

// stay stores what the leader accepted, and watches for the removal of this node.
func (j *Joiner) stay(ctx context.Context, cluster string, admitted raftlog.Admission) error {
	j.Stores.Votes.AddressConflict.Store(false)
	if j.Self.ClusterID() == "" {
		if err := j.keepAdmission(admitted); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		if err := j.Self.Adopt(cluster); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		j.Logger.Info("joined a cluster", "cluster", cluster)
		j.Stream.Redial()
	}
	for ctx.Err() == nil {
		if j.wasRemoved() {
			return transport.ErrRemoved
		}
		pause.For(ctx, removedInterval)
		// A removed node does not receive the entry that removes it if the leader
		// has stopped replicating to it, and a node without a vote never asks for
		// votes. It learns of its removal from a handshake, or from a refusal to
		// join.
		if _, leader := j.Raft.LeaderWithID(); !j.IsLeader() && (leader == "" || !j.Stores.Admission.Over()) && time.Since(j.Raft.LastContact()) > quietMax {
			switch answer := j.askToJoin(ctx); answer.Refused {
			case "":
			case transport.ErrRemoved.Error():
				j.NoteRemoved()
			default: // it was cut off, and another node has its place
				return fmt.Errorf("%w: %s", ErrRefused, answer.Refused)
			}
		}
	}
	return nil
}

// NoteRemoved records that another node said that this one was removed.
func (j *Joiner) NoteRemoved() {
	if j.Self.SetRemoved() {
		j.Logger.Error("this node was removed from the cluster")
	}
}

func (j *Joiner) wasRemoved() bool {
	if j.Machine.Removed(j.Self.Incarnation) {
		j.NoteRemoved()
	}
	return j.Self.Removed()
}

// askToJoin asks every node that may know the leader, once.
func (j *Joiner) askToJoin(ctx context.Context) JoinResponse {
	m, self := j.Member, j.Stream.Addr()
	request := JoinRequest{
		Node: j.Self.Node, Incarnation: j.Self.Incarnation, RaftAddr: self,
		GRPCAddr: m.GRPCAddr, HTTPAddr: m.HTTPAddr, GossipAddr: m.GossipAddr, WantVote: m.WantVote,
		Version: m.Version, FeatureLevelMax: m.FeatureLevelMax, Empty: j.Empty, ClusterID: j.Self.ClusterID(), Process: j.Self.Process,
		Zone: m.Zone, Weight: m.Weight,
	}
	if j.IsLeader() {
		return j.HandleJoin(ctx, request)
	}
	asked := map[string]bool{self: true}
	if answer := j.askEach(ctx, request, j.addrsToAsk(ctx), asked); answer.Accepted || answer.Refused != "" {
		return answer
	}
	return j.askEach(ctx, request, j.dialers(ctx, asked), asked)
}

// askEach asks the nodes at addrs, and the leaders that they name, except those that
// were asked already, until one accepts or refuses the request.
func (j *Joiner) askEach(ctx context.Context, request JoinRequest, addrs []string, asked map[string]bool) JoinResponse {
	queue := slices.Clone(addrs)
	for len(queue) > 0 && ctx.Err() == nil && j.Peers != nil {
		addr := queue[0]
		queue = queue[1:]
		if addr == "" || asked[addr] {
			continue
		}
		asked[addr] = true
		ask, cancel := context.WithTimeout(ctx, changeMax+transport.RequestTimeout)
		answer, err := j.Peers.Join(ask, addr, request)
		cancel()
		if err != nil {
			j.logNoAnswer(addr, err)
			continue
		}
		if answer.Accepted || answer.Refused != "" {
			return answer
		}
		queue = slices.Insert(queue, 0, answer.LeaderAddr)
	}
	return JoinResponse{}
}

// inOtherCluster returns why this node's data belongs to another cluster than the
// one that it was told to join, or "". It does if every join address belongs to the
// other cluster. A lone node leads its own cluster and has asked no other node yet.
func (j *Joiner) inOtherCluster(ctx context.Context) (why string) {
	if j.Self.ClusterID() == "" {
		return ""
	}
	for _, addr := range j.Join {
		if addr == j.Stream.Addr() {
			continue
		}
		if status, err := j.status(ctx, addr); err == nil && status.ClusterID == j.Self.ClusterID() {
			return ""
		}
		if why = j.Contacts.whyForeign(addr); why == "" {
			return ""
		}
	}
	return why
}

// dialers returns the addresses of members that dialed this node, without those that
// were asked already. Each has proved that a member is there: it has answered.
func (j *Joiner) dialers(ctx context.Context, asked map[string]bool) []string {
	unproved := slices.DeleteFunc(j.Contacts.members(), func(addr string) bool { return asked[addr] })
	var addrs []string
	for i, status := range j.statuses(ctx, unproved) {
		if status != nil && status.ClusterID != "" {
			addrs = append(addrs, unproved[i])
		}
	}
	return addrs
}

// addrsToAsk returns the addresses that may know the leader, the likeliest first.
func (j *Joiner) addrsToAsk(ctx context.Context) []string {
	leader, _ := j.Raft.LeaderWithID()
	addrs := append([]string{string(leader)}, j.knownAddrs(ctx, nil)...)
	for _, m := range j.Machine.Members() {
		if !m.Host { // a host decides nothing about members
			addrs = append(addrs, m.RaftAddr)
		}
	}
	// After a restart, the member rows are applied only once a leader has sent its
	// commit index, which a removed node never receives. The log is there before.
	for _, s := range j.servers() {
		addrs = append(addrs, string(s.Address))
	}
	return addrs
}
