package node

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/gossip/gossiptest"
	"dormouse/cluster/keys"
	"dormouse/config"
)

// alone returns an open node on a network of its own.
func alone(t *testing.T) *Node {
	t.Helper()
	const gossipAddr = "127.0.0.1:7603"
	c := config.Default()
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap, c.Auth.Mode = "n1", true, true, true, config.AuthOff
	c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr = "n1:raft", "n1:http", "n1:grpc", gossipAddr
	c.Raft.Advertise, c.HTTP.Advertise, c.GRPC.Advertise, c.Gossip.Advertise = c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr
	c.Storage.CacheBytes = 1 << 20
	talk, err := gossiptest.New().Listen(gossipAddr)
	if err != nil {
		t.Fatal(err)
	}
	host := clustertest.NewNetwork().Host("n1")
	n, err := Open(t.Context(), Options{Config: c, Network: host, Servers: host, Gossip: talk, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A disk that fails while the node stops is an error of the stop: the log's end may not have been
// recorded. If the disk hangs too, the stop does not wait for it.
func TestAFaultWhileItStopsIsReported(t *testing.T) {
	for name, hangs := range map[string]bool{"and the parts end": false, "and a part hangs": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := alone(t)
				parts, failed := errgroup.WithContext(t.Context())
				life, end := context.WithCancel(failed)
				n.start(life, parts)
				disk, released := errors.New("input/output error"), make(chan struct{})
				parts.Go(func() error {
					<-life.Done() // the stop is under way
					n.fail(disk)
					if hangs {
						<-released
					}
					return nil
				})
				began := time.Now()
				if err := n.stop(parts, end, time.Hour, nil); !errors.Is(err, disk) {
					t.Errorf("the stop returns %v, want %v", err, disk)
				}
				if took := time.Since(began); took > 2*fatalGrace {
					t.Errorf("the stop took %v", took)
				}
				close(released)
				synctest.Wait()
			})
		})
	}
}

// A node of which a part fails stops in order: it stores what its instances have not stored.
func TestAPartThatFailsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := alone(t)
		ran := make(chan error, 1)
		go func() { ran <- n.Run(t.Context()) }()
		ctx := t.Context()
		documents := agent.Manager{Name: "documents", Handler: agent.Handler{Kind: agent.HandlerDocument}, Durability: agent.DurabilityIdle}
		if _, err := n.Service().Commit(ctx, agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{&agent.PutManager{Manager: documents}}}); err != nil {
			t.Fatal(err)
		}
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: documents.Name, Key: "a"}
		if _, err := n.Instances().Signal(ctx, ref, agent.Signal{Type: "patch", Data: agent.JSON(`{"a":1}`)}); err != nil {
			t.Fatal(err)
		}
		if err := n.httpListener.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ran; err == nil {
			t.Error("the node tells of no part that failed")
		}
		if s, err := n.instanceHost.host.Stats(ctx, ref.Scope, ref.Manager); err != nil || s.Nodes[0].Hibernated != 1 {
			t.Errorf("after the stop: %+v, %v; want one instance that hibernated", s, err)
		}
	})
}

// A node that is stopped while it waits for the cluster key says that it was stopped.
func TestAStopEndsTheWaitForTheClusterKey(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // nothing is read from it
	token := keys.Ring{keys.New()}.NewToken(time.Now().Add(time.Hour), []string{silent.Addr().String()})
	c := config.Default()
	c.Node.ID, c.Node.DataDir, c.Cluster.JoinTokenFile = "n2", t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := keys.WriteFile(c.Cluster.JoinTokenFile, token.Encode()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		conn, err := silent.Accept()
		if err == nil {
			defer conn.Close() //nolint:errcheck // nothing is written to it
		}
		stop()
		<-t.Context().Done()
	}()
	if _, err := Open(ctx, Options{Config: c, Logger: hclog.NewNullLogger()}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}

// A name that is not found, and an address that is not reached, at the start are no wrong configuration: a
// supervisor that does not start the node again after one would keep it down after a power cut.
func TestANetworkThatIsNotThereIsNoConfiguration(t *testing.T) {
	c := config.Default()
	c.Node.ID, c.Node.DataDir, c.Cluster.Bootstrap = "n1", t.TempDir(), true
	c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Gossip.Advertise = "no-such-name.invalid:7603"
	_, err := Open(t.Context(), Options{Config: c, Logger: hclog.NewNullLogger()})
	var failed *ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != codeFailed {
		t.Errorf("a name that is not found: %v", err)
	}

	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	token := keys.Ring{keys.New()}.NewToken(time.Now().Add(time.Hour), []string{free.Addr().String()})
	if err := free.Close(); err != nil { // nothing listens there now
		t.Fatal(err)
	}
	c = config.Default()
	c.Node.ID, c.Node.DataDir, c.Cluster.JoinTokenFile = "n2", t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := keys.WriteFile(c.Cluster.JoinTokenFile, token.Encode()); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), Options{Config: c, Logger: hclog.NewNullLogger()}); !errors.As(err, &failed) || failed.ExitCode() != codeFailed {
		t.Errorf("an address that is not reached: %v", err)
	}
}

// The node that a join token names may end in the middle of the handshake: it is being restarted.
func TestANodeThatEndsDuringTheHandshakeIsNoConfiguration(t *testing.T) {
	ends, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ends.Close() //nolint:errcheck // nothing is read from it
	go func() {
		if conn, err := ends.Accept(); err == nil {
			_ = conn.Close()
		}
	}()
	token := keys.Ring{keys.New()}.NewToken(time.Now().Add(time.Hour), []string{ends.Addr().String()})
	c := config.Default()
	c.Node.ID, c.Node.DataDir, c.Cluster.JoinTokenFile = "n2", t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := keys.WriteFile(c.Cluster.JoinTokenFile, token.Encode()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Config: c, Logger: hclog.NewNullLogger()})
	var failed *ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != codeFailed {
		t.Errorf("it ended with %v", err)
	}
}
