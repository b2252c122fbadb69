package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/cluster/assign"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/membership"
	"dormouse/cluster/peer"
	"dormouse/cluster/transport"
	"dormouse/host"
	"dormouse/instance"
	"dormouse/instance/pod"
)

// testHost is a host that runs in a cluster.
type testHost struct {
	*host.Host
	stop context.CancelFunc
	done chan error // capacity one: what Run returned
}

// recordingHandler is a Go handler that records each signal in its thread, and answers with its
// name.
type recordingHandler struct{ by string }

func (h recordingHandler) Handle(_ context.Context, t *instance.Turn) error {
	t.Append(agent.Draft{Kind: "count", Payload: t.Data()})
	return t.Reply(agent.JSON(fmt.Sprintf(`{"by":%q}`, h.by)))
}

func recordingHandlers(name string, version uint64) map[string]instance.GoHandler {
	return recordingHandlersBy("", name, version)
}

// recordingHandlersBy returns recording handlers, all at one version.
func recordingHandlersBy(by, names string, version uint64) map[string]instance.GoHandler {
	all := map[string]instance.GoHandler{}
	for name := range strings.FieldsSeq(names) {
		all[name] = instance.GoHandler{New: func(agent.InstanceRef) instance.Handler { return recordingHandler{by} }, Version: version}
	}
	return all
}

// startHost starts a host with Go handlers.
func (w *simCluster) startHost(name string, handlers map[string]instance.GoHandler) *testHost {
	w.t.Helper()
	return w.startHostAt(name, name+":peer", handlers)
}

// startHostAt starts a host at an address, which may differ from that of its name.
func (w *simCluster) startHostAt(name, at string, handlers map[string]instance.GoHandler) *testHost {
	w.t.Helper()
	machine, _, _ := strings.Cut(at, ":")
	links := w.links.Host(machine)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	h, err := host.Open(ctx, host.Options{
		Name: name, Join: []string{"n1:raft", "n2:raft"}, Key: testHostKey, Listen: at, Network: links, Logger: w.hostLog,
		Instance: instance.Options{Handlers: handlers},
		Client: client.Options{Token: w.hostToken, Insecure: true, Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			return links.Dial(ctx, addr)
		}},
	})
	if err != nil {
		w.t.Fatalf("invite %s: %v", name, err)
	}
	g := &testHost{Host: h, done: make(chan error, 1)}
	ctx, g.stop = context.WithCancel(context.Background())
	go func() { g.done <- g.Run(ctx) }()
	w.t.Cleanup(g.stop)
	return g
}

// testHostKey is the host key of every simCluster.
var testHostKey = clustertest.Keys.Current().Host().Encode()

// cutOff cuts a host off from all others.
func (w *simCluster) cutOff(name string) {
	others := []string{"h1", "h2", "h3"}
	for i := range 9 {
		others = append(others, node9(i))
	}
	w.links.Isolate(name, others...)
}

// hostCluster is a cluster with a manager of a Go handler, and the signals that were sent to it.
type hostCluster struct {
	*simCluster
	sent map[agent.InstanceRef]uint64 // :: instance → number of acknowledged signals
}

func newHostCluster(t *testing.T, size int) *hostCluster {
	t.Helper()
	w := &hostCluster{newPlacedCluster(t, size), map[agent.InstanceRef]uint64{}}
	put := &agent.PutManager{Manager: agent.Manager{Name: "tallies", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "tally"}, Untracked: true}}
	if _, err := w.awake["n1"].Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		t.Fatal(err)
	}
	return w
}

// signal sends a key's next signal until it is answered, and returns the node that handled it.
func (w *hostCluster) signal(through agent.Instances, key string) string {
	w.t.Helper()
	return w.send(through, agent.InstanceRef{Manager: "tallies", Key: key}).Node
}

// send sends an instance's next signal until it is answered.
func (w *hostCluster) send(through agent.Instances, ref agent.InstanceRef) agent.Reply {
	w.t.Helper()
	n := w.sent[ref] + 1
	signal := agent.Signal{
		Request: agent.Request{Client: "client-" + ref.Manager + "-" + ref.Key, Seq: n, Low: n}, Type: "count", Data: agent.JSON(fmt.Sprintf(`{"n":%d}`, n)),
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		reply, err := through.Signal(ctx, ref, signal)
		cancel()
		if err == nil {
			if w.sent[ref] = n; reply.Rev != n {
				w.t.Fatalf("signal %d of %v: at rev %d", n, ref, reply.Rev)
			}
			return reply
		}
		if code := agent.CodeOf(err); code != agent.CodeUnknown && code != agent.CodeUnavailable {
			w.t.Fatalf("signal %d of %v: %v", n, ref, err)
		}
	}
	w.t.Fatalf("signal %d of %v was not answered", n, ref)
	return agent.Reply{}
}

// pod opens a pod, with one node, on any owner.
func (w *hostCluster) pod() {
	w.t.Helper()
	put := &agent.PutManager{Manager: agent.Manager{Name: "teams", Handler: agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName}}}
	if _, err := w.leader().Service().Commit(context.Background(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		w.t.Fatal(err)
	}
	const topology = `{"name":"t","nodes":{"one":{"manager":"tallies","activation":"eager"}}}`
	ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "teams", Key: "one"}
	got, err := w.leader().pods().Get(context.Background(), ref, pod.Open{Topology: []byte(topology)})
	if err != nil || len(got.Report.Failures) > 0 {
		w.t.Fatalf("the pod: %+v, %v", got, err)
	}
}

// whole checks that each thread has each signal once, in order.
func (w *hostCluster) whole() {
	w.t.Helper()
	for key, sent := range w.sent {
		thread := key.Checkpoint()
		answers, err := w.leader().Service().Read(context.Background(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: thread}}})
		if err != nil || answers.Answers[0].Err != nil {
			w.t.Fatalf("%v: %v, %v", key, err, answers.Answers)
		}
		items := answers.Answers[0].Found.(*agent.Entries).Items
		if uint64(len(items)) != sent {
			w.t.Errorf("%v has %d entries, %d were acknowledged", key, len(items), sent)
		}
		for i, e := range items {
			if want := fmt.Sprintf(`{"n":%d}`, i+1); string(e.Payload) != want {
				w.t.Errorf("entry %d of %v is %s", i, key, e.Payload)
			}
		}
	}
}

// A host joins, owns the partitions that nodes without its handler cannot keep, and answers calls
// through any node. When it leaves in order, the nodes own all again.
func TestAHostKeepsInstancesAndLeavesInOrderSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		w.await("the host to own everything", func() bool { return len(h1.Owned()) == layout.Partitions })
		w.pod()
		for i := range 12 {
			key := fmt.Sprint("k", i)
			for _, through := range []agent.Instances{w.awake["n1"].Instances(), h1.Instances(), w.awake["n3"].Instances()} {
				if node := w.signal(through, key); node != "h1" {
					t.Fatalf("%s lives on %s", key, node)
				}
			}
		}
		if status, err := w.awake["n2"].Operator().Status(t.Context()); err != nil || len(status.Members) != 4 || !status.Members[0].Host || status.Members[0].Status != "alive" {
			t.Errorf("the members: %+v, %v", status.Members, err)
		}
		if voters := votersOf(w.awake["n1"]); len(voters) != 3 {
			t.Errorf("the voters are %v", voters)
		}
		w.whole()

		h1.stop()
		if err := <-h1.done; err != nil {
			t.Errorf("it stopped with: %v", err)
		}
		w.even("n1", "n2", "n3")
		if members := w.awake["n1"].Machine().Members(); len(members) != 3 {
			t.Errorf("it left, and the members are %+v", members)
		}
		_, err := w.awake["n1"].Instances().Signal(t.Context(), agent.InstanceRef{Manager: "tallies", Key: "k1"}, agent.Signal{Type: "count"})
		var refused *agent.Error
		if !errors.As(err, &refused) || refused.Code != agent.CodeUnavailable || refused.Reason != "not_registered" || !strings.Contains(refused.Detail, `"tally"`) {
			t.Errorf("without a host: %v", err)
		}
		w.whole()
		w.agree()
	})
}

// CL-4: a host that dies is not a member after its lease, and its instances wake on the other host:
// nothing is lost or done twice. A new process of its name becomes a member again.
func TestInstancesLiveOnWithoutTheirHostSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1, h2 := w.startHost("h1", recordingHandlers("tally", 1)), w.startHost("h2", recordingHandlers("tally", 1))
		w.await("both hosts to own a half", func() bool { return len(h1.Owned()) > 1800 && len(h2.Owned()) > 1800 })
		homes := map[string]int{}
		for i := range 24 {
			homes[w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i))]++
		}
		if len(homes) != 2 {
			t.Errorf("the instances live on %v", homes)
		}

		w.cutOff("h1")
		w.links.Crash("h1")
		h1.stop()
		died := time.Now()
		for i := range 24 {
			if node := w.signal(h2.Instances(), fmt.Sprint("k", i)); node != "h2" && time.Since(died) > rehomedMax {
				t.Errorf("%d lives on %s", i, node)
			}
		}
		if took := time.Since(died); took > rehomedMax {
			t.Errorf("its instances woke after %v", took)
		}
		t.Logf("the dead one stopped with: %v", <-h1.done)
		w.heal()
		w.await("the dead host to be no member", func() bool { return len(w.awake["n2"].Machine().Members()) == 4 })

		again := w.startHost("h1", recordingHandlers("tally", 1))
		<-again.Ready()
		w.await("it to own a half again", func() bool { return len(again.Owned()) > 1800 })
		for i := range 24 {
			w.signal(again.Instances(), fmt.Sprint("k", i))
		}
		w.whole()
		for _, g := range []*testHost{again, h2} {
			g.stop()
			if err := <-g.done; err != nil {
				t.Error(err)
			}
		}
	})
}

// CL-6: a host that is cut off answers nothing once another host owns its partitions, and its
// writes are fenced.
func TestAHostThatIsCutOffStopsBeforeTheNextBeginsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		h2 := w.startHost("h2", recordingHandlers("tally", 1))
		w.await("both hosts to own a half", func() bool { return len(h1.Owned()) > 1800 && len(h2.Owned()) > 1800 })
		var of int
		for of = range layout.Partitions {
			if h1.Ownership().Partition(of).Owner == "h1" {
				break
			}
		}
		old := h1.Ownership().Partition(of)
		w.cutOff("h1")
		for cut := time.Now(); h2.Ownership().Partition(of).Owner != "h2"; time.Sleep(5 * time.Millisecond) {
			if time.Since(cut) > rehomedMax {
				t.Fatal("nobody owns what the host owned")
			}
		}
		if left := time.Until(h1.Ownership().LeaseUntil()); left > 0 {
			t.Errorf("another owns partition %d, and the host answers for it for another %v", of, left)
		}
		_, err := w.awake["n1"].Service().Commit(t.Context(), agent.Commit{
			Fence: &agent.Fence{Claim: layout.PartitionClaim(of), Epoch: old.Epoch}, Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("x")}},
		})
		if agent.CodeOf(err) != agent.CodeFenced {
			t.Errorf("its write: %v", err)
		}
		w.heal()
		w.await("it to own a half again", func() bool { return len(h1.Owned()) > 1800 })
		if p := h1.Ownership().Partition(of); p.Owner == "h1" && p.Epoch <= old.Epoch {
			t.Errorf("%+v, after %+v", p, old)
		}
		w.signal(h1.Instances(), "k1")
		w.whole()
		for _, g := range []*testHost{h1, h2} {
			g.stop()
			if err := <-g.done; err != nil {
				t.Error(err)
			}
		}
	})
}

// A host that uses another's name is refused, with the reason.
func TestAHostThatIsNotWhoItSaysIsRefusedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		refused := func(what string, g *testHost) {
			t.Helper()
			if err := <-g.done; !errors.Is(err, membership.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
		}
		refused("a node's name", w.startHostAt("n2", "h2:peer", recordingHandlers("tally", 1)))
		began := time.Now()
		refused("a live host's name", w.startHostAt("h1", "h2:peer", recordingHandlers("tally", 1)))
		if waited := time.Since(began); waited < nodeLease {
			t.Errorf("it waited %v for the name, whose lease may have been about to lapse", waited)
		}
		members := len(w.awake["n1"].Machine().Members())
		if members != 4 || time.Now().After(h1.Ownership().LeaseUntil()) {
			t.Errorf("there are %d members, and the host's lease ends %v", members, h1.Ownership().LeaseUntil())
		}

		// Nor may it act for another host whose process id is known.
		leader := w.leader()
		lease := leader.Machine().NodeLeases()[0] // in node order
		line, err := transport.ListenHost(transport.HostOptions{
			Name: "h9", Key: clustertest.Keys.Current().Host(), Network: w.links.Host("h3"), Listen: "h3:other", Logger: hclog.NewNullLogger(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := line.Adopt(leader.Group().ClusterID()); err != nil {
			t.Fatal(err)
		}
		pool := peer.NewPool(line.Dial)
		_, err = pool.Own(t.Context(), leader.Group().Addr(), assign.Request{
			Kind: assign.End, Node: lease.Node, Incarnation: lease.Incarnation, Process: lease.Life,
		})
		if err == nil || !strings.Contains(err.Error(), "in the name of") || lease.Node != "h1" {
			t.Errorf("another ends the lease of %s: %v", lease.Node, err)
		}
		pool.Close()
		if err := line.Close(); err != nil {
			t.Error(err)
		}
		if len(h1.Owned()) == 0 {
			t.Error("the host owns nothing any more")
		}
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
	})
}
