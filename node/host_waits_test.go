package node_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/config"
	"dormouse/host"
	"dormouse/instance"
)

// logRecorder records what hosts log. Its methods may be called concurrently.
type logRecorder struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (d *logRecorder) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

// times returns how many lines contain a text.
func (d *logRecorder) times(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Count(d.text.String(), what)
}

// singleNodeCluster returns a cluster of one node that owns partitions, and the log recorder of its
// future hosts.
func singleNodeCluster(t *testing.T) (*simCluster, *logRecorder) {
	t.Helper()
	w, d := newSimCluster(t, 0), new(logRecorder)
	w.lease = config.Default().Placement.Lease
	w.hostLog = hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: d})
	return w, d
}

// halves waits until two hosts share all partitions, and ends them in order.
func (w *simCluster) halves(hosts ...*testHost) {
	w.t.Helper()
	for _, h := range hosts {
		select {
		case <-h.Ready():
		case err := <-h.done:
			w.t.Fatalf("a host ended: %v", err)
		}
	}
	w.await("each host to own a half", func() bool { return len(hosts[0].Owned()) > 1800 && len(hosts[1].Owned()) > 1800 })
	for _, h := range hosts {
		h.stop()
		if err := <-h.done; err != nil {
			w.t.Error(err)
		}
	}
}

// A program that creates a node's configuration sets only the listen addresses: hosts learn them.
func TestANodeIsReachedWhereItListensSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := singleNodeCluster(t)
		c := w.config("n1")
		c.GRPC.Advertise, c.HTTP.Advertise, c.Raft.Advertise, c.Gossip.Advertise = "", "", "", ""
		w.startWith("n1", c)
		w.halves(w.startHost("h1", recordingHandlers("tally", 1)), w.startHost("h2", recordingHandlers("score", 1)))
	})
}

// With round trips of 450 ms, which is more than wan is for, a host connects, and keeps its lease and its partitions. A
// host for near nodes does not get so far: it gives each attempt to connect a second.
func TestAHostWithWANReachesNodesThatAreFarAwaySim(t *testing.T) {
	t.Parallel()
	for wan, joins := range map[bool]bool{true: true, false: false} {
		synctest.Test(t, func(t *testing.T) {
			w, _ := singleNodeCluster(t)
			w.timing, w.lease = config.TimingWAN, config.DefaultFor(config.TimingWAN).Placement.Lease
			w.start("n1")
			w.settle(1)
			w.links.Delay("h1", "n1", 225*time.Millisecond)
			w.links.Delay("n1", "h1", 225*time.Millisecond)
			links := w.links.Host("h1")
			open, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			h, err := host.Open(open, host.Options{
				Name: "h1", Join: []string{"n1:raft"}, Key: testHostKey, Listen: "h1:peer", Network: links, Logger: w.hostLog, WAN: wan,
				Instance: instance.Options{Handlers: recordingHandlers("tally", 1)},
				Client:   client.Options{Token: w.hostToken, Insecure: true, Dialer: links.Dial},
			})
			if (err == nil) != joins {
				t.Errorf("with WAN %t: open: %v", wan, err)
			}
			if err != nil {
				return
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- h.Run(ctx) }()
			w.await("the host to own partitions", func() bool { return len(h.Owned()) > 1800 })
			for range 60 {
				time.Sleep(time.Second)
				if owned := len(h.Owned()); owned < 1800 {
					t.Errorf("it owns %d partitions", owned)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A host that learns no client address from nodes reports that, instead of trying a wrong address.
func TestAHostThatHearsOfNoClientAddressSaysSoSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := singleNodeCluster(t)
		c := w.config("n1")
		c.GRPC.Addr, c.GRPC.Advertise = "n1:0", ""
		w.startWith("n1", c)
		w.settle(1)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := host.Open(ctx, host.Options{Name: "h1", Key: testHostKey, Join: []string{"n1:raft", "n2:raft"}, Listen: "h1:peer", Network: w.links.Host("h1"), Logger: w.hostLog})
		if err == nil || !strings.Contains(err.Error(), "Client.Endpoints") {
			t.Errorf("it does not say what to do: %v", err)
		}
		if n := d.times("closed network connection"); n > 1 { // connections of a stranger are opened again, once
			t.Errorf("the host closed its connection %d times", n)
		}
	})
}

// Hosts with their own handlers that join while a cluster is being founded, before it has a feature
// level, become members all the same.
func TestHostsThatComeAsAClusterIsFoundedAreMembersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := singleNodeCluster(t)
		w.start("n1")
		w.halves(w.startHost("h1", recordingHandlers("tally", 1)), w.startHost("h2", recordingHandlers("score", 1)))
	})
}

// Below the feature level of remote turns, a host whose handlers are incompatible with another's
// retries until they are compatible. It logs once what it waits for.
func TestAHostWaitsUntilItsHandlersGoWithAnothersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, logs := singleNodeCluster(t)
		w.level = layout.RemoteTurnsLevel - 1
		w.found(1)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		h2 := w.startHost("h2", recordingHandlers("score", 1))
		before, _ := w.awake["n1"].Machine().Chain()
		select {
		case <-h2.Ready():
			t.Fatal("it is a member, below the feature level for that")
		case err := <-h2.done:
			t.Fatalf("it gave up: %v", err)
		case <-time.After(20 * nodeLease):
		}
		if n := logs.times("lacks its tally@1"); n != 1 {
			t.Errorf("it said %d times what it waits for", n)
		}
		// A sixth of the lease is the longest pause: six entries a lease, besides the three each of
		// the node and of the other host, and few others.
		if after, _ := w.awake["n1"].Machine().Chain(); after-before > 2*20*(6+3+3) {
			t.Errorf("it asked too often: %d entries in %v", after-before, 20*nodeLease)
		}

		w.level = 0 // the node is upgraded to this build
		w.sleep("n1")
		w.found(1)
		w.halves(h1, h2)
	})
}

// A waiting host continues once the other one has gone; its own end is not delayed.
func TestAHostWaitsUntilAnotherHasGoneSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := singleNodeCluster(t)
		w.level = layout.RemoteTurnsLevel - 1
		w.found(1)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		h2, h3 := w.startHost("h2", recordingHandlers("score", 1)), w.startHost("h3", recordingHandlers("score", 2))
		time.Sleep(4 * nodeLease)
		began := time.Now()
		h3.stop()
		if err := <-h3.done; err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("one that waited ended after %v with: %v", time.Since(began), err)
		}
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
		w.await("the other one to own everything", func() bool { return len(h2.Owned()) == layout.Partitions })
		h2.stop()
		if err := <-h2.done; err != nil {
			t.Error(err)
		}
	})
}
