package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/gossip/gossiptest"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/instance"
	"dormouse/node"
	"dormouse/storage"
)

// simCluster is a cluster in one process, on a network in memory whose links can be cut. Logs are
// files. State machines keep their files in memory, where a crash loses what the engine had not
// flushed, as on a disk.
type simCluster struct {
	t      testing.TB
	links  *clustertest.Network
	talk   *gossiptest.Network
	dir    string
	timing string
	lease  time.Duration // of nodes on their partitions; 0: they own none
	disks  map[string]storage.FS
	awake  map[string]*testNode
	roots  chan string // root tokens, as they are shown

	// Of nodes that are started from now on.
	handlers map[string]instance.GoHandler
	level    uint32      // their newest feature level; 0: this build's
	auth     config.Auth // the zero value means off
	backup   config.Backup
	redis    bool                                    // serve the protocol of Redis
	spans    func(node string) sdktrace.SpanExporter // nil: none
	logger   hclog.Logger                            // nil: silent
	slow     time.Duration                           // of calls that are logged

	hostToken string
	hostLog   hclog.Logger // of hosts that are started from now on; nil: silent
}

// testNode is one running node of a cluster.
type testNode struct {
	*node.Node
	name string
	stop context.CancelFunc
	done chan error // capacity one: what Run returned

	mu     sync.Mutex          // guards the next fields
	moved  <-chan struct{}     // from before table was read
	table  []*layout.Partition // all partitions
	shares map[string]int      // number of partitions by owner
	mine   []*layout.Partition // of table: see own
}

// newSimCluster returns a cluster in a bubble of virtual time.
func newSimCluster(tb testing.TB, size int) *simCluster {
	tb.Helper()
	// Virtual time stops once a bubble's first goroutine has ended, and memberlist does not stop
	// its last probe but waits for its timeout.
	tb.Cleanup(func() { time.Sleep(time.Minute) })
	return newCluster(tb, size)
}

// newPlacedCluster is newSimCluster with nodes that own partitions and keep instances. Tests that
// do not need partitions use none: they cost more than all the rest.
func newPlacedCluster(tb testing.TB, size int) *simCluster {
	tb.Helper()
	w := newSimCluster(tb, 0)
	w.lease = config.Default().Placement.Lease
	w.found(size)
	if size > 0 {
		w.await("the feature level", func() bool { return w.leader().Machine().FeatureLevel() == fsm.FeatureLevelMax })
	}
	return w
}

// newCluster returns a cluster of size nodes and waits until all serve. Its nodes are stopped when
// the test ends.
func newCluster(tb testing.TB, size int) *simCluster {
	tb.Helper()
	w := newEmptyCluster(tb)
	w.found(size)
	return w
}

// found starts the first size nodes, and waits until all serve.
func (w *simCluster) found(size int) {
	w.t.Helper()
	for i := range size {
		w.start(name(i))
	}
	w.settle(size)
}

// settle waits until the first size nodes serve, and all of them vote.
func (w *simCluster) settle(size int) {
	w.t.Helper()
	for i := range size {
		w.await(name(i)+" to serve", func() bool { return w.awake[name(i)].Ready() == nil })
	}
	// Each node must know it, not only the leader: raft refuses a vote to a node that is not a
	// voter in its own configuration. So if a leader is lost right after a promotion, possibly no
	// node can be elected.
	w.await("all to vote and to know it", func() bool {
		for _, r := range w.awake {
			if len(votersOf(r)) != size {
				return false
			}
		}
		return true
	})
}

// newEmptyCluster returns a cluster without running nodes.
func newEmptyCluster(tb testing.TB) *simCluster {
	tb.Helper()
	w := &simCluster{
		t: tb, links: clustertest.NewNetwork(), talk: gossiptest.New(), dir: logDir(tb), timing: config.TimingLAN,
		disks: map[string]storage.FS{}, awake: map[string]*testNode{}, roots: make(chan string, 8),
	}
	tb.Cleanup(func() {
		w.links.HealAll()
		w.talk.Heal()
		for name := range w.awake {
			w.sleep(name)
		}
	})
	return w
}

// logDir returns the directory of logs: in memory, if there is such a directory, since the real
// time of a disk's flushes has no meaning in virtual time.
func logDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dormouse-test-") //nolint:usetesting // TempDir is where the environment says, which is a disk
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}

// logSegment is the size of a log segment: a load test's log has several.
const logSegment = 4 << 20

func name(i int) string { return fmt.Sprintf("n%d", i+1) }

// config returns the configuration of a node: the first one founds, the others join it.
func (w *simCluster) config(name string) config.Config {
	c := config.Default()
	c.Node.ID, c.Node.DataDir = name, filepath.Join(w.dir, name)
	c.Raft.Addr, c.Raft.Advertise = name+":raft", name+":raft"
	c.HTTP.Addr, c.HTTP.Advertise = name+":http", name+":http"
	c.GRPC.Addr, c.GRPC.Advertise = name+":grpc", name+":grpc"
	c.Gossip.Addr = "127.0.1." + name[1:] + ":7603"
	c.Gossip.Advertise = c.Gossip.Addr
	c.Storage.CacheBytes = 1 << 20
	c.Limits.DiskReserveBytes = 1 << 20 // where the log is, as logSegment: reserving it takes time
	c.Cluster.Timing, c.Placement.Lease = w.timing, w.lease
	if c.Auth = w.auth; c.Auth.Mode == "" {
		c.Auth.Mode = config.AuthOff
	}
	c.Tracing.Sample, c.Log.SlowCall = 0, w.slow
	if w.redis {
		c.Redis.Addr = name + ":redis"
	}
	if w.backup.URL != "" {
		c.Backup = w.backup
	}
	c.Cluster.Bootstrap = name == "n1"
	if name != "n1" {
		c.Cluster.Join = []string{"n1:raft"}
	}
	return c
}

// start starts a node with its earlier data, if any.
func (w *simCluster) start(name string) *testNode {
	w.t.Helper()
	return w.startWith(name, w.config(name))
}

// startAlone starts a node that neither founds a cluster nor joins one.
func (w *simCluster) startAlone(name string) *testNode {
	w.t.Helper()
	c := w.config(name)
	c.Cluster.Bootstrap, c.Cluster.Join = false, nil
	return w.startWith(name, c)
}

func (w *simCluster) startWith(name string, c config.Config) *testNode {
	w.t.Helper()
	transport, err := w.talk.Listen(c.Gossip.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.disks[name] == nil {
		w.disks[name] = storage.MemFS()
	}
	host := w.links.Host(name)
	o := node.Options{
		Config: c, Keys: clustertest.Keys, Network: host, Servers: host, Gossip: transport, FS: w.disks[name], Handlers: w.handlers,
		Logger: hclog.NewNullLogger(), FeatureLevel: w.level, LogSegmentBytes: logSegment,
		RootToken: func(secret string) { w.roots <- secret },
	}
	if w.spans != nil {
		o.Spans = w.spans(name)
	}
	if w.logger != nil {
		o.Logger = w.logger
	}
	n, err := node.Open(context.Background(), o)
	if err != nil {
		w.t.Fatalf("start %s: %v", name, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &testNode{Node: n, name: name, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- n.Run(ctx) }()
	w.awake[name] = r
	return r
}

// sleep stops a node in order.
func (w *simCluster) sleep(name string) {
	w.t.Helper()
	if err := w.end(name); err != nil {
		w.t.Errorf("%s stopped with: %v", name, err)
	}
}

// end stops a node and returns the error of that.
func (w *simCluster) end(name string) error {
	r := w.awake[name]
	delete(w.awake, name)
	r.stop()
	return <-r.done
}

// crash cuts a node off while it runs and ends it. What its engine had not flushed is lost. It can
// be started again.
func (w *simCluster) crash(name string) {
	w.t.Helper()
	w.isolate(name)
	w.links.Crash(name)
	_ = w.end(name) // it may return an error about its listeners
	w.heal()
}

// isolate cuts a node off from all others, both ways.
func (w *simCluster) isolate(name string) {
	var others []string
	for i := range 9 {
		others = append(others, node9(i))
	}
	w.links.Isolate(name, others...)
	var talkers []string
	for _, other := range others {
		if other != name {
			talkers = append(talkers, "127.0.1."+other[1:]+":7603")
		}
	}
	w.talk.Split([]string{"127.0.1." + name[1:] + ":7603"}, talkers)
}

func node9(i int) string { return name(i) }

func (w *simCluster) heal() {
	w.links.HealAll()
	w.talk.Heal()
}

// await waits until a condition holds.
func (w *simCluster) await(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited a minute for %s", what)
		}
	}
}

// leader waits for a node that leads and is ready to.
func (w *simCluster) leader() *testNode {
	w.t.Helper()
	var found *testNode
	w.await("a leader", func() bool {
		for _, r := range w.awake {
			if r.Group().IsLeader() && (found == nil || r.Group().LocalStatus().Term > found.Group().LocalStatus().Term) {
				found = r
			}
		}
		return found != nil
	})
	return found
}

// follower returns a running node that does not lead.
func (w *simCluster) follower() *testNode {
	w.t.Helper()
	leader := w.leader()
	for i := range 9 {
		if r := w.awake[name(i)]; r != nil && r != leader {
			return r
		}
	}
	w.t.Fatal("no follower is up")
	return nil
}

// votersOf returns the names of the voters that a node knows.
func votersOf(r *testNode) []string {
	var voters []string
	for _, m := range r.Group().Members() {
		if m.Voter {
			voters = append(voters, m.ID)
		}
	}
	return voters
}

// agree waits until all running nodes have applied the same entries, and compares every row.
func (w *simCluster) agree() {
	w.t.Helper()
	w.await("all nodes to have applied the same", func() bool {
		var index uint64
		var chain uint32
		for _, r := range w.awake {
			i, c := r.Machine().Chain()
			if index == 0 {
				index, chain = i, c
			}
			if i == 0 || i != index || c != chain { // one at 0 has applied nothing yet
				return false
			}
		}
		return true
	})
	// The log always grows, since leases are renewed: this compares the nodes' states at one index.
	w.await("the nodes' states at one index", func() bool {
		hashes, index := map[string]string{}, uint64(0)
		for name, r := range w.awake {
			view := r.Machine().View()
			defer view.Close()
			if index == 0 {
				index = view.Index()
			}
			if view.Index() != index {
				return false
			}
			hash, err := view.StateHash(context.Background())
			if err != nil {
				w.t.Fatal(err)
			}
			hashes[hash] = name
		}
		if len(hashes) != 1 {
			w.t.Fatalf("the nodes' states differ at index %d: %v", index, hashes)
		}
		return true
	})
}

// put writes a checkpoint's counter through a node.
func put(ctx context.Context, s agent.Service, key string, n int) error {
	_, err := s.Commit(ctx, agent.Commit{Ops: []agent.Op{
		&agent.PutCheckpoint{Key: key, State: agent.JSON(fmt.Sprintf(`{"n":%d}`, n))},
	}})
	return err
}

// get reads a checkpoint's counter through a node; 0 if there is none.
func get(ctx context.Context, s agent.Service, key string) (int, error) {
	answers, err := s.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: key}}})
	if err != nil {
		return 0, err
	}
	if e := answers.Answers[0].Err; e != nil {
		if e.Code == agent.CodeNotFound {
			return 0, nil
		}
		return 0, e
	}
	var n int
	if _, err := fmt.Sscanf(string(answers.Answers[0].Found.(*agent.Checkpoint).State), `{"n":%d}`, &n); err != nil {
		return 0, err
	}
	return n, nil
}
