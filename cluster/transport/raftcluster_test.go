package transport

// These tests are inside the package because they take Raft's wrappers apart.
// A raftCluster runs whole Raft nodes, each with its stores and its guard, over
// a simNetwork, in virtual time.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

var nullLogger = hclog.NewNullLogger()

// testMachine is a state machine: the newest value of each key.
type testMachine struct {
	mu      sync.Mutex
	Values  map[string]int
	Applied uint64
	pause   time.Duration // of each apply
}

type testCommand struct {
	Key   string
	Value int
	Blob  []byte
}

func (m *testMachine) Apply(log *raft.Log) any {
	m.mu.Lock()
	pause := m.pause
	m.mu.Unlock()
	if pause > 0 {
		time.Sleep(pause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var c testCommand
	if err := json.Unmarshal(log.Data, &c); err != nil {
		panic(err)
	}
	m.Values[c.Key] = c.Value
	m.Applied = log.Index
	return nil
}

func (m *testMachine) get(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Values[key]
}

func (m *testMachine) applied() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Applied
}

func (m *testMachine) slow(pause time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = pause
}

func (m *testMachine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, err := json.Marshal(m)
	return testSnapshot(raw), err
}

func (m *testMachine) Restore(r io.ReadCloser) error {
	defer r.Close() //nolint:errcheck // it is only read
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Values = map[string]int{}
	return json.NewDecoder(r).Decode(m)
}

type testSnapshot []byte

func (s testSnapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(s); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}
func (testSnapshot) Release() {}

// raftNode is one raft node. Its engines outlive it, as disks do.
type raftNode struct {
	id        raft.ServerID
	addr      raft.ServerAddress
	engines   *raftlog.Engines
	snapshots *raft.InmemSnapshotStore
	up        bool

	raft    *raft.Raft
	end     *simTransport // nil on another network
	stores  *raftlog.Stores
	guard   *Guard // nil if the cluster has none
	machine *testMachine
	fatal   chan error // what ended the node
}

// raftCluster is a cluster of Raft nodes.
type raftCluster struct {
	t     *testing.T
	net   *simNetwork
	nodes []*raftNode

	unappliedMax int64 // the guards'; 0 leaves theirs

	unguarded bool                              // raft sees the transport itself
	bare      bool                              // raft sees the engines themselves
	config    func(*raft.Config)                // may be nil
	options   func(*raftNode, *raftlog.Options) // may be nil
	logs      func(raft.LogStore) raft.LogStore // around the stores' log; may be nil
	transport func(*Guard) raft.Transport       // around the guard; may be nil
	network   func(*raftNode) raft.Transport    // instead of net; may be nil
}

// newRaftCluster makes nodes, which start starts.
func newRaftCluster(t *testing.T, nodes int) *raftCluster {
	t.Helper()
	r := &raftCluster{t: t, net: newSimNetwork()}
	for i := range nodes {
		r.nodes = append(r.nodes, &raftNode{
			id: raft.ServerID(fmt.Sprintf("n%d", i)), addr: raft.ServerAddress(fmt.Sprintf("a%d", i)),
			engines:   &raftlog.Engines{Logs: raft.NewInmemStore(), Stable: raft.NewInmemStore()},
			snapshots: raft.NewInmemSnapshotStore(),
		})
	}
	return r
}

// start founds the cluster with all nodes as voters, and stops it at the end.
func (r *raftCluster) start() {
	r.t.Helper()
	var servers []raft.Server
	for _, n := range r.nodes {
		servers = append(servers, raft.Server{ID: n.id, Address: n.addr})
		r.startNode(n)
	}
	r.t.Cleanup(r.stop)
	if err := r.nodes[0].raft.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raftCluster) startNode(n *raftNode) {
	r.t.Helper()
	c := raft.DefaultConfig()
	c.LocalID = n.id
	c.Logger = hclog.NewNullLogger()
	if r.config != nil {
		r.config(c)
	}
	n.machine = &testMachine{Values: map[string]int{}}
	n.fatal = make(chan error, 1)
	o := raftlog.Options{Snapshots: n.snapshots, Applied: n.machine.applied, Fatal: func(err error) { n.fatal <- err }, Logger: hclog.NewNullLogger()}
	if r.bare { // no stack has written the log, so the guard must not read it through one
		o.Applied = nil
	}
	if r.options != nil {
		r.options(n, &o)
	}
	var err error
	if n.stores, err = raftlog.StackStores(o, n.engines); err != nil {
		r.t.Fatal(err)
	}
	n.stores.Votes.End = runtime.Goexit
	var transport raft.Transport
	if r.network != nil {
		transport = r.network(n)
	} else {
		n.end = r.net.listen(n.addr)
		transport = n.end
	}
	if !r.unguarded {
		n.guard = newGuard(transport, n.stores, nil)
		if r.unappliedMax > 0 {
			n.guard.unappliedMax = r.unappliedMax
		}
		transport = n.guard
		if r.transport != nil {
			transport = r.transport(n.guard)
		}
	}
	logs, stable, snapshots := n.stores.Logs, n.stores.Stable, n.stores.Snapshots
	if r.bare {
		logs, stable, snapshots = n.engines.Logs, n.engines.Stable, n.snapshots
	}
	if r.logs != nil {
		logs = r.logs(logs)
	}
	if n.raft, err = raft.NewRaft(c, n.machine, logs, stable, snapshots, transport); err != nil {
		r.t.Fatal(err)
	}
	if n.guard != nil {
		n.guard.Attach(n.raft)
	}
	n.up = true
}

// crash ends a node without an orderly Close of its stores.
func (r *raftCluster) crash(n *raftNode) {
	n.up = false
	if n.end != nil {
		_ = n.end.Close() // it has nothing to say
	}
	_ = n.raft.Shutdown().Error() // it says nothing that matters here
	if n.guard != nil {
		_ = n.guard.Close() // as above
	}
}

func (r *raftCluster) stop() {
	for _, n := range r.nodes {
		if n.up {
			r.crash(n)
		}
	}
	time.Sleep(3 * simTimeout) // for what is on the network
}

// ended is what ended the node, or nil.
func (n *raftNode) ended() error {
	select {
	case err := <-n.fatal:
		n.fatal <- err
		return err
	default:
		return nil
	}
}

// leader waits for the leader of the highest term.
func (r *raftCluster) leader() *raftNode { return r.leaderOtherThan(nil, 30*time.Second) }

func (r *raftCluster) leaderOtherThan(not *raftNode, limit time.Duration) *raftNode {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var best *raftNode
		for _, n := range r.nodes {
			if n != not && n.up && n.raft.State() == raft.Leader && (best == nil || n.raft.CurrentTerm() > best.raft.CurrentTerm()) {
				best = n
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

func (n *raftNode) put(key string, value int) error {
	return n.propose(testCommand{Key: key, Value: value}, time.Second)
}

func (n *raftNode) propose(c testCommand, limit time.Duration) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return n.raft.Apply(raw, limit).Error()
}

// mustPut writes or fails the test.
func (r *raftCluster) mustPut(n *raftNode, key string, value int) {
	r.t.Helper()
	if err := n.put(key, value); err != nil {
		r.t.Fatalf("put %s=%d on %s: %v", key, value, n.id, err)
	}
}

// diverged returns two different entries with one index and term, or "".
func (r *raftCluster) diverged() string {
	for i, a := range r.nodes {
		for _, b := range r.nodes[i+1:] {
			first, _ := a.engines.Logs.FirstIndex()
			last, _ := a.engines.Logs.LastIndex()
			for index := first; index <= last; index++ {
				var x, y raft.Log
				if a.engines.Logs.GetLog(index, &x) == nil && b.engines.Logs.GetLog(index, &y) == nil &&
					x.Term == y.Term && (string(x.Data) != string(y.Data) || x.Type != y.Type) {
					return fmt.Sprintf("index %d term %d: %s has %v %q, %s has %v %q", index, x.Term, a.id, x.Type, x.Data, b.id, y.Type, y.Data)
				}
			}
		}
	}
	return ""
}
