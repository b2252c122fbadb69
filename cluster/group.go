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
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// Group is this node's part of a Raft group. Its methods may be called
// concurrently.
type Group struct {
	o       Options
	logger  hclog.Logger
	machine StateMachine
	peers   Peers
	metrics *metrics

	self     *transport.Self
	stores   *raftlog.Stores
	stream   *transport.Stream
	raft     *raft.Raft
	guard    *transport.Guard
	lead     *leadership
	proposer *proposer
	index    *readIndex
	ready    *atomic.Pointer[readiness]
	empty    bool // this node's directory held no state when it was opened

	reloading sync.Mutex    // held while raft's settings are changed
	changes   chan struct{} // a token of one: who changes the membership
	observed  chan raft.Observation
	followed  *followed
	lease     *Lease
	kept      kept
	leaving   atomic.Pointer[string] // the node that is being emptied here, to be removed; set by who changes the membership
	foreign   foreign
	met       met
	grants    *grants
	keep      Compaction
	replay    replay
	stuck     atomic.Bool // this node leads though its disk is nearly full: nobody took over

	mu      sync.Mutex
	turned  chan struct{}      // closed and replaced when the leader or readiness changes; guarded by mu
	stop    context.CancelFunc // ends Run; guarded by mu
	running chan struct{}      // closed when Run has ended; nil before it starts; guarded by mu
	closed  bool               // guarded by mu
}

// Open opens the stores and the listener and starts raft. Run does the rest;
// Shutdown undoes it all, and must be called even if Run never is.
func Open(o Options) (*Group, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	g := &Group{
		o: o, logger: o.Logger.Named("cluster"), machine: o.Machine, peers: o.Peers, metrics: newMetrics(),
		ready: new(atomic.Pointer[readiness]), turned: make(chan struct{}),
		changes: make(chan struct{}, 1), observed: make(chan raft.Observation, 16), followed: newFollowed(), lease: NewLease(), keep: o.Compaction,
	}
	var err error
	g.stores, err = raftlog.Open(raftlog.Options{
		Dir: o.Dir, Kind: o.LogStore, Check: o.Machine.Check, Snapshots: o.Snapshots, Applied: o.Machine.Applied,
		Fatal: o.Fatal, AcceptDamage: o.AcceptDamage, Rebase: g.rebase, Reserve: o.DiskReserve, SegmentBytes: o.LogSegmentBytes, Logger: o.Logger.Named("log"),
	})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if err := g.openOn(); err != nil {
		return nil, errors.Join(err, g.stores.Close())
	}
	return g, nil
}

// openOn opens what stands on the stores.
func (g *Group) openOn() (err error) {
	if g.self, err = transport.LoadSelf(g.o.NodeID, g.stores.Stable); err != nil {
		return err
	}
	if err := g.self.SetClaim(g.o.Claim); err != nil {
		return err
	}
	started := new(atomic.Pointer[raft.Raft]) // raft dials before NewRaft has returned
	g.stream, err = transport.Listen(transport.Options{
		Network: g.o.Network, Listen: g.o.Listen, Advertise: g.o.Advertise, Logger: g.logger.Named("stream"),
		Removed: g.machine.Removed, Expect: func(addr string) string { return answering(started.Load(), addr) },
		OnRemoved: g.leftBehind, OnForeign: g.foreign.note, OnMet: g.met.note,
	}, g.self)
	if err != nil {
		return err
	}
	g.grants = newGrants(g.stores.Stable)
	if err := g.openState(); err != nil {
		return errors.Join(err, g.stream.Close())
	}
	started.Store(g.raft)
	return nil
}

func (g *Group) openState() error {
	if err := finishFounding(g.stores.Logs, g.stores.Stable, g.o.NodeID, g.Addr()); err != nil {
		return err
	}
	has, err := raft.HasExistingState(g.stores.Logs, g.stores.Stable, g.stores.Snapshots)
	if err != nil {
		return fmt.Errorf("look for state: %w", err)
	}
	g.empty = !has
	g.stores.Ballot.Astray.Store(has) // until raft has read where its log says that this node is
	if g.replay.until, err = g.stores.Logs.LastIndex(); err != nil {
		return fmt.Errorf("read the log's end: %w", err)
	}
	if err := g.openRaft(); err != nil {
		return err
	}
	at := g.knownAt()
	g.stores.Ballot.Astray.Store(at != "" && at != g.Addr())
	if err := g.healable(); err != nil {
		return errors.Join(err, g.raft.Shutdown().Error())
	}
	return nil
}

func (g *Group) openRaft() error {
	guard := transport.ServeRaft(g.stream, g.stores, g.o.Logger.Named("raft-net"), g.logger)
	g.lead = &leadership{
		machine: g.machine, metrics: g.metrics, logger: g.logger, ready: g.ready,
		notify: make(chan bool), news: make(chan struct{}, 1), duties: g.duties, turned: g.turn,
	}
	g.stores.Ballot.End = runtime.Goexit
	r, err := raft.NewRaft(g.raftConfig(), g.machine, g.stores.Logs, g.stores.Stable, g.stores.Snapshots, guard)
	if err != nil {
		return errors.Join(fmt.Errorf("start raft: %w", err), guard.Close())
	}
	guard.Attach(r)
	g.guard, g.raft, g.lead.raft = guard, r, r
	g.proposer = &proposer{
		machine: g.machine, apply: r.Apply, committed: r.CommitIndex, term: g.ready, writable: g.writable, fatal: g.o.Fatal,
		logger: g.logger, metrics: g.metrics, wake: make(chan struct{}, 1), abandoned: make(chan struct{}),
	}
	g.index = &readIndex{
		self: raft.ServerID(g.o.NodeID), term: g.ready, raft: r, logs: g.stores.Logs, machine: g.machine, peers: g.peers,
		log: g.proposer, metrics: g.metrics, wake: make(chan struct{}, 1),
	}
	r.RegisterObserver(raft.NewObserver(g.observed, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	}))
	return nil
}

func (g *Group) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(g.o.NodeID)
	c.Logger = g.o.Logger.Named("raft")
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = g.o.Timing.Heartbeat, g.o.Timing.Election, g.o.Timing.Lease
	if !g.stores.Admission.Over() {
		c.HeartbeatTimeout, c.ElectionTimeout = noviceTimeout, noviceTimeout
	}
	c.CommitTimeout = min(c.CommitTimeout, g.o.Timing.Heartbeat/2)
	c.MaxAppendEntries = appendEntriesMax
	c.NotifyCh = g.lead.notify
	c.NoSnapshotRestoreOnStart = true // the machine has restored itself
	c.NoLegacyTelemetry = true
	// Compaction is ours: raft's own counts entries where it should count bytes.
	c.SnapshotThreshold = math.MaxUint64
	c.SnapshotInterval = 24 * time.Hour
	c.TrailingLogs = g.keep.TrailingEntries
	return c
}

// Run does the group's work until ctx ends, Shutdown is called, or this node
// learns that it is no longer wanted. Then the error says so.
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
	work.Go(func() error { return g.stores.Run(ctx) })
	work.Go(func() error { return g.stream.Serve(ctx) })
	work.Go(func() error { return g.lead.watch(ctx) })
	work.Go(func() error { return g.lead.serve(ctx) })
	work.Go(func() error { return g.proposer.run(ctx) })
	work.Go(func() error { return g.index.run(ctx) })
	work.Go(func() error { return g.graduate(ctx) })
	work.Go(func() error { return g.observe(ctx) })
	work.Go(func() error { return g.compact(ctx) })
	work.Go(func() error { return g.belong(ctx) })
	work.Go(func() error { return g.keepLease(ctx) })
	work.Go(func() error { return g.assign(ctx) })
	return work.Wait()
}

// turn tells whoever watches that the leader, or readiness, has changed.
func (g *Group) turn() {
	g.proposer.nudge()
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.turned)
	g.turned = make(chan struct{})
}

func (g *Group) observe(ctx context.Context) error {
	for {
		select {
		case <-g.observed:
			g.turn()
		case <-ctx.Done():
			return nil
		}
	}
}

// LeaderChanged returns a channel that is closed when this node's view of the
// leader changes, or the leader here becomes ready or ceases to be.
func (g *Group) LeaderChanged() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turned
}

// Leader is who this node believes leads; a hint, "" where it knows none.
func (g *Group) Leader() (id, addr string) {
	a, i := g.raft.LeaderWithID()
	return string(i), string(a)
}

// IsLeader tells whether this node believes that it leads and is ready to; a
// hint, never a permission.
func (g *Group) IsLeader() bool { return g.ready.Load() != nil }

// Tick is now in ticks on the leader, and the last applied tick elsewhere.
func (g *Group) Tick() uint64 {
	tick, _ := g.machine.Stamps()
	if r := g.ready.Load(); r != nil {
		return max(tick, r.clock.tick(time.Now()))
	}
	return tick
}

// LastContact is when this node last heard from a leader: now, on the leader.
func (g *Group) LastContact() time.Time {
	if g.ready.Load() != nil {
		return time.Now()
	}
	return g.raft.LastContact()
}

// ClusterID is the cluster that this node belongs to; "" where none yet.
func (g *Group) ClusterID() string { return g.self.ClusterID() }

// Incarnation is this node's life: minted with its data directory.
func (g *Group) Incarnation() string { return g.self.Incarnation }

// Addr is the address that others reach this node at.
func (g *Group) Addr() string { return g.stream.Addr() }

// PeerListener yields the connections of other nodes' DialPeer.
func (g *Group) PeerListener() net.Listener { return g.stream.PeerListener() }

// DialPeer connects to the PeerListener of the node at addr.
func (g *Group) DialPeer(ctx context.Context, addr string) (net.Conn, error) {
	return g.stream.DialPeer(ctx, addr)
}

// Ready is nil where this node can serve: it leads and is ready, or it follows
// a leader closely. How far that one is, it says itself: the entries that a
// node does not have yet are not in its own idea of what is committed.
func (g *Group) Ready() error {
	switch {
	case g.self.Removed():
		return agent.Errorf(agent.CodeUnavailable, "%v", ErrRemoved)
	case g.ready.Load() != nil:
		return nil
	case g.self.ClusterID() == "":
		return agent.Errorf(agent.CodeUnavailable, "this node belongs to no cluster yet")
	}
	id, _ := g.Leader()
	committed := g.guard.Committed()
	behind := int64(committed) - int64(g.raft.AppliedIndex())
	switch contact := time.Since(g.raft.LastContact()); {
	case id == "":
		return agent.Errorf(agent.CodeUnavailable, "no leader is known")
	case id == g.o.NodeID:
		return agent.Errorf(agent.CodeUnavailable, "this node has won an election and is not ready to lead yet")
	case contact > 3*g.o.Timing.Heartbeat:
		return agent.Errorf(agent.CodeUnavailable, "no word from the leader for %v", contact.Round(time.Millisecond))
	case committed == 0:
		return agent.Errorf(agent.CodeUnavailable, "the leader has not told yet how far it is")
	case behind > lagMax:
		return agent.Errorf(agent.CodeUnavailable, "%d entries behind the leader", behind)
	}
	return nil
}

// LocalStatus is what this node knows of itself.
func (g *Group) LocalStatus() PeerStatus {
	id, addr := g.Leader()
	applied, chain := g.machine.Chain()
	return PeerStatus{
		ClusterID: g.self.ClusterID(), Node: g.o.NodeID, Incarnation: g.self.Incarnation, Leader: id, LeaderAddr: addr,
		Term: g.raft.CurrentTerm(), LastIndex: g.raft.LastIndex(), CommitIndex: g.raft.CommitIndex(),
		AppliedIndex: applied, Chain: chain, Version: g.o.Self.Version, FeatureLevelMax: g.o.Self.FeatureLevelMax,
		CatchingUp: !g.stores.MayVote(), Removed: g.self.Removed(),
		Founding: g.grants.underWay(), MayFound: g.mayFound(),
	}
}
