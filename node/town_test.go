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

	"dormouse/agent"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/gossip/gossiptest"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/instance"
	"dormouse/node"
	"dormouse/storage"
)

// town is a cluster in one process, on a network in memory whose links can be
// cut. Logs are files; state machines keep their files in memory, where a
// crash loses what the engine had not flushed, as it does on a disk.
type town struct {
	t      testing.TB
	links  *clustertest.Network
	talk   *gossiptest.Network
	dir    string
	timing string
	lease  time.Duration // of nodes on what they own; 0: they own nothing
	disks  map[string]storage.FS
	awake  map[string]*resident

	// Of the nodes that are started from now on.
	handlers map[string]instance.GoHandler
	level    uint32 // the newest feature level that they can do; 0: this build's

	hostLog hclog.Logger // of the hosts that are invited from now on; nil: silent
}

// resident is one running node of a town.
type resident struct {
	*node.Node
	name string
	stop context.CancelFunc
	done chan error // of one: what Run returned

	mu     sync.Mutex         // guards what follows
	moved  <-chan struct{}    // from before the look at table
	table  []*agent.Partition // who owns what
	shares map[string]int     // counts them
	mine   []*agent.Partition // of table: see own
}

// simTown is a town in a bubble of virtual time.
func simTown(tb testing.TB, size int) *town {
	tb.Helper()
	// Time stands still once a bubble's first goroutine has ended, and
	// memberlist lets its last probe run out rather than stop it.
	tb.Cleanup(func() { time.Sleep(time.Minute) })
	return newTown(tb, size)
}

// placedTown is a simTown whose nodes own partitions, and keep instances. What
// does not ask who owns what goes without: it costs more than all the rest.
func placedTown(tb testing.TB, size int) *town {
	tb.Helper()
	w := simTown(tb, 0)
	w.lease = config.Default().Placement.Lease
	w.found(size)
	if size > 0 {
		w.await("the feature level", func() bool { return w.leader().Machine().FeatureLevel() == fsm.FeatureLevelMax })
	}
	return w
}

// newTown makes a town of size nodes and waits until all serve. Its nodes are
// stopped when the test ends.
func newTown(tb testing.TB, size int) *town {
	tb.Helper()
	w := emptyTown(tb)
	w.found(size)
	return w
}

// found starts the first size nodes, and waits until all serve.
func (w *town) found(size int) {
	w.t.Helper()
	for i := range size {
		w.start(name(i))
	}
	w.settle(size)
}

// settle waits until the first size nodes serve, and all of them vote.
func (w *town) settle(size int) {
	w.t.Helper()
	for i := range size {
		w.await(name(i)+" to serve", func() bool { return w.awake[name(i)].Ready() == nil })
	}
	// Each node must know it, not the leader alone: raft refuses its vote to a
	// node that is no voter as far as it has heard, so that a leader that is lost
	// in the instant after a promotion may leave nobody who can be elected.
	w.await("all to vote and to know it", func() bool {
		for _, r := range w.awake {
			if len(votersOf(r)) != size {
				return false
			}
		}
		return true
	})
}

// emptyTown is a town whose nodes have yet to be started.
func emptyTown(tb testing.TB) *town {
	tb.Helper()
	w := &town{
		t: tb, links: clustertest.NewNetwork(), talk: gossiptest.New(), dir: logDir(tb), timing: "default",
		disks: map[string]storage.FS{}, awake: map[string]*resident{},
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

// logDir is where logs go: memory, where there is such a directory, since what
// a disk's flushes cost in real time tells nothing in virtual time.
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

// logSegment is how much a log sets aside at once: a crowd's has several.
const logSegment = 4 << 20

func name(i int) string { return fmt.Sprintf("n%d", i+1) }

// config is that of a node: the first one founds, the others join it.
func (w *town) config(name string) config.Config {
	c := config.Default()
	c.Node.ID, c.Node.DataDir = name, filepath.Join(w.dir, name)
	c.Raft.Addr, c.Raft.Advertise = name+":raft", name+":raft"
	c.HTTP.Addr, c.HTTP.Advertise = name+":http", name+":http"
	c.GRPC.Addr, c.GRPC.Advertise = name+":grpc", name+":grpc"
	c.Gossip.Addr = "127.0.1." + name[1:] + ":7603"
	c.Gossip.Advertise = c.Gossip.Addr
	c.Storage.CacheBytes = 1 << 20
	c.Limits.DiskReserveBytes = 1 << 20 // where the log is, as logSegment: room costs time to set aside
	c.Cluster.Timing, c.Placement.Lease = w.timing, w.lease
	c.Cluster.Bootstrap = name == "n1"
	if name != "n1" {
		c.Cluster.Join = []string{"n1:raft"}
	}
	return c
}

// start starts a node on the data that it had, if any.
func (w *town) start(name string) *resident {
	w.t.Helper()
	return w.startWith(name, w.config(name))
}

// startAlone starts a node that neither founds a cluster nor joins one.
func (w *town) startAlone(name string) *resident {
	w.t.Helper()
	c := w.config(name)
	c.Cluster.Bootstrap, c.Cluster.Join = false, nil
	return w.startWith(name, c)
}

func (w *town) startWith(name string, c config.Config) *resident {
	w.t.Helper()
	transport, err := w.talk.Listen(c.Gossip.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.disks[name] == nil {
		w.disks[name] = storage.MemFS()
	}
	host := w.links.Host(name)
	n, err := node.Open(node.Options{
		Config: c, Network: host, Fronts: host, Gossip: transport, FS: w.disks[name], Handlers: w.handlers,
		Logger: hclog.NewNullLogger(), FeatureLevel: w.level, LogSegmentBytes: logSegment,
	})
	if err != nil {
		w.t.Fatalf("start %s: %v", name, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &resident{Node: n, name: name, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- n.Run(ctx) }()
	w.awake[name] = r
	return r
}

// sleep stops a node in order.
func (w *town) sleep(name string) {
	w.t.Helper()
	if err := w.end(name); err != nil {
		w.t.Errorf("%s stopped with: %v", name, err)
	}
}

// end stops a node and returns what it says about that.
func (w *town) end(name string) error {
	r := w.awake[name]
	delete(w.awake, name)
	r.stop()
	return <-r.done
}

// crash cuts a node off in the middle of what it does and ends it. What its
// engine had not flushed is lost. It can be started again.
func (w *town) crash(name string) {
	w.t.Helper()
	w.isolate(name)
	w.links.Crash(name)
	_ = w.end(name) // it may complain that its listeners are gone
	w.heal()
}

// isolate cuts a node off from all others, both ways.
func (w *town) isolate(name string) {
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

func (w *town) heal() {
	w.links.HealAll()
	w.talk.Heal()
}

// await waits until what is said is so.
func (w *town) await(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited a minute for %s", what)
		}
	}
}

// leader waits for a node that leads and is ready to.
func (w *town) leader() *resident {
	w.t.Helper()
	var found *resident
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

// follower is some running node that does not lead.
func (w *town) follower() *resident {
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

// votersOf are the names of the voters that a node knows.
func votersOf(r *resident) []string {
	var voters []string
	for _, m := range r.Group().Members() {
		if m.Voter {
			voters = append(voters, m.ID)
		}
	}
	return voters
}

// agree waits until all running nodes have applied the same, and compares
// every row.
func (w *town) agree() {
	w.t.Helper()
	w.await("all nodes to have applied the same", func() bool {
		var index uint64
		var chain uint32
		for _, r := range w.awake {
			i, c := r.Machine().Chain()
			if index == 0 {
				index, chain = i, c
			}
			if i != index || c != chain {
				return false
			}
		}
		return true
	})
	// The log is never quite still, since leases are renewed: what is compared is
	// what the nodes hold at one index.
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
