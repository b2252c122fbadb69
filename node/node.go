package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/sync/errgroup"
	rpc "google.golang.org/grpc"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup/schedule"
	"dormouse/cluster"
	"dormouse/cluster/gossip"
	"dormouse/cluster/membership"
	"dormouse/cluster/peer"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/internal/descriptors"
	"dormouse/internal/memory"
	"dormouse/internal/tail"
	"dormouse/internal/version"
	"dormouse/router"
	"dormouse/server/grpc"
	"dormouse/server/redis"
	"dormouse/storage"
	"dormouse/store"
	"dormouse/tenant"
)

// Node holds the parts of one node. Open creates it; Run runs it and closes it.
type Node struct {
	o      Options
	logger hclog.Logger
	log    *tail.Writer // the end of the log, unless the options have a logger

	memory    memory.Plan
	secrets   *secrets
	machine   *fsm.Machine
	group     *cluster.Group
	pool      *peer.Pool // to other nodes
	peers     *rpc.Server
	peerStore *grpc.PeerStore
	store     *store.Store
	router    *router.Router
	gossip    *gossip.Gossip
	// endGossip ends gossip's Run, which closes gossipEnded; nil before it runs.
	endGossip   context.CancelFunc
	gossipEnded chan struct{}
	metrics     *metrics
	backups     *schedule.Runner // nil without a destination

	service      agent.Submitter          // the router, measured; the servers limit it
	tracing      *sdktrace.TracerProvider // nil if no spans are sent
	slow         *slowLog
	limiter      *tenant.Limiter
	instanceHost *instanceHost // of instances
	operator     *operator
	tokens       *tokens   // of this node's state
	audit        *auditLog // nil if there is none

	descriptors  *descriptors.Guard
	grpc         *grpc.Server // nil if headless, as the next three
	http         *http.Server
	grpcListener net.Listener
	httpListener net.Listener

	redis         *redis.Server // nil unless configured, as the next
	redisListener net.Listener

	fatalOnce sync.Once
	fatal     chan error // capacity one: why the node must stop at once
	stopping  chan struct{}
}

// Open opens a node's parts in order. It serves nothing before Run, which also closes what Open has
// opened. If Open returns an error, nothing is left open. The error wraps that of ctx, which bounds Open
// and not the node, if ctx ended first.
func Open(ctx context.Context, o Options) (*Node, error) {
	o.Config.Resolve()
	n := &Node{o: o, logger: o.Logger, log: tail.New(os.Stderr, logTailBytes), fatal: make(chan error, 1), stopping: make(chan struct{})}
	if n.logger == nil {
		n.logger = newLogger(o.Config, n.log)
	}
	opened := make(chan error, 1)
	go func() { opened <- n.open(ctx) }()
	var why error
	select {
	case err := <-opened:
		return n.orClosed(err)
	case why = <-n.fatal:
	}
	select { // a part that has failed may never return
	case err := <-opened:
		return nil, n.stop(new(errgroup.Group), func() {}, fatalGrace, errors.Join(why, err))
	case <-time.After(fatalGrace):
		return nil, why
	}
}

func (n *Node) open(ctx context.Context) error {
	for _, open := range []func() error{n.checkDescriptors, func() error { return n.openMachine(ctx) }, n.openGroup, func() error { return openSpans(n) }, n.openService, n.openBackups, n.openInstances, n.openGossip, func() error { return openAudit(n) }, n.openServers} {
		if err := open(); err != nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// orClosed returns n if err is nil. Otherwise it closes what is open and returns err.
func (n *Node) orClosed(err error) (*Node, error) {
	if err == nil {
		return n, nil
	}
	select {
	case why := <-n.fatal: // the cause, if both are known
		return nil, n.stop(new(errgroup.Group), func() {}, fatalGrace, errors.Join(why, err))
	default:
		return nil, errors.Join(err, n.close(context.Background()))
	}
}

// openMachine opens the secrets, and the state machine with the state of its own disk.
func (n *Node) openMachine(ctx context.Context) error {
	c := n.o.Config
	fs := n.o.FS
	state := dir(c, "state")
	if c.Node.Ephemeral {
		state = "state"
		if fs == nil {
			fs = storage.MemFS()
		}
	} else if err := unfinishedRecovery(c.Node.DataDir); err != nil {
		return fault("open the data directory", err, codeDamaged)
	} else if err := makeDataDir(c.Node.DataDir); err != nil {
		return fault("make the data directory", err, codeDisk)
	} else if err := removeLeftovers(fs, c.Node.DataDir); err != nil {
		return fault("remove what an earlier process left", err, codeDisk)
	}
	var err error
	n.memory = MemoryPlan(c)
	logMemory(n.memory, n.logger)
	if n.secrets, err = openSecrets(ctx, n.o, n.logger); err != nil {
		return err
	}
	n.machine, err = fsm.Open(fsm.Options{
		Dir: state, FS: fs, Caches: caches(n.memory, c.Node.ID), ClusterID: n.clusterID, Fatal: n.fail, Logger: n.logger.Named("state"),
		EachDecides: n.o.Config.Raft.Decide == config.DecideEach,
	})
	return fault("open the state machine", err, codeFailed)
}

// makeDataDir makes the data directory, readable by its owner only. It refuses one
// with data that other users may read or write.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		return errors.Join(err, os.Chmod(dir, 0o700))
	}
	err = fmt.Errorf("other users may read or write %s (mode %04o): run \"chmod 700 %s\"; if others may have read it, replace its secrets", dir, info.Mode().Perm(), dir)
	return &ExitError{code: codeConfig, err: err}
}

// clusterID returns the cluster's id for snapshots, which may be cut before the group is open.
func (n *Node) clusterID() string {
	if n.group == nil {
		return ""
	}
	return n.group.ClusterID()
}

// openGroup opens the Raft group and the connections to other nodes.
func (n *Node) openGroup() error {
	c := n.o.Config
	network, roots, err := n.secrets.raftNetwork()
	if err != nil {
		return fault("raft", err, codeConfig)
	}
	n.pool = peer.NewPool(func(ctx context.Context, addr string) (net.Conn, error) { return n.group.DialPeer(ctx, addr) })
	n.pool.VotingTerm = func() uint64 { return n.group.RemoteView().VotingTerm() }
	times := config.TimingOf(c.Cluster.Timing)
	n.pool.Deposed, n.pool.Connect = times.Deposed, times.Connect
	n.group, err = cluster.Open(cluster.Options{
		NodeID: c.Node.ID, Dir: n.o.logDir(), LogFiles: n.o.LogFiles, LogStore: c.Raft.LogStore, ReadBarrier: c.Raft.ReadBarrier, WriteFirst: c.Raft.LeaderWrite == config.LeaderWriteFirst,
		Keys: n.secrets.ring, Roots: roots, Network: network, Listen: c.Raft.Addr, Advertise: c.Raft.Advertise,
		Machine: n.machine, Snapshots: n.machine.Snapshots(),
		Self: layout.Member{
			GRPCAddr: c.GRPC.Advertise, HTTPAddr: c.HTTP.Advertise, GossipAddr: c.Gossip.Advertise,
			WantVote: true, Version: version.String(), FeatureLevelMax: n.o.featureLevel(),
			Zone: c.Placement.Zone, Weight: c.Placement.Weight,
		},
		Voters:    membership.Voters{Target: c.Cluster.Voters, DeadAfter: c.Cluster.DeadAfter},
		Bootstrap: c.Cluster.Bootstrap, Expect: c.Cluster.Expect, Alone: c.Node.Dev, Join: n.join(),
		Learned: n.gossipAddrs, Lookup: n.lookup(),
		Peers: n.pool, Fatal: n.fail, Claim: n.machine.Claim,
		DiskReserve: c.Limits.DiskReserveBytes, LogSegmentBytes: n.o.LogSegmentBytes, LogCacheBytes: n.memory.Entries,
		Logger: n.logger, Timing: timing(c), Compaction: compaction(c), EntryCommits: c.Raft.EntryCommits, AcceptDamage: c.Raft.AcceptDamage,
		Placement: n.placement(),
	})
	return fault("open the Raft group", err, codeFailed)
}

// join returns the Raft addresses to join at: those of the join token if the configuration has none.
func (n *Node) join() []string {
	c := n.o.Config
	if len(c.Cluster.Join) > 0 {
		return c.Cluster.Join
	}
	token, ok, err := joinToken(c)
	if err != nil {
		n.logger.Warn("the join token is not used", "error", err)
	}
	if !ok {
		return nil
	}
	return token.Addrs
}

// openService opens the service on top of the group and the machine.
func (n *Node) openService() error {
	n.limiter = tenant.NewLimiter(n.machine.PolicyOf)
	n.metrics = newMetrics(n)
	n.slow = newSlowLog(n.logger.Named("calls"), n.o.Config.Log.SlowCall)
	options := store.Options{Node: n.o.Config.Node.ID, Machine: n.machine, Group: n.group, UpToDate: n.group.UpToDate}
	n.store = store.New(options)
	n.router = router.New(n.store, n.group, n.pool)
	n.service = &measured{Submitter: n.router, metrics: n.metrics, tracer: tracerOf(n.tracing), slow: n.slow}
	n.operator = &operator{node: n}
	options.Group = n.group.RemoteView()
	var err error
	if n.tokens, err = newTokens(n); err != nil {
		return fault("auth", err, codeConfig)
	}
	log := n.logger.Named("auth")
	n.peerStore = grpc.NewPeerStore(access.NewForwarded(&measured{Submitter: store.New(options), tracer: tracerOf(n.tracing), slow: n.slow}, n.tokens, func(c *agent.Commit, err error) {
		log.Warn("a commit of another node was refused", "principal", c.Principal, "token", c.Token, "error", err)
	}))
	n.peers = rpc.NewServer(append(peer.ServerOptions(n.peerStore.Port), grpc.MessageLimits()...)...)
	peer.Register(n.peers, n.group.RemoteView())
	n.peerStore.Handle(peer.TermsIn(n.group.RemoteView()))
	n.peerStore.Register(n.peers)
	peer.RegisterBackups(n.peers, peerBackups{n})
	return nil
}

// fail stops the node after a fault of any part, once: the node can no longer keep its guarantees.
func (n *Node) fail(err error) {
	n.fatalOnce.Do(func() {
		n.logger.Error("this node stops: it can no longer keep its guarantees", "error", err)
		n.fatal <- fault("this node had to stop", err, codeDisk)
	})
}

// Service returns the whole contract. It checks no rights: the servers of this node check those of
// their callers.
func (n *Node) Service() agent.Submitter { return n.service }

// HostKey returns the text of the key for host processes, which is also in host.key of the data
// directory.
func (n *Node) HostKey() string { return n.secrets.ring.Current().Host().Encode() }

// Store returns the contract as only this node serves it: commits and linearizable reads only while
// it leads.
func (n *Node) Store() agent.Submitter { return n.store }

// Operator returns the operations for operators of this node.
func (n *Node) Operator() layout.Operator { return n.operator }

// Group returns this node's part of the Raft group.
func (n *Node) Group() *cluster.Group { return n.group }

// Machine returns this node's state machine.
func (n *Node) Machine() *fsm.Machine { return n.machine }

// Ready returns nil if this node serves the whole contract now.
func (n *Node) Ready() error {
	select {
	case <-n.stopping:
		return agent.Errorf(agent.CodeUnavailable, "this node is stopping")
	default:
		return n.group.Ready()
	}
}

// Addrs returns the addresses of the servers' listeners; "" if headless.
func (n *Node) Addrs() (httpAddr, grpcAddr string) {
	if n.o.Headless {
		return "", ""
	}
	return n.httpListener.Addr().String(), n.grpcListener.Addr().String()
}

// RedisAddr returns the address of the server that speaks the protocol of Redis; "" if there is none.
func (n *Node) RedisAddr() string {
	if n.redisListener == nil {
		return ""
	}
	return n.redisListener.Addr().String()
}
