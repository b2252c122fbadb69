package node_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

// The conformance suite of live instances, over the router and the client. Its cases wait for
// timeouts, so all of it runs in virtual time. On one node each case has its own bubble. On three
// nodes only the cases about ownership or node loss do; the others share a cluster.

func TestRouterOnOneNodeLive(t *testing.T)    { liveOnOne(t, routed) }
func TestClientOnOneNodeLive(t *testing.T)    { liveOnOne(t, dialled) }
func TestRouterOnThreeNodesLive(t *testing.T) { liveOnThree(t, routed) }
func TestClientOnThreeNodesLive(t *testing.T) { liveOnThree(t, dialled) }

func routed(_ *testing.T, _ *simCluster, through *testNode) agent.Instances {
	return through.Instances()
}

func dialled(t *testing.T, w *simCluster, through *testNode) agent.Instances {
	t.Helper()
	return w.dial(t, true, through.name).Instances()
}

func liveOnOne(t *testing.T, open func(*testing.T, *simCluster, *testNode) agent.Instances) {
	t.Helper()
	for _, c := range agenttest.InstanceCases() {
		if c.Lost {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newPlacedCluster(t, 1)
				r := w.leader()
				c.Run(t, agenttest.Fleet{Service: r.Service(), Instances: open(t, w, r), Through: r.name})
			})
		})
	}
}

func liveOnThree(t *testing.T, open func(*testing.T, *simCluster, *testNode) agent.Instances) {
	t.Helper()
	t.Parallel()
	var together []agenttest.InstanceCase
	for _, c := range agenttest.InstanceCases() {
		if c.Lost || strings.HasPrefix(c.Name, "CL-") {
			t.Run(c.Name, func(t *testing.T) { inAClusterOfThree(t, open, c) })
		} else {
			together = append(together, c)
		}
	}
	t.Run("all_others", func(t *testing.T) { inAClusterOfThree(t, open, together...) })
}

// inAClusterOfThree runs cases one after another, until one fails.
func inAClusterOfThree(t *testing.T, open func(*testing.T, *simCluster, *testNode) agent.Instances, cases ...agenttest.InstanceCase) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		r := w.follower()
		fleet := agenttest.Fleet{Service: r.Service(), Instances: open(t, w, r), Through: r.name, Faults: nodeFaults{w}}
		var name string
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("in case %s", name)
			}
		})
		for _, c := range cases {
			if name = c.Name; !t.Failed() {
				c.Run(t, fleet)
			}
		}
		w.agree()
	})
}

// nodeFaults injects faults into the nodes of a cluster of three.
type nodeFaults struct{ *simCluster }

func (w nodeFaults) Retire(node string) { w.sleep(node) }
func (w nodeFaults) Crash(node string)  { w.crash(node) }
func (w nodeFaults) Cut(node string)    { w.isolate(node) }

func (w nodeFaults) Mend(node string) {
	w.heal()
	if w.awake[node] == nil {
		w.start(node)
	}
	w.settle(3)
	w.settled("n1", "n2", "n3")
}
