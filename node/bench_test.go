package node_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/config"
	"dormouse/node"
)

// These benchmarks measure appends, puts and reads end to end: the client over loopback TCP, three
// nodes on real disks, all in this process and so on the same cores. `make bench` compares them
// with a baseline.

func BenchmarkAppend300B(b *testing.B) {
	payload := agent.JSON(fmt.Sprintf(`{"text":"%s"}`, bytes.Repeat([]byte("x"), 280)))
	benchCallers(b, func(ctx context.Context, s agent.Service, caller int, turn uint64) error {
		_, err := s.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.AppendThread{
			Thread: fmt.Sprint("t", caller), ExpectedRev: &turn, Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: payload}},
		}}})
		return err
	})
}

func BenchmarkPut1KiB(b *testing.B) {
	state := agent.JSON(fmt.Sprintf(`{"text":"%s"}`, bytes.Repeat([]byte("x"), 1012)))
	benchCallers(b, func(ctx context.Context, s agent.Service, caller int, _ uint64) error {
		_, err := s.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{Key: fmt.Sprint("k", caller), State: state}}})
		return err
	})
}

func BenchmarkGet1KiB(b *testing.B) {
	state := agent.JSON(fmt.Sprintf(`{"text":"%s"}`, bytes.Repeat([]byte("x"), 1012)))
	benchCallers(b, func(ctx context.Context, s agent.Service, caller int, turn uint64) error {
		key := fmt.Sprint("k", caller)
		if turn == 0 {
			_, err := s.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{Key: key, State: state}}})
			return err
		}
		answers, err := s.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: key}}})
		if err == nil && answers.Answers[0].Err != nil {
			err = answers.Answers[0].Err
		}
		return err
	})
}

// BenchmarkSignal measures one turn of a live instance per call, with a client that learns the
// owner, and with one that calls one node only.
func BenchmarkSignal(b *testing.B) {
	endpoints := benchNodes(b)
	for name, fixed := range map[string]bool{"owner": false, "any": true} {
		b.Run(name, func(b *testing.B) {
			o := client.Options{Endpoints: endpoints[:1], Fixed: fixed}
			benchClient(b, o, func(ctx context.Context, c *client.Client, caller int, turn uint64) error {
				if turn == 0 {
					put := agent.PutManager{Manager: agent.Manager{Name: fmt.Sprint("m", caller), Handler: agent.Handler{Kind: agent.HandlerDocument}}}
					if _, err := c.PutManager(ctx, put); err != nil {
						return err
					}
				}
				ref := agent.InstanceRef{Manager: fmt.Sprint("m", caller), Key: "k"}
				_, err := c.Instances().Signal(ctx, ref, agent.Signal{Type: "patch", Data: agent.JSON(fmt.Sprintf(`{"n":%d}`, turn))})
				return err
			})
		})
	}
}

// benchCallers runs work with 1, 64 and 256 callers, each with one call at a time. turn counts a
// caller's calls from 0.
func benchCallers(b *testing.B, work func(ctx context.Context, s agent.Service, caller int, turn uint64) error) {
	b.Helper()
	benchClient(b, client.Options{Endpoints: benchNodes(b), PreferLeader: true}, func(ctx context.Context, c *client.Client, caller int, turn uint64) error {
		return work(ctx, c, caller, turn)
	})
}

// benchClient is benchCallers with client options. Each number of callers gets a new client and a
// new scope.
func benchClient(b *testing.B, o client.Options, work func(ctx context.Context, c *client.Client, caller int, turn uint64) error) {
	b.Helper()
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			o.Scope = fmt.Sprint("s", time.Now().UnixNano())
			c, err := client.Dial(o)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // it never fails
			var left atomic.Int64
			left.Store(int64(b.N))
			failed := make(chan error, callers)
			b.ReportAllocs()
			b.ResetTimer()
			for caller := range callers {
				go func() {
					for turn := uint64(0); left.Add(-1) >= 0; turn++ {
						if err := work(context.Background(), c, caller, turn); err != nil {
							failed <- err
							return
						}
					}
					failed <- nil
				}()
			}
			for range callers {
				if err := <-failed; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// benchNodes starts three nodes on loopback TCP and the disk, and returns
// their gRPC addresses.
func benchNodes(b *testing.B) []string {
	b.Helper()
	dir := b.TempDir()
	key := filepath.Join(dir, "cluster.key")
	if err := keys.WriteFile(key, keys.Ring{keys.New()}.Encode()); err != nil {
		b.Fatal(err)
	}
	var endpoints []string
	for i := range 3 {
		c := config.Default()
		c.Node.ID = name(i)
		c.Node.DataDir = filepath.Join(dir, c.Node.ID)
		c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
		c.Gossip.Addr = "127.0.0.1:0"
		c.Auth.Mode = config.AuthOff
		c.Cluster.KeyFile = key
		c.Cluster.Bootstrap = i == 0
		if i > 0 {
			c.Cluster.Join = []string{benchFirst}
		}
		n, err := node.Open(b.Context(), node.Options{Config: c, Network: transport.TCP{}, Logger: hclog.NewNullLogger()})
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			benchFirst = n.Group().Addr()
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		b.Cleanup(func() {
			stop()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
		for n.Ready() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		_, address := n.Addrs()
		endpoints = append(endpoints, address)
	}
	return endpoints
}

// benchFirst is the first node's Raft address.
var benchFirst string
