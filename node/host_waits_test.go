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

	"dormouse/agent"
	"dormouse/config"
	"dormouse/host"
)

// diary is what hosts log. Its methods may be called concurrently.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

// times is how many lines have it.
func (d *diary) times(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Count(d.text.String(), what)
}

// loneTown is one node that owns partitions, and the diary of the hosts that it
// will have.
func loneTown(t *testing.T) (*town, *diary) {
	t.Helper()
	w, d := simTown(t, 0), new(diary)
	w.lease = config.Default().Placement.Lease
	w.hostLog = hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: d})
	return w, d
}

// halves waits until two hosts share what there is, and ends them in order.
func (w *town) halves(hosts ...*guest) {
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

// A program that makes a node's configuration by itself says once where the node
// listens: hosts hear of it.
func TestANodeIsReachedWhereItListensSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := loneTown(t)
		c := w.config("n1")
		c.GRPC.Advertise, c.HTTP.Advertise, c.Raft.Advertise, c.Gossip.Advertise = "", "", "", ""
		w.startWith("n1", c)
		w.halves(w.invite("h1", tallies("tally", 1)), w.invite("h2", tallies("score", 1)))
	})
}

// A host that no node tells where it serves clients says so, rather than try an
// address that nobody gave it.
func TestAHostThatHearsOfNoClientAddressSaysSoSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := loneTown(t)
		c := w.config("n1")
		c.GRPC.Addr, c.GRPC.Advertise = "n1:0", ""
		w.startWith("n1", c)
		w.settle(1)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := host.Open(ctx, host.Options{Name: "h1", Join: []string{"n1:raft", "n2:raft"}, Listen: "h1:peer", Network: w.links.Host("h1"), Logger: w.hostLog})
		if err == nil || !strings.Contains(err.Error(), "Client.Endpoints") {
			t.Errorf("it does not say what to do: %v", err)
		}
		if n := d.times("closed network connection"); n > 1 { // those of a stranger are made again, once
			t.Errorf("the host closed its connection %d times", n)
		}
	})
}

// Hosts with handlers of their own that come while a cluster is being founded,
// and so before it has any feature level, are members all the same.
func TestHostsThatComeAsAClusterIsFoundedAreMembersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := loneTown(t)
		w.start("n1")
		w.halves(w.invite("h1", tallies("tally", 1)), w.invite("h2", tallies("score", 1)))
	})
}

// A host whose handlers do not go with another's, below the feature level from
// which they do, asks again until they do. It says once what it waits for.
func TestAHostWaitsUntilItsHandlersGoWithAnothersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, diary := loneTown(t)
		w.level = agent.RemoteTurnsLevel - 1
		w.found(1)
		h1 := w.invite("h1", tallies("tally", 1))
		<-h1.Ready()
		h2 := w.invite("h2", tallies("score", 1))
		before, _ := w.awake["n1"].Machine().Chain()
		select {
		case <-h2.Ready():
			t.Fatal("it is a member, below the feature level for that")
		case err := <-h2.done:
			t.Fatalf("it gave up: %v", err)
		case <-time.After(20 * townLease):
		}
		if n := diary.times("lacks its tally@1"); n != 1 {
			t.Errorf("it said %d times what it waits for", n)
		}
		// A sixth of the lease is the longest pause: six entries a lease, beside the
		// three each of the node and of the other host, and few others.
		if after, _ := w.awake["n1"].Machine().Chain(); after-before > 2*20*(6+3+3) {
			t.Errorf("it asked too often: %d entries in %v", after-before, 20*townLease)
		}

		w.level = 0 // the node is brought to this build
		w.sleep("n1")
		w.found(1)
		w.halves(h1, h2)
	})
}

// …or until the other one has gone; and its own end is waited for by nobody.
func TestAHostWaitsUntilAnotherHasGoneSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := loneTown(t)
		w.level = agent.RemoteTurnsLevel - 1
		w.found(1)
		h1 := w.invite("h1", tallies("tally", 1))
		<-h1.Ready()
		h2, h3 := w.invite("h2", tallies("score", 1)), w.invite("h3", tallies("score", 2))
		time.Sleep(4 * townLease)
		began := time.Now()
		h3.stop()
		if err := <-h3.done; err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("one that waited ended after %v with: %v", time.Since(began), err)
		}
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
		w.await("the other one to own everything", func() bool { return len(h2.Owned()) == agent.Partitions })
		h2.stop()
		if err := <-h2.done; err != nil {
			t.Error(err)
		}
	})
}
