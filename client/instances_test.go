package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/instance"
	"dormouse/node/nodetest"
	grpcfront "dormouse/server/grpc"
)

// slow appends an entry for each signal, after may is closed.
type slow struct{ may <-chan struct{} }

func (s slow) Handle(ctx context.Context, t *instance.Turn) error {
	select {
	case <-s.may:
	case <-ctx.Done():
	}
	t.Append(agent.Draft{Payload: t.Data()})
	return nil
}

// A cast is answered before its turn runs. Commits of the same client in between must
// not expire the request id of that turn.
func TestACastIsHandledWhateverItsClientCommitsMeanwhile(t *testing.T) {
	may := make(chan struct{})
	c := nodetest.StartWith(t, nodetest.Options{Handlers: map[string]instance.GoHandler{
		"slow": {New: func(agent.InstanceRef) instance.Handler { return slow{may} }},
	}})
	put := agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "slow"}, Untracked: true}}
	if _, err := c.PutManager(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	ref := agent.InstanceRef{Manager: "m", Key: "k"}
	for range 2 {
		if _, err := c.Instances().Signal(t.Context(), ref, agent.Signal{Type: "note", Cast: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.PutValue(t.Context(), agent.PutValue{Key: "v"}); err != nil {
			t.Fatal(err)
		}
	}
	close(may)
	reply, err := c.Instances().Signal(t.Context(), ref, agent.Signal{Type: "note"}) // queued after them, in the same mailbox
	if err != nil || reply.Rev != 3 {
		t.Errorf("after two casts and a signal the thread is at %d: %v", reply.Rev, err)
	}
}

// signalled is an agent.Instances that records its signals.
type signalled struct {
	agent.Instances
	handle func(ctx context.Context, attempt int) error

	mu      sync.Mutex
	signals []agent.Signal
}

func (s *signalled) Signal(ctx context.Context, _ agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	s.mu.Lock()
	s.signals = append(s.signals, signal)
	attempt := len(s.signals)
	s.mu.Unlock()
	return agent.Reply{Rev: uint64(attempt)}, s.handle(ctx, attempt)
}

func TestASignalThatWaitsDoesNotHoldUpCommits(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	host := &signalled{handle: func(context.Context, int) error { close(begun); <-end; return nil }}
	w, f := newWires(t), &fake{}
	w.serveWith("a", f, f, grpcfront.Options{Instances: host})
	c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})

	answered := make(chan error, 1)
	go func() {
		_, err := c.Instances().Signal(context.WithoutCancel(t.Context()), agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"})
		answered <- err
	}()
	<-begun
	for range 3 {
		if _, err := c.Commit(t.Context(), put("v")); err != nil {
			t.Fatal(err)
		}
	}
	close(end)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	for _, commit := range f.seen() {
		if r := commit.Request; r.Low != r.Seq || r.Client == host.signals[0].Request.Client {
			t.Errorf("commit %d still holds %d, beside a signal of %+v", r.Seq, r.Low, host.signals[0].Request)
		}
	}
}

func TestSignalsAreNumberedByTheirClient(t *testing.T) {
	host := &signalled{handle: func(context.Context, int) error { return nil }}
	w, f := newWires(t), &fake{}
	w.serveWith("a", f, f, grpcfront.Options{Instances: host})
	c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
	for _, signal := range []agent.Signal{{Type: "x"}, {Type: "x"}, {Type: "x", Cast: true}, {Type: "x", Cast: true}, {Type: "x"}} {
		if _, err := c.Instances().Signal(t.Context(), agent.InstanceRef{Manager: "m", Key: "k"}, signal); err != nil {
			t.Fatal(err)
		}
	}
	clients := map[string]uint64{}
	for _, s := range host.signals {
		clients[s.Request.Client]++
		if s.Request.Seq != clients[s.Request.Client] {
			t.Errorf("signal %d of %s has number %d", clients[s.Request.Client], s.Request.Client, s.Request.Seq)
		}
	}
	if first := host.signals[0].Request.Client; len(clients) != 3 || clients[first] != 3 {
		t.Errorf("three signals and two casts are of %v", clients)
	}
}

// A signal that takes long holds up no others, however many they are.
func TestASignalThatTakesLongHoldsUpNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		host := &signalled{handle: func(_ context.Context, attempt int) error {
			if attempt == 1 {
				<-end
			}
			return nil
		}}
		w, f := newWires(t), &fake{}
		w.serveWith("a", f, f, grpcfront.Options{Instances: host})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		send := func(key string) {
			if _, err := c.Instances().Signal(ctx, agent.InstanceRef{Manager: "m", Key: key}, agent.Signal{Type: "x"}); err != nil {
				t.Error(err)
			}
		}
		var first sync.WaitGroup
		first.Go(func() { send("slow") })
		synctest.Wait()
		began := time.Now()
		for range agent.RequestWindowMax + 1 {
			send("fast")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the others took %v", took)
		}
		close(end)
		first.Wait()
		ids := map[agent.Request]bool{}
		for _, s := range host.signals {
			ids[agent.Request{Client: s.Request.Client, Seq: s.Request.Seq}] = true
			if s.Request.Seq-s.Request.Low >= agent.RequestWindowMax {
				t.Fatalf("the request %+v is beyond its window", s.Request)
			}
		}
		if n := agent.RequestWindowMax + 2; len(ids) != n || len(host.signals) != n {
			t.Errorf("%d signals of %d requests came, want %d", len(host.signals), len(ids), n)
		}
	})
}
