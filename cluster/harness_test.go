package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/membership"
)

// lab is a network and the nodes on it. Node n1 lives on host n1 and listens
// on n1:raft.
type lab struct {
	t      *testing.T
	net    *clustertest.Network
	nodes  map[string]*node
	names  []string
	tweak  func(*cluster.Options) // of every node
	opened func(*cluster.Group)   // told before a node runs
	onDisk bool
}

// node is one node's life: what survives a crash, and the group of now.
type node struct {
	lab      *lab
	name     string
	dir      string
	machine  *machine
	snaps    *raft.InmemSnapshotStore
	group    *cluster.Group
	up       bool
	cancel   context.CancelFunc
	finished chan error // receives what Run returned
	server   chan struct{}
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, net: clustertest.NewNetwork(), nodes: map[string]*node{}, tweak: func(*cluster.Options) {}, opened: func(*cluster.Group) {}}
	t.Cleanup(l.close)
	return l
}

func (l *lab) close() {
	l.net.HealAll()
	for _, name := range l.names {
		l.nodes[name].machine.let()
	}
	for _, name := range l.names {
		if n := l.nodes[name]; n.up {
			n.crash()
		}
	}
	time.Sleep(time.Minute) // let what waits for a timeout wait it out
}

func addrOf(name string) string { return name + ":raft" }

// start starts a node; with options changed by edit.
func (l *lab) start(name string, edit func(*cluster.Options)) *node {
	n, known := l.nodes[name]
	if !known {
		n = &node{lab: l, name: name, machine: newMachine(), snaps: raft.NewInmemSnapshotStore()}
		if l.onDisk {
			n.dir = l.t.TempDir()
		}
		l.nodes[name] = n
		l.names = append(l.names, name)
	}
	if err := n.start(edit); err != nil {
		l.t.Fatalf("start %s: %v", name, err)
	}
	return n
}

func (n *node) start(edit func(*cluster.Options)) error {
	logger := hclog.NewNullLogger()
	if os.Getenv("VERBOSE") != "" {
		logger = hclog.New(&hclog.LoggerOptions{Name: n.name, Level: hclog.Debug})
	}
	o := cluster.Options{
		NodeID: n.name, Keys: clustertest.Keys, Dir: n.dir, Network: n.lab.net.Host(n.name), Listen: addrOf(n.name), Machine: n.machine,
		Snapshots: n.snaps, Self: layout.Member{WantVote: true, Version: "test", FeatureLevelMax: 1}, Logger: logger,
		Fatal: func(err error) { n.lab.t.Errorf("%s: fatal: %v", n.name, err) },
	}
	peers := &peers{}
	o.Peers = peers
	n.lab.tweak(&o)
	if edit != nil {
		edit(&o)
	}
	g, err := cluster.Open(o)
	if err != nil {
		return err
	}
	peers.group = g
	n.group, n.up = g, true
	ctx, cancel := context.WithCancel(context.Background())
	finished, server := make(chan error, 1), make(chan struct{})
	n.cancel, n.finished, n.server = cancel, finished, server
	n.lab.opened(g)
	go func() { finished <- g.Run(ctx) }()
	go func() {
		defer close(server)
		servePeers(g, g.PeerListener())
	}()
	return nil
}

// stop shuts the node down in order. crash cuts the host's connections first, so that
// no other node learns of the shutdown.
func (n *node) stop() {
	n.up = false
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := n.group.Shutdown(ctx); err != nil {
		n.lab.t.Errorf("shutdown of %s: %v", n.name, err)
	}
	n.cancel()
	<-n.server
}

func (n *node) crash() {
	n.lab.net.Crash(n.name)
	n.lab.net.Isolate(n.name, n.lab.names...)
	n.stop()
	for _, other := range n.lab.names {
		n.lab.net.Heal(n.name, other)
		n.lab.net.Heal(other, n.name)
	}
}

// wipe forgets all that the node knew.
func (n *node) wipe() {
	n.machine, n.snaps = newMachine(), raft.NewInmemSnapshotStore()
	if n.dir != "" {
		n.dir = n.lab.t.TempDir()
	}
}

// trio is a cluster of three voters.
func trio(t *testing.T, tweak func(*cluster.Options)) *lab {
	t.Helper()
	l := newLab(t)
	if tweak != nil {
		l.tweak = tweak
	}
	l.found("n1", "n2", "n3")
	return l
}

// found founds a cluster on the first name and lets the others join it.
func (l *lab) found(names ...string) {
	l.start(names[0], func(o *cluster.Options) { o.Bootstrap = true })
	for _, name := range names[1:] {
		l.start(name, func(o *cluster.Options) { o.Join = []string{addrOf(names[0])} })
	}
	l.leader()
	l.until("all vote, and know it", func() bool {
		for _, name := range names {
			if len(l.nodes[name].voters()) != len(names) {
				return false
			}
		}
		return true
	})
}

// until waits for a condition, a virtual minute at most.
func (l *lab) until(what string, ok func() bool) {
	l.t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Fatalf("waited a minute in vain until %s", what)
}

// leader waits for the leader of the newest term that is ready.
func (l *lab) leader() *node {
	l.t.Helper()
	var leader *node
	l.until("there is a leader", func() bool {
		leader = nil
		for _, name := range l.names {
			n := l.nodes[name]
			if n.up && n.group.IsLeader() && (leader == nil || n.group.LocalStatus().Term > leader.group.LocalStatus().Term) {
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

// otherLeader waits for a ready leader that is not old.
func (l *lab) otherLeader(old *node) *node {
	l.t.Helper()
	var leader *node
	l.until("there is another leader", func() bool {
		for _, name := range l.names {
			if n := l.nodes[name]; n != old && n.up && n.group.IsLeader() {
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

func (l *lab) others(than *node) []*node {
	var nodes []*node
	for _, name := range l.names {
		if l.nodes[name] != than {
			nodes = append(nodes, l.nodes[name])
		}
	}
	return nodes
}

func (n *node) voters() []string {
	var voters []string
	for _, m := range n.group.Members() {
		if m.Voter {
			voters = append(voters, m.ID)
		}
	}
	slices.Sort(voters)
	return voters
}

// put writes and waits for the outcome.
func (n *node) put(key string, value int) error {
	_, err := n.submit(command{Key: key, Value: value})
	return err
}

func (n *node) submit(c command) (agent.Decided, error) {
	type outcome struct {
		d   agent.Decided
		err error
	}
	settled := make(chan outcome, 1)
	n.group.Submit(context.Background(), "", encode(c), func(d agent.Decided, err error) { settled <- outcome{d, err} })
	o := <-settled
	return o.d, o.err
}

// read is a linearizable read.
func (n *node) read(key string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	index, err := n.group.Barrier(ctx)
	if err != nil {
		return 0, err
	}
	if applied := n.machine.Applied(); applied < index {
		n.lab.t.Errorf("barrier returned %d, applied is %d", index, applied)
	}
	return n.machine.get(key), nil
}

// peers asks other nodes with net/rpc over the group's peer connections.
type peers struct{ group *cluster.Group }

func (p *peers) call(ctx context.Context, addr, method string, in, out any) error {
	c, err := p.group.DialPeer(ctx, addr)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	client := rpc.NewClient(c)
	defer func() { _ = client.Close() }()
	return client.Call("Peer."+method, in, out)
}

func (p *peers) Status(ctx context.Context, addr string) (s membership.PeerStatus, err error) {
	err = p.call(ctx, addr, "Status", true, &s)
	return s, err
}

func (p *peers) Join(ctx context.Context, addr string, r membership.JoinRequest) (a membership.JoinResponse, err error) {
	err = p.call(ctx, addr, "Join", r, &a)
	return a, err
}

func (p *peers) GrantFounding(ctx context.Context, addr string, r membership.FoundingRequest) (a membership.FoundingResponse, err error) {
	err = p.call(ctx, addr, "GrantFounding", r, &a)
	return a, err
}

func (p *peers) Change(ctx context.Context, addr, kind, name string) (a membership.ChangeResponse, err error) {
	err = p.call(ctx, addr, "Change", [2]string{kind, name}, &a)
	return a, err
}

func (p *peers) Term(addr string, done func(string, uint64, error)) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var a TermAnswer
		err := p.call(ctx, addr, "Term", true, &a)
		done(a.Node, a.Term, err)
	}()
}

// TermAnswer is who answers Peer.Term, and in which term.
type TermAnswer struct {
	Node string
	Term uint64
}

// Peer is the other side of peers.
type Peer struct{ group *cluster.Group }

func (p *Peer) Status(_ bool, out *membership.PeerStatus) error {
	*out = p.group.LocalStatus()
	return nil
}

func (p *Peer) Term(_ bool, out *TermAnswer) error {
	out.Node, out.Term = p.group.RemoteView().Term()
	return nil
}

func (p *Peer) GrantFounding(r membership.FoundingRequest, out *membership.FoundingResponse) (err error) {
	*out, err = p.group.RemoteView().HandleFounding(context.Background(), r)
	return err
}

func (p *Peer) Join(r membership.JoinRequest, out *membership.JoinResponse) error {
	*out = p.group.RemoteView().HandleJoin(context.Background(), r)
	return nil
}

func (p *Peer) Change(r [2]string, out *membership.ChangeResponse) error {
	*out = p.group.HandleChange(context.Background(), r[0], r[1])
	return nil
}

func servePeers(g *cluster.Group, l net.Listener) {
	server := rpc.NewServer()
	if err := server.Register(&Peer{g}); err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go server.ServeConn(c)
	}
}

// change asks the leader, as the router does, and follows answers that name another.
func (l *lab) change(kind, name string) error {
	var last membership.ChangeResponse
	for range 50 {
		last = l.leader().group.HandleChange(context.Background(), kind, name)
		switch {
		case last.Refused != "":
			return errors.New(last.Refused)
		case last.Done:
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("never done: %+v", last)
}

func memorySnapshots() raft.SnapshotStore { return raft.NewInmemSnapshotStore() }
