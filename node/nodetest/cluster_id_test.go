package nodetest_test

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
)

// A client that has talked to one cluster must not have writes acknowledged by another one that
// answers at one of its endpoints.
func TestAClientRefusesANodeOfAnotherCluster(t *testing.T) {
	first, err := nodetest.Open(nodetest.Options{Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	other := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	theirs := idOf(t, other)
	put := func(c *client.Client, key string) error {
		_, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: key, Bytes: []byte("x")}}})
		return err
	}
	c, err := client.Dial(client.Options{Endpoints: []string{first.GRPCAddr(), other.GRPCAddr()}, Fixed: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the test is over
	if err := put(c, "a"); err != nil {
		t.Fatal(err)
	}
	if id := idOf(t, first); c.ClusterID() != id {
		t.Errorf("the client's cluster is %q, the node's %q", c.ClusterID(), id)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	_ = put(c, "b") // its outcome may be unknown: the client finds the connection broken
	for range 3 {
		err := put(c, "b")
		if code := agent.CodeOf(err); code != agent.CodeUnavailable || !strings.Contains(err.Error(), c.ClusterID()) || !strings.Contains(err.Error(), theirs) {
			t.Fatalf("%s: %v", code, err)
		}
	}
	if applied, err := other.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "b"}}}); err != nil || applied.Answers[0].Err == nil {
		t.Errorf("the other cluster holds the value: %+v, %v", applied, err)
	}
}

// A client may be configured with its cluster, and then refuses others from the first call.
func TestAClientThatIsGivenItsClusterRefusesOthersAtOnce(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	for id, want := range map[string]agent.Code{idOf(t, n): "", "another": agent.CodeUnavailable} {
		c, err := client.Dial(client.Options{Endpoints: []string{n.GRPCAddr()}, ClusterID: id, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Status(t.Context()); agent.CodeOf(err) != want {
			t.Errorf("status in cluster %q: %v", id, err)
		}
		_, err = c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("x")}}})
		if agent.CodeOf(err) != want {
			t.Errorf("a commit in cluster %q: %v", id, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func idOf(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	status, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.ClusterID
}
