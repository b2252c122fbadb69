package instance_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/instance"
	"dormouse/node/nodetest"
	"dormouse/placement"
)

// kit is a test's environment: a store in virtual time, all of whose partitions
// belong to host n1.
type kit struct {
	*testing.T
	node  *nodetest.Node
	world *world
	store *store
	host  *instance.Host
	g     *nodeView
	stop  func()
}

// sim runs a test in a bubble of virtual time. change may change the host's
// Options.
func sim(t *testing.T, change func(*instance.Options), test func(k *kit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := &kit{T: t, node: nodetest.Start(t), world: newWorld()}
		k.store = &store{Service: k.node.Client, world: k.world}
		k.world.giveAll("n1")
		k.host, k.g, k.stop = k.open("n1", change)
		k.put(agent.Manager{Name: "m"})
		test(k)
	})
}

// open starts a host for a node.
func (k *kit) open(node string, change func(*instance.Options)) (*instance.Host, *nodeView, func()) {
	k.Helper()
	g := &nodeView{world: k.world, node: node}
	o := instance.Options{Node: node, Incarnation: "1", Service: k.store, Ownership: g, Logger: hclog.NewNullLogger()}
	if change != nil {
		change(&o)
	}
	h, err := instance.New(o)
	if err != nil {
		k.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		synctest.Wait()
		counted(k.T, h)
		cancel()
		if err := <-done; err != nil {
			k.Errorf("host %s: %v", node, err)
		}
		counted(k.T, h)
	}
	k.Cleanup(stop)
	synctest.Wait() // Run has started
	return h, g, stop
}

// put writes a manager. Without a handler it is a document manager.
func (k *kit) put(m agent.Manager) {
	if m.Handler.Kind == "" {
		m.Handler.Kind = agent.HandlerDocument
	}
	k.putIn(agent.DefaultScope, m)
}

func (k *kit) putIn(scope string, m agent.Manager) {
	k.Helper()
	if _, err := k.node.Commit(k.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutManager{Manager: m}}}); err != nil {
		k.Fatal(err)
	}
	time.Sleep(2 * time.Second) // until hosts have read it again
}

func ref(key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: key}
}

func partition(key string) int { return placement.Partition(agent.DefaultScope, "m", key) }

func signal(kind, data string) agent.Signal { return agent.Signal{Type: kind, Data: agent.JSON(data)} }

// requested returns a signal with a request id.
func requested(s agent.Signal, client string, seq uint64) agent.Signal {
	s.Request = agent.Request{Client: client, Seq: seq}
	return s
}

// send sends a signal that must succeed.
func (k *kit) send(h *instance.Host, key string, s agent.Signal) agent.Reply {
	k.Helper()
	reply, err := h.Signal(k.Context(), ref(key), s)
	if err != nil {
		k.Fatalf("signal %s %s: %v", s.Type, s.Data, err)
	}
	return reply
}

// state returns the reply to a get signal.
func (k *kit) state(h *instance.Host, key string) string {
	k.Helper()
	var reply struct{ State agent.JSON }
	raw := k.send(h, key, signal("get", `{}`)).Data
	at := len(`"state":`)
	for n := range raw {
		if n+at <= len(raw) && string(raw[n:n+at]) == `"state":` {
			reply.State = raw[n+at : len(raw)-1]
			break
		}
	}
	return string(reply.State)
}

// start starts an instance.
func (k *kit) start(key, initial string) agent.Instance {
	k.Helper()
	s := agent.StartInstance{}
	if initial != "" {
		s.InitialState = agent.JSON(initial)
	}
	i, err := k.host.Start(k.Context(), ref(key), s)
	if err != nil {
		k.Fatalf("start %s: %v", key, err)
	}
	return i
}

// is fails the test if an instance has another status; "" expects no instance.
func (k *kit) is(key string, want agent.InstanceStatus) agent.Instance {
	k.Helper()
	i, err := k.host.Lookup(k.Context(), ref(key))
	if agent.CodeOf(err) == agent.CodeNotFound && want == "" {
		return i
	}
	if err != nil || i.Status != want {
		k.Fatalf("instance %s: %s, %v; want %s", key, i.Status, err, want)
	}
	return i
}

// code fails the test if err has another code.
func (k *kit) code(err error, want agent.Code) {
	k.Helper()
	if agent.CodeOf(err) != want {
		k.Fatalf("%v, want %s", err, want)
	}
}

// refusal returns err as an agent.Error, and fails the test if it has another
// code.
func (k *kit) refusal(err error, want agent.Code) *agent.Error {
	k.Helper()
	k.code(err, want)
	var e *agent.Error
	if !errors.As(err, &e) {
		k.Fatalf("%v has no code", err)
	}
	return e
}

// stats returns the host's counts of manager m.
func (k *kit) stats() agent.NodeStats {
	k.Helper()
	s, err := k.host.Stats(k.Context(), agent.DefaultScope, "m")
	if err != nil || len(s.Nodes) != 1 {
		k.Fatalf("%+v, %v", s, err)
	}
	return s.Nodes[0]
}

// entries returns the kinds of an instance's entries.
func (k *kit) entries(key string) (kinds []string) {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: ref(key).Checkpoint()}}})
	if err != nil {
		k.Fatal(err)
	}
	found, ok := answers.Answers[0].Found.(*agent.Entries)
	if !ok {
		return nil
	}
	for _, e := range found.Items {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// checkpoint returns an instance's checkpoint, or nil.
func (k *kit) checkpoint(key string) *agent.Checkpoint {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: ref(key).Checkpoint()}}})
	if err != nil {
		k.Fatal(err)
	}
	c, _ := answers.Answers[0].Found.(*agent.Checkpoint)
	return c
}

// keyIn returns the nth key of manager m; each is in a partition of its own.
func keyIn(n int) string { return fmt.Sprintf("key-%d", n) }
