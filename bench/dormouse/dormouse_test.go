package dormouse_test

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/bench/dormouse"
	"dormouse/bench/load"
	"dormouse/config"
	"dormouse/node"
)

// alone starts a single node that stores nothing on disk.
func alone(t *testing.T) (httpAddr, grpcAddr string) {
	t.Helper()
	c := config.Default()
	c.Auth.Mode = config.AuthOff
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "n1", true, true, true
	c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(t.Context(), node.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for n.Ready() != nil {
		time.Sleep(5 * time.Millisecond)
	}
	return n.Addrs()
}

// TestEveryWorkloadRunsThroughEachDriver runs every workload for a moment through each
// driver. Reads must return the written data in full, and revs must be right.
func TestEveryWorkloadRunsThroughEachDriver(t *testing.T) {
	httpAddr, grpcAddr := alone(t)
	leading, err := dormouse.Dial(dormouse.Options{Endpoints: []string{grpcAddr}, Clients: 2})
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := dormouse.Dial(dormouse.Options{Endpoints: []string{grpcAddr}, Clients: 1, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	spread, err := dormouse.Dial(dormouse.Options{Endpoints: []string{grpcAddr}, Clients: 2, Spread: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]load.Driver{"grpc": leading, "fixed": fixed, "spread": spread, "http": dormouse.DialHTTP([]string{httpAddr}, false), "http2": dormouse.DialHTTP([]string{httpAddr}, true)} {
		t.Run(name, func(t *testing.T) {
			defer d.Close() //nolint:errcheck // checked below where it matters
			for _, w := range load.Workloads {
				o := load.Options{Workload: w, Callers: 4, Agents: 20, Duration: 50 * time.Millisecond, Prefix: name + w.Name}
				for range 2 { // the second time on existing agents
					if got, err := load.Run(t.Context(), d, o); err != nil || got.Errors != 0 {
						t.Errorf("%s: %v, %+v", w.Name, err, got)
					}
					o.Stored = true
				}
			}
			missing := &load.Thread{ID: "missing", Rev: 7}
			if err := d.Look(t.Context(), missing); err != nil || missing.Rev != 0 {
				t.Errorf("a missing thread is at %d: %v", missing.Rev, err)
			}
			if err := d.Append(t.Context(), &load.Thread{ID: "missing", Rev: 7}, []byte(`{}`)); err == nil {
				t.Error("an append at the wrong rev was taken")
			}
			if _, err := d.Get(t.Context(), "missing"); err == nil {
				t.Error("what is missing was read")
			}
		})
	}
}
