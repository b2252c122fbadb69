// Package nodetest provides tests with a real cluster of one node that stores nothing on disk, and
// with a connected client, in some tens of milliseconds.
//
// It is not an imitation: commits go through gRPC, the router, Raft's log and the state machine. So
// tests see the behaviour of production, including errors. Each node is a separate cluster. A
// process may run many at once, and nothing is left when they are closed.
//
//	func TestGreeting(t *testing.T) {
//		c := nodetest.Start(t)
//		_, err := c.Append(t.Context(), agent.AppendThread{Thread: "t1"})
//		…
//	}
//
// Without Options.Loopback all traffic is in memory. The node then also runs in a bubble of
// testing/synctest, where a lease of a minute ends at once: start the node within the bubble. Its
// Raft ticks every few milliseconds of virtual time, so an hour of it takes seconds.
package nodetest
