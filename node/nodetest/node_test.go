package nodetest_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dormouse/agent"
	"dormouse/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachNodeIsAClusterOfItsOwn(t *testing.T) {
	first, second := nodetest.Start(t), nodetest.Start(t)
	if _, err := first.PutCheckpoint(t.Context(), agent.PutCheckpoint{Key: "a", State: agent.JSON(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := first.GetCheckpoint(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if _, err := second.GetCheckpoint(t.Context(), "a"); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("what one has written the other reads: %v", err)
	}
}

// Runs one at a time, so that a leak is found in the run that caused it.
func TestNothingIsLeftOfIt(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for _, o := range []nodetest.Options{{}, {Loopback: true}} {
		n, err := nodetest.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(t.Context(), agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}); err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before)
	}
}

func TestOnLoopbackAnybodyReachesIt(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	if _, err := n.Append(t.Context(), agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.HTTPAddr()+"/v1/threads/t", nil)
	if err != nil {
		t.Fatal(err)
	}
	direct := &http.Transport{}
	defer direct.CloseIdleConnections()
	response, err := direct.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		t.Errorf("answered %s", response.Status)
	}
}

// In virtual time a claim of a minute expires without a wait.
func TestItRunsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nodetest.Start(t)
		mine, err := c.TakeClaim(t.Context(), agent.TakeClaim{Claim: "job", Holder: "w1", TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		note := agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}
		if _, err := c.Under(mine).Append(t.Context(), note); err != nil {
			t.Errorf("within its ttl: %v", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := c.Under(mine).Append(t.Context(), note); agent.CodeOf(err) != agent.CodeFenced {
			t.Errorf("after its ttl: %v", err)
		}
	})
}

func TestAClientThatCannotBeMadeLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	o := nodetest.Options{}
	o.Client.InFlightMax = -1
	if _, err := nodetest.Open(o); err == nil {
		t.Error("a client with a negative bound was made")
	}
	goleak.VerifyNone(t, before)
}

// BenchmarkStart measures a start, the first commit, and a stop.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		n, err := nodetest.Open(nodetest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := n.Append(b.Context(), agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkClose measures the cost of Start's cleanup.
func BenchmarkClose(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		n, err := nodetest.Open(nodetest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// In a test use nodetest.Start(t); it is closed automatically.
func Example() {
	c, err := nodetest.Open(nodetest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	ctx := context.Background()
	put := agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"mood":"awake"}`)}
	if _, err := c.PutCheckpoint(ctx, put); err != nil {
		log.Fatal(err)
	}
	only := uint64(7)
	put.IfRevision = &only
	_, err = c.PutCheckpoint(ctx, put)
	fmt.Println(agent.CodeOf(err))
	// Output: revision_mismatch
}
