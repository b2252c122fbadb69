package node_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/agent/agenttest"
	"dormouse/client"
)

// The conformance suite runs against each implementation of the contract, on one node and on three.
// On three, the router and the client use a follower, so that commits are forwarded and reads
// request their index from the leader.

func TestStoreOnOneNode(t *testing.T)  { conformOnOne(t, leaderStore) }
func TestRouterOnOneNode(t *testing.T) { conformOnOne(t, anyRouter) }
func TestClientOnOneNode(t *testing.T) { conformOnOne(t, anyClient) }

func TestStoreOnThreeNodes(t *testing.T)  { conformOnThree(t, leaderStore) }
func TestRouterOnThreeNodes(t *testing.T) { conformOnThree(t, anyRouter) }
func TestClientOnThreeNodes(t *testing.T) { conformOnThree(t, anyClient) }

// conformOnOne runs the suite on one node, its cases as subtests in parallel.
func conformOnOne(t *testing.T, open func(t *testing.T, w *simCluster) agent.Service) {
	t.Helper()
	w := newCluster(t, 1)
	service := open(t, w)
	t.Run("suite", func(t *testing.T) {
		agenttest.Run(t, func(t *testing.T) agent.Service {
			t.Helper()
			t.Parallel()
			return service
		})
	})
	w.agree()
}

// conformOnThree runs the suite on a cluster of three in virtual time: a busy machine must not
// cause an election during a case about one node's answers. A bubble has no subtests, so a failure
// names its case.
func conformOnThree(t *testing.T, open func(t *testing.T, w *simCluster) agent.Service) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		service := open(t, w)
		var name string
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("in case %s", name)
			}
		})
		for _, c := range agenttest.Cases() {
			if name = c.Name; !t.Failed() {
				c.Run(t, service)
			}
		}
		w.agree()
	})
}

func leaderStore(_ *testing.T, w *simCluster) agent.Service { return w.leader().Store() }

func anyRouter(_ *testing.T, w *simCluster) agent.Service {
	if len(w.awake) == 1 {
		return w.leader().Service()
	}
	return w.follower().Service()
}

func anyClient(t *testing.T, w *simCluster) agent.Service {
	t.Helper()
	through := w.leader()
	if len(w.awake) > 1 {
		through = w.follower()
	}
	return w.dial(t, true, through.name)
}

// dial returns a client of some of the nodes: only of these if fixed.
func (w *simCluster) dial(t *testing.T, fixed bool, names ...string) *client.Client {
	t.Helper()
	return w.dialWith(t, "", fixed, names...)
}

// dialWith is dial with a token.
func (w *simCluster) dialWith(t *testing.T, token string, fixed bool, names ...string) *client.Client {
	t.Helper()
	for i := range names {
		names[i] += ":grpc"
	}
	c, err := client.Dial(client.Options{
		Endpoints: names, Fixed: fixed, Token: token, Insecure: true,
		Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			return w.links.Host("client").Dial(ctx, addr)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
