package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/gossip/gossiptest"
	"dormouse/config"
	"dormouse/node"
	"dormouse/storage"
	"dormouse/turn"
)

// openNode runs one node without a disk; stop stops it.
func openNode() (s agent.Service, stop func() error, err error) {
	c := config.Default()
	c.Auth.Mode = config.AuthOff
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "n1", true, true, true
	c.Raft.Addr, c.Raft.Advertise = "n1:raft", "n1:raft"
	c.Gossip.Addr, c.Gossip.Advertise = "127.0.1.1:7603", "127.0.1.1:7603"
	c.Storage.CacheBytes = 1 << 20
	transport, err := gossiptest.New().Listen(c.Gossip.Addr)
	if err != nil {
		return nil, nil, err
	}
	n, err := node.Open(context.Background(), node.Options{
		Config: c, Network: clustertest.NewNetwork().Host("n1"), Gossip: transport, FS: storage.MemFS(), Headless: true,
		Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	stop = func() error {
		cancel()
		return <-done
	}
	for n.Ready() != nil {
		select {
		case err := <-done:
			cancel()
			return nil, nil, errors.Join(errors.New("the node did not start"), err)
		case <-time.After(time.Millisecond):
		}
	}
	return n.Service(), stop, nil
}

// kit is a test's environment: a node in virtual time, session s of agent a
// with thread t, and a runner.
type kit struct {
	*testing.T
	service agent.Service
	runner  turn.Runner
}

// ttl is the ttl of the kit's leases.
const ttl = 30 * time.Second

// sim runs a test on a node in a bubble of virtual time.
func sim(t *testing.T, test func(k *kit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		// Virtual time stops when the bubble's first goroutine ends, but
		// memberlist waits for its last probe to time out.
		t.Cleanup(func() { time.Sleep(time.Minute) })
		service, stop, err := openNode()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		k := &kit{T: t, service: service, runner: turn.Runner{Service: service, Owner: "w1", TTL: ttl}}
		k.commit(&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t"}})
		test(k)
	})
}

func (k *kit) commit(ops ...agent.Op) agent.Result {
	k.Helper()
	result, err := k.service.Commit(k.Context(), agent.Commit{Ops: ops})
	if err != nil {
		k.Fatalf("commit: %v", err)
	}
	return result
}

// find reads one object.
func find[F agent.Found](k *kit, read agent.Read) F {
	k.Helper()
	answers, err := k.service.Read(k.Context(), agent.Reads{Reads: []agent.Read{read}})
	if err != nil {
		k.Fatalf("read: %v", err)
	}
	found, ok := answers.Answers[0].Found.(F)
	if !ok {
		k.Fatalf("%T: %v", read, answers.Answers[0].Err)
	}
	return found
}

func (k *kit) session() *agent.Session {
	k.Helper()
	return find[*agent.Session](k, &agent.GetSession{Session: "s"})
}

// expectStatus fails the test if session s has another status.
func (k *kit) expectStatus(status agent.SessionStatus) *agent.Session {
	k.Helper()
	s := k.session()
	if s.Status != status {
		k.Fatalf("the session is %s, not %s; its failure: %s", s.Status, status, s.Failure)
	}
	return s
}

// kinds returns the kinds of the entries of thread t.
func (k *kit) kinds() (kinds []string) {
	k.Helper()
	for _, e := range find[*agent.Entries](k, &agent.LoadEntries{Thread: "t"}).Items {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func request(id string) agent.SessionRequest {
	return agent.SessionRequest{ID: id, Input: agent.JSON(`"hi"`)}
}

func note() agent.Draft { return agent.Draft{Kind: agent.KindNote} }

var errCut = agent.Errorf(agent.CodeUnavailable, "cut off")

// unreliable is a service that can be cut off. Requests are then lost, as those
// of a runner that has crashed or is stopped.
type unreliable struct {
	agent.Service
	mu    sync.Mutex
	cut   bool                                                // guarded by mu
	after func(c agent.Commit, r agent.Result, e error) error // replaces the result for the caller; nil leaves it
	sent  []agent.Commit                                      // guarded by mu
}

func (w *unreliable) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (w *unreliable) down() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut
}

func (w *unreliable) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if w.down() {
		return agent.Result{}, errCut
	}
	w.mu.Lock()
	w.sent = append(w.sent, c)
	w.mu.Unlock()
	r, err := w.Service.Commit(ctx, c)
	if w.after != nil {
		if told := w.after(c, r, err); told != nil {
			return agent.Result{}, told
		}
	}
	return r, err
}

// failureCode returns the code of a session's failure.
func failureCode(k *kit, s *agent.Session) string {
	k.Helper()
	var f struct{ Code, Message string }
	if err := json.Unmarshal(s.Failure, &f); err != nil || f.Message == "" {
		k.Fatalf("the failure %q: %v", s.Failure, err)
	}
	return f.Code
}
