package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
	"dormouse/cluster/proposer"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// Group is this node's part of a Raft group. Its methods may be called
// concurrently.
type Group struct {
	o       Options
	logger  hclog.Logger
	machine StateMachine

	self   *transport.Self
	stores *raftlog.Stores
	stream *transport.Stream
	guard  *transport.Guard
	raft   *raft.Raft

	term       *atomic.Pointer[proposer.Term] // nil while this node may not propose
	leadership *leadership
	proposer   *proposer.Proposer
	index      *proposer.ReadIndex
	metrics    *proposer.Metrics
	compactor  *compactor
	assigner   *assign.Assigner

	roster    *membership.Roster
	contacts  *membership.Contacts
	followers *membership.Followers
	handover  *membership.Handover
	failover  *membership.Failover
	leader    *membership.Leader
	joiner    *membership.Joiner

	empty    bool // this node's directory held no state when it was opened
	observed chan raft.Observation
	settings settings
	replay   replay

	mu      sync.Mutex
	changed chan struct{}      // closed and replaced when the leader or the term changes; guarded by mu
	stop    context.CancelFunc // ends Run; guarded by mu
	running chan struct{}      // closed when Run has ended; nil before it starts; guarded by mu
	closed  bool               // guarded by mu
}

// Open opens the stores and the listener, and starts Raft; Run does the group's work. It
// returns an error if the options are invalid, or if a store or the listener cannot be
// opened. Call Shutdown after a successful Open, even if Run was never called.
func Open(o Options) (*Group, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	g := &Group{
		o: o, logger: o.Logger.Named("cluster"), machine: o.Machine, metrics: proposer.NewMetrics(),
		term: new(atomic.Pointer[proposer.Term]), changed: make(chan struct{}), observed: make(chan raft.Observation, 16),
		contacts: new(membership.Contacts), followers: membership.NewFollowers(), failover: membership.NewFailover(),
	}
	var err error
	g.stores, err = raftlog.Open(raftlog.Options{
		Dir: o.Dir, Kind: o.LogStore, Check: o.Machine.Check, Snapshots: o.Snapshots, Applied: o.Machine.Applied,
		Fatal: o.Fatal, AcceptDamage: o.AcceptDamage, Rebase: g.rebase, Reserve: o.DiskReserve, SegmentBytes: o.LogSegmentBytes, CacheBytes: o.LogCacheBytes, WriteFirst: o.WriteFirst, Files: o.LogFiles, Logger: o.Logger.Named("log"),
	})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if err := g.openTransport(); err != nil {
		return nil, errors.Join(err, g.stores.Close())
	}
	return g, nil
}

// openTransport opens the parts that use the stores.
func (g *Group) openTransport() (err error) {
	if g.self, err = transport.LoadSelf(g.o.NodeID, g.stores.Stable); err != nil {
		return err
	}
	if err := g.self.SetClaim(g.o.Claim); err != nil {
		return err
	}
	started := new(atomic.Pointer[raft.Raft]) // Raft dials before NewRaft has returned
	g.stream, err = transport.Listen(transport.Options{
		Network: g.o.Network, Listen: g.o.Listen, Advertise: g.o.Advertise, Keys: g.o.Keys, Roots: g.o.Roots, Logger: g.logger.Named("stream"),
		Removed: g.machine.Removed, Expect: func(addr string) string { return membership.ServerAt(started.Load(), addr) },
		OnRemoved: g.noteRemoved, OnForeign: g.contacts.NoteForeign, OnMet: g.contacts.NoteMember, OnClosed: g.failover.Closed,
	}, g.self)
	if err != nil {
		return err
	}
	if err := g.openState(); err != nil {
		return errors.Join(err, g.stream.Close())
	}
	started.Store(g.raft)
	return nil
}

func (g *Group) openState() error {
	if err := membership.FinishFounding(g.stores.Logs, g.stores.Stable, g.o.NodeID, g.Addr()); err != nil {
		return err
	}
	has, err := raft.HasExistingState(g.stores.Logs, g.stores.Stable, g.stores.Snapshots)
	if err != nil {
		return fmt.Errorf("look for state: %w", err)
	}
	g.empty = !has
	g.stores.Votes.AddressConflict.Store(has) // until Raft has read this node's address from the log
	if g.replay.until, err = g.stores.Logs.LastIndex(); err != nil {
		return fmt.Errorf("read the end of the log: %w", err)
	}
	if err := g.openRaft(); err != nil {
		return err
	}
	g.openParts()
	at := g.roster.AddrOf(g.o.NodeID)
	g.stores.Votes.AddressConflict.Store(at != "" && at != g.Addr())
	if err := g.repairable(); err != nil {
		return errors.Join(err, g.raft.Shutdown().Error())
	}
	return nil
}

func (g *Group) openRaft() error {
	g.guard = transport.ServeRaft(g.stream, g.stores, g.o.Logger.Named("raft-net"), g.logger)
	g.leadership = &leadership{
		machine: g.machine, metrics: g.metrics, logger: g.logger, term: g.term,
		notify: make(chan bool), news: make(chan struct{}, 1), duties: func(ctx context.Context) { g.leader.Duties(ctx) }, changed: g.leaderChanged,
		ended: func() { g.guard.Led(time.Now().Add(-g.o.Timing.Lease)) },
	}
	g.stores.Votes.End = runtime.Goexit
	r, err := raft.NewRaft(g.raftConfig(), timedMachine{g.machine, g.metrics}, g.stores.Logs, g.stores.Stable, g.stores.Snapshots, g.guard)
	if err != nil {
		return errors.Join(fmt.Errorf("start raft: %w", err), g.guard.Close())
	}
	g.guard.Attach(r)
	g.raft, g.leadership.raft, g.settings.raft = r, r, r
	r.RegisterObserver(raft.NewObserver(g.observed, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	}))
	return nil
}

// openParts makes the parts that use Raft. Run starts them.
func (g *Group) openParts() {
	g.roster = &membership.Roster{Raft: g.raft, Machine: g.machine, Peers: g.o.Peers, Self: g.self}
	g.proposer = proposer.New(proposer.Options{
		Machine: g.machine, Raft: g.raft, Term: g.term, Writable: func() error { return g.leader.Writable() },
		Fatal: g.o.Fatal, Logger: g.logger, Metrics: g.metrics, EntryCommits: g.o.EntryCommits,
	})
	g.index = proposer.NewReadIndex(proposer.ReadIndexOptions{Node: g.o.NodeID, Logs: g.stores.Logs, Voters: g.o.Peers, Round: g.o.Timing.Round}, g.proposer)
	g.compactor = &compactor{
		keep: g.o.Compaction, raft: g.raft, machine: g.machine, stores: g.stores, followers: g.followers, settings: &g.settings, logger: g.logger,
	}
	g.assigner = assign.New(assign.Options{
		Placement: g.o.Placement, Self: g.self, Addr: g.Addr(), Machine: g.machine, Leadership: assignLeadership{g}, Commit: g.proposer.Commit, Logger: g.logger,
	})
	g.handover = &membership.Handover{
		Roster: g.roster, Proposer: g.proposer, Term: g.term, Guard: g.guard, Addr: g.Addr(), LeaderChanged: g.LeaderChanged, Logger: g.logger,
	}
	g.failover.Roster, g.failover.Guard, g.failover.Stream, g.failover.Timing, g.failover.Logger = g.roster, g.guard, g.stream, g.o.Timing.Failover, g.logger
	g.leader = (&membership.Leader{
		Roster: g.roster, Followers: g.followers, Handover: g.handover, Proposer: g.proposer, Term: g.term, Stream: g.stream, Stores: g.stores,
		Voters: g.o.Voters, Logger: g.logger, RefreshSnapshot: g.compactor.refresh, Vacate: g.assigner.Vacate, MayLeave: g.assigner.MayLeave,
	}).Init()
	g.joiner = (&membership.Joiner{
		Roster: g.roster, Stream: g.stream, Stores: g.stores, Contacts: g.contacts, Logger: g.logger,
		Member: g.o.Self, Empty: g.empty, Bootstrap: g.o.Bootstrap, Expect: g.o.Expect, Alone: g.o.Alone,
		Join: g.o.Join, Learned: g.o.Learned, Lookup: g.o.Lookup,
		Founded: g.failover.StandAlone, IsLeader: g.IsLeader, LeaderChanged: g.LeaderChanged, HandleJoin: g.leader.HandleJoin,
		HeartbeatTimeout: g.o.Timing.Heartbeat, ElectionTimeout: g.o.Timing.Election, SetTimeouts: g.settings.setTimeouts,
	}).Init()
}

func (g *Group) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(g.o.NodeID)
	c.Logger = g.o.Logger.Named("raft")
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = g.o.Timing.Heartbeat, g.o.Timing.Election, g.o.Timing.Lease
	if !g.stores.Admission.Over() {
		c.HeartbeatTimeout, c.ElectionTimeout = membership.JoiningTimeout, membership.JoiningTimeout
	}
	c.CommitTimeout = min(c.CommitTimeout, g.o.Timing.Heartbeat/2)
	c.MaxAppendEntries = appendEntriesMax
	c.NotifyCh = g.leadership.notify
	c.NoSnapshotRestoreOnStart = true // the machine has restored itself
	c.NoLegacyTelemetry = true
	// The compactor decides by bytes; Raft counts entries.
	c.SnapshotThreshold = math.MaxUint64
	c.SnapshotInterval = 24 * time.Hour
	c.TrailingLogs = g.o.Compaction.TrailingEntries
	return c
}

// Run does the group's work until ctx ends, Shutdown is called, or the cluster has
// removed or refuses this node. Then the error says so. Call it once.
func (g *Group) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g.mu.Lock()
	if g.closed || g.running != nil {
		g.mu.Unlock()
		return errors.New("cluster: Run after Run or Shutdown")
	}
	g.stop, g.running = stop, make(chan struct{})
	defer close(g.running)
	g.mu.Unlock()

	work, ctx := errgroup.WithContext(ctx)
	for _, part := range []func(context.Context) error{
		g.stores.Run, g.stream.Serve, g.leadership.watch, g.leadership.serve, g.proposer.Run, g.index.Run,
		g.joiner.Promote, g.observe, g.compactor.run, g.joiner.Run, g.failover.Run, g.assigner.KeepLease, g.assigner.Run,
	} {
		work.Go(func() error { return part(ctx) })
	}
	return work.Wait()
}

// leaderChanged notifies those that wait for a change of the leader or the term.
func (g *Group) leaderChanged() {
	g.proposer.Wake()
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *Group) observe(ctx context.Context) error {
	for {
		select {
		case <-g.observed:
			g.leaderChanged()
		case <-ctx.Done():
			return nil
		}
	}
}

// noteRemoved records that another node said that this one was removed.
func (g *Group) noteRemoved() {
	if g.self.SetRemoved() {
		g.logger.Error("this node was removed from the cluster")
	}
}

// PeerListener returns the listener of the connections that other nodes make with
// DialPeer.
func (g *Group) PeerListener() net.Listener { return g.stream.PeerListener() }

// DialPeer connects to the PeerListener of the node at addr.
func (g *Group) DialPeer(ctx context.Context, addr string) (net.Conn, error) {
	return g.stream.DialPeer(ctx, addr)
}

// Submit proposes one encoded commit of a tenant and returns. It calls done exactly once,
// from another goroutine or before Submit returns, with the state machine's decision or
// an *agent.Error. done must not block. cmd must not change until then. If ctx ends before
// the commit is sent, the error has code unavailable. The log is shared fairly between
// tenants.
func (g *Group) Submit(ctx context.Context, tenant string, cmd []byte, done func(agent.Decided, error)) {
	g.proposer.Submit(ctx, tenant, cmd, false, done)
}

// Propose proposes a commit of this node's own and waits until it is applied. The
// error is the commit's refusal, has code unknown if ctx ends first, and code
// unavailable if this node does not lead.
func (g *Group) Propose(ctx context.Context, cmd []byte) error {
	_, err := g.proposer.Commit(ctx, cmd)
	return err
}

// Members returns the members, sorted by id; see membership.Roster.
func (g *Group) Members() []layout.MemberStatus { return g.roster.Members(g.followers) }

// HandleChange carries out an operator's change; see membership.Leader.
func (g *Group) HandleChange(ctx context.Context, kind, node string) membership.ChangeResponse {
	return g.leader.HandleChange(ctx, kind, node)
}

// Partitions returns the part that assigns partitions and keeps this process's
// lease.
func (g *Group) Partitions() *assign.Assigner { return g.assigner }
