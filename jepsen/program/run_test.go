package program_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/client"
	"dormouse/config"
	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/program"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
	"dormouse/jepsen/workload/instance"
	"dormouse/node"
)

// lease is close to the shortest lease that a cluster accepts.
const lease = time.Second

// startNode starts a cluster of one on loopback.
func startNode(t *testing.T) *node.Node {
	t.Helper()
	c := config.Default()
	c.Auth.Mode = config.AuthOff
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "n1", true, true, true
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", freeAddr(t), "127.0.0.1:0", "127.0.0.1:0" // programs learn the gRPC address
	n, err := node.Open(t.Context(), node.Options{Config: c, Alone: true, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	runs(t, n.Run)
	return n
}

// freeAddr returns an unused address.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only the free port is needed
	return l.Addr().String()
}

// runs runs a function until the test ends or stop is called.
func runs(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// startProgram starts a program and returns once it has joined.
func startProgram(t *testing.T, n *node.Node, name, handler string) (stop func()) {
	t.Helper()
	addr := freeAddr(t)
	o := program.Options{
		Name: name, Key: n.HostKey(), Join: []string{n.Group().Addr()}, Listen: "127.0.0.1:0", HTTP: addr, Handler: handler, Lease: lease, Logs: t.Output(),
	}
	stop = runs(t, func(ctx context.Context) error { return program.Run(ctx, o) })
	for deadline := time.Now().Add(20 * time.Second); ; pause.For(t.Context(), 10*time.Millisecond) {
		response, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			_ = response.Body.Close() // only the status code matters
			if response.StatusCode == http.StatusOK {
				return stop
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("program %s does not join: %v", name, err)
		}
	}
}

// TestTheWorkloadCountsInPrograms runs the workload against counters whose owners come
// and go in order. One owner lacks the handler.
func TestTheWorkloadCountsInPrograms(t *testing.T) {
	n := startNode(t)
	startProgram(t, n, "p3", "another")
	startProgram(t, n, "p2", instance.HostHandler)
	leave := startProgram(t, n, "p1", instance.HostHandler)
	w, err := catalog.New("host")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history")
	record, err := history.Create(path, history.Header{Workloads: []string{"host"}, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, addr := n.Addrs()
	processes := make([]*workload.Process, 5)
	for i := range processes {
		c, err := client.Dial(client.Options{Endpoints: []string{addr}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		processes[i] = &workload.Process{ID: i, Client: workload.GoClient{Client: c}, Rand: rand.New(rand.NewPCG(1, uint64(i))), Scope: "s", Workload: "host", Record: record}
	}
	calling := runs(t, func(ctx context.Context) error {
		var wait sync.WaitGroup
		for _, p := range processes[1:] {
			wait.Go(func() { w.Run(ctx, p) })
		}
		wait.Wait()
		return nil
	})
	pause.For(t.Context(), time.Second)
	leave()
	startProgram(t, n, "p1", instance.HostHandler)
	pause.For(t.Context(), time.Second)
	calling()
	if err := w.Final(t.Context(), processes[0]); err != nil {
		t.Fatal(err)
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	r := w.Check(t.Context(), h)
	if answers := answered(t, h); r.Verdict != check.OK || answers["p1"]+answers["p2"]+answers["p3"] == 0 {
		t.Errorf("%s %s %v of %d calls, answered by %v", r.Verdict, r.Why, r.Findings, r.Ops, answers)
	}
}

// answered counts the increments by the node that answered them.
func answered(t *testing.T, h *history.History) map[string]int {
	t.Helper()
	by := map[string]int{}
	for _, op := range h.Ops {
		if op.Call != "increment" || op.Outcome != history.OK {
			continue
		}
		seen, err := history.Decode[struct{ Node string }](op.Out)
		if err != nil {
			t.Fatal(fmt.Errorf("call %d: %w", op.ID, err))
		}
		by[seen.Node]++
	}
	return by
}
