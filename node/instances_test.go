package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/instance"
	"dormouse/placement"
)

// instanceCluster is a cluster whose instances are signalled through any node.
type instanceCluster struct {
	*simCluster
	keys []string
	sent map[string]uint64 // :: key → number of acknowledged signals
}

// newInstanceCluster creates a manager of documents, and waits until each node owns its share of the
// partitions.
func newInstanceCluster(t *testing.T, size, keys int) *instanceCluster {
	t.Helper()
	s := &instanceCluster{simCluster: newPlacedCluster(t, size), sent: map[string]uint64{}}
	for i := range keys {
		s.keys = append(s.keys, fmt.Sprint("k", i))
	}
	put := &agent.PutManager{Manager: agent.Manager{Name: "docs", Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: 10 * time.Minute}}
	if _, err := s.awake["n1"].Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range size {
		names = append(names, name(i))
	}
	s.settled(names...)
	return s
}

// owned waits until every partition has an owner that is up.
func (s *instanceCluster) owned() {
	s.t.Helper()
	s.await("every partition to be owned", func() bool {
		for n := range layout.Partitions {
			for _, r := range s.awake {
				if s.awake[r.Machine().Partition(n).Owner] == nil {
					return false
				}
			}
		}
		return true
	})
}

// signal appends one entry to an instance's thread through a node. It repeats the signal with the
// same request id while the outcome is unknown.
func (s *instanceCluster) signal(through, key string) agent.Reply {
	s.t.Helper()
	n := s.sent[key] + 1
	signal := agent.Signal{
		Request: agent.Request{Client: "client-" + key, Seq: n, Low: n}, Type: "append",
		Data: agent.JSON(fmt.Sprintf(`{"entries":[{"payload":{"n":%d}}]}`, n)),
	}
	ref := agent.InstanceRef{Manager: "docs", Key: key}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		reply, err := s.awake[through].Instances().Signal(ctx, ref, signal)
		cancel()
		if err == nil {
			s.sent[key] = n
			if reply.Rev != n || !reply.Durable {
				s.t.Fatalf("signal %d of %s: at rev %d, durable %t", n, key, reply.Rev, reply.Durable)
			}
			return reply
		}
		if code := agent.CodeOf(err); code != agent.CodeUnknown && code != agent.CodeUnavailable {
			s.t.Fatalf("signal %d of %s through %s: %v", n, key, through, err)
		}
	}
	s.t.Fatalf("signal %d of %s was not answered", n, key)
	return agent.Reply{}
}

// whole checks that each thread has exactly the acknowledged entries.
func (s *instanceCluster) whole(through string) {
	s.t.Helper()
	for _, key := range s.keys {
		thread := agent.InstanceRef{Manager: "docs", Key: key}.Checkpoint()
		answers, err := s.awake[through].Service().Read(context.Background(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: thread}}})
		if err != nil || answers.Answers[0].Err != nil {
			s.t.Fatalf("%s: %v, %v", key, err, answers.Answers)
		}
		items := answers.Answers[0].Found.(*agent.Entries).Items
		if uint64(len(items)) != s.sent[key] {
			s.t.Errorf("%s has %d entries, %d were acknowledged", key, len(items), s.sent[key])
		}
		for i, e := range items {
			if want := fmt.Sprintf(`{"n":%d}`, i+1); string(e.Payload) != want {
				s.t.Errorf("entry %d of %s is %s", i, key, e.Payload)
			}
		}
	}
}

// CL-3, CL-4, CL-8: instances survive when their node dies, and when it stops in order: nothing
// acknowledged is lost and nothing is done twice.
func TestInstancesLiveOnWithoutTheirNodeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newInstanceCluster(t, 3, 24)
		homes, epochs := map[string]int{}, map[string]uint64{}
		for round := range 2 {
			for i, key := range s.keys {
				reply := s.signal(name((i+round)%3), key) // any node takes any call
				homes[reply.Node]++
				epochs[key] = reply.Epoch
			}
		}
		if len(homes) != 3 {
			t.Errorf("the instances live on %v", homes)
		}

		s.crash("n2") // CL-4
		for i, key := range s.keys {
			reply := s.signal([]string{"n1", "n3"}[i%2], key)
			if reply.Node == "n2" || reply.Epoch < epochs[key] {
				t.Errorf("%s is answered by %s at epoch %d, after %d", key, reply.Node, reply.Epoch, epochs[key])
			}
			epochs[key] = reply.Epoch
		}
		s.whole("n1")

		s.start("n2")
		s.settle(3)
		s.sleep("n3") // CL-3, CL-10: it stores its instances and releases its partitions
		for _, key := range s.keys {
			reply := s.signal("n1", key)
			if reply.Node == "n3" || reply.Epoch < epochs[key] {
				t.Errorf("%s is answered by %s at epoch %d, after %d", key, reply.Node, reply.Epoch, epochs[key])
			}
		}
		s.whole("n2")

		stats, err := s.awake["n1"].Instances().Stats(t.Context(), "", "docs")
		if err != nil || len(stats.Nodes) != 3 || stats.Nodes[2].Error == "" {
			t.Errorf("%+v, %v", stats, err)
		}
		_, err = s.awake["n1"].Instances().Lookup(t.Context(), agent.InstanceRef{Manager: "docs", Key: "nobody"})
		if agent.CodeOf(err) != agent.CodeNotFound {
			t.Errorf("an instance that never was: %v", err)
		}
	})
}

// A node that leaves is drained first: once it has left, others own its partitions, and no call
// waited for its lease.
func TestANodeThatLeavesIsEmptiedFirstSim(t *testing.T) {
	for name, leads := range map[string]bool{"a follower": false, "the leader": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { leaves(t, leads) })
		})
	}
}

func leaves(t *testing.T, leads bool) {
	t.Helper()
	s := newInstanceCluster(t, 3, 24)
	goes, stays := s.follower().name, s.leader().name
	if leads {
		goes, stays = stays, goes
	}
	for _, key := range s.keys {
		s.signal(stays, key)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.awake[stays].Operator().Change(ctx, layout.ChangeLeave, goes); err != nil {
		t.Fatal(err)
	}
	if got := shares(s.leader()); got[goes] != 0 || got[""] != 0 {
		t.Errorf("once %s has left, partitions are owned by %v", goes, got)
	}
	if err := <-s.awake[goes].done; !errors.Is(err, transport.ErrRemoved) {
		t.Errorf("%s stopped: %v", goes, err)
	}
	delete(s.awake, goes)
	for _, key := range s.keys {
		s.signal(stays, key)
	}
	s.whole(stays)
}

// A document's turn sets and cancels its timers in its own commit. Each fires once, and its turn
// may set the timer again that it acknowledges.
func TestATurnSetsTimersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newInstanceCluster(t, 1, 0)
		r := s.awake["n1"]
		send := func(kind, data string) (agent.Reply, error) {
			return r.Instances().Signal(t.Context(), agent.InstanceRef{Manager: "docs", Key: "a"}, agent.Signal{Type: kind, Data: agent.JSON(data)})
		}
		timers := func() (ids []string) {
			list, err := here(r).ListTimers(t.Context(), "docs", "a", agent.Page{})
			if err != nil {
				t.Fatal(err)
			}
			for _, timer := range list.Items {
				ids = append(ids, timer.ID)
			}
			return ids
		}
		now := time.Now().UnixMilli()
		last := fmt.Sprintf(`{"at":%d,"type":"append","data":{"entries":{"kind":"last"}}}`, now+20_000)
		reply, err := send("turn", fmt.Sprintf(`{"entries":{"kind":"first"},"timers":{
			"again":{"at":%d,"type":"turn","data":{"entries":{"kind":"second"},"timers":{"again":%s,"never":null}}},
			"never":{"cron":"@yearly","time_zone":"Europe/Paris"}}}`, now+10_000, last))
		if err != nil || reply.Rev != 1 || len(timers()) != 2 {
			t.Fatalf("%+v, %v; timers %v", reply, err, timers())
		}
		_, err = send("turn", `{"entries":{"kind":"refused"},"timers":{"other":{"cron":"61 * * * *"}}}`)
		if agent.CodeOf(err) != agent.CodeInvalid || len(timers()) != 2 {
			t.Errorf("a turn with a timer that is wrong: %v; timers %v", err, timers())
		}
		time.Sleep(15 * time.Second)
		if got := timers(); len(got) != 1 || got[0] != "again" {
			t.Errorf("after the first turn: %v", got)
		}
		time.Sleep(15 * time.Second)
		if got := timers(); got != nil {
			t.Errorf("at the end: %v", got)
		}
		var kinds []string
		for e, err := range here(r).Entries(t.Context(), agent.LoadEntries{Thread: agent.InstanceRef{Manager: "docs", Key: "a"}.Checkpoint()}) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, e.Kind)
		}
		if want := []string{"first", "second", "last"}; !slices.Equal(kinds, want) {
			t.Errorf("its entries are %v, want %v", kinds, want)
		}
	})
}

// patientHandler handles a signal for as long as it may.
type patientHandler struct{ begun chan<- struct{} }

func (p patientHandler) Handle(ctx context.Context, _ *instance.Turn) error {
	close(p.begun)
	<-ctx.Done()
	return ctx.Err()
}

// A node that cannot store its instances in the available time releases its partitions nonetheless:
// no node waits for its lease to end.
func TestAStopInVainGivesTheLeaseUpAtOnceSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &instanceCluster{simCluster: newPlacedCluster(t, 0)}
		begun := make(chan struct{})
		s.handlers = map[string]instance.GoHandler{"patient": {New: func(agent.InstanceRef) instance.Handler { return patientHandler{begun} }}}
		s.found(3)
		stopping := s.follower().name
		s.sleep(stopping)
		c := s.config(stopping)
		c.Node.StopTimeout = 40 * time.Second
		s.startWith(stopping, c)
		s.settle(3)
		put := &agent.PutManager{Manager: agent.Manager{
			Name: "m", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "patient"}, SignalTTL: agent.SignalTimeoutMax,
		}}
		leader := s.leader()
		if _, err := leader.Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
			t.Fatal(err)
		}
		s.settled("n1", "n2", "n3")
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m"}
		for n := 0; ref.Key == ""; n++ { // one that the stopping node owns
			key := fmt.Sprint("k", n)
			if leader.Machine().Partition(placement.Partition(ref.Scope, ref.Manager, key)).Owner == stopping {
				ref.Key = key
			}
		}
		signalled := make(chan error, 1)
		r := s.awake[stopping]
		go func() {
			_, err := r.Instances().Signal(t.Context(), ref, agent.Signal{Type: "x"})
			signalled <- err
		}()
		<-begun
		began := time.Now()
		stopped := make(chan struct{})
		go func() { defer close(stopped); s.sleep(stopping) }()
		s.await("its partitions to be others'", func() bool { return shares(leader)[stopping] == 0 })
		// The instance had half of the time; a lease would have lasted at least three seconds
		// longer.
		if took := time.Since(began); took > c.Node.StopTimeout/2+2*time.Second {
			t.Errorf("its partitions were given up after %v", took)
		}
		<-stopped
		if err := <-signalled; agent.OutcomeOf(err) == agent.Done {
			t.Error("the signal was answered")
		}
	})
}
