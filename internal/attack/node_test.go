package attack

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/config"
	"dormouse/internal/freeport"
	"dormouse/node"
)

// startNode starts a cluster of one node on loopback, with its data on disk. It ends
// with the test.
func startNode(t *testing.T, change func(*config.Config)) *node.Node {
	t.Helper()
	c := config.Default()
	c.Node.ID, c.Cluster.Bootstrap, c.Node.DataDir = "n1", true, filepath.Join(t.TempDir(), "data")
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = freeAddr(t), freeAddr(t), freeAddr(t), freeAddr(t)
	c.Node.Dev = true
	if change != nil {
		change(&c)
	}
	n, err := node.Open(t.Context(), node.Options{Config: c, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); n.Ready() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the node does not serve: %v", n.Ready())
		}
	}
	return n
}

// freeAddr returns an address of loopback whose port is free for TCP and UDP.
func freeAddr(t *testing.T) string {
	t.Helper()
	ports, err := freeport.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	return freeport.Addr(ports[0])
}
