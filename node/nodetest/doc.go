// Package nodetest gives tests a real cluster of one node that keeps nothing on
// disk, and a client that is connected to it, in some tens of milliseconds.
//
// It is no imitation: commits go through gRPC, the router, Raft's log and the
// state machine, so that what a test sees is what production does, its
// refusals included. Each node is a cluster of its own. A process may run many
// at once, and nothing of them is left when they are closed.
//
//	func TestGreeting(t *testing.T) {
//		c := nodetest.Start(t)
//		_, err := c.Append(t.Context(), agent.AppendThread{Thread: "t1"})
//		…
//	}
//
// Unless Options.Loopback says otherwise, all of its traffic is in memory. It
// then runs in a bubble of testing/synctest too, where a lease of a minute ends
// at once: start the node within the bubble. Its Raft ticks every few
// milliseconds of that time, so that an hour of it takes seconds.
package nodetest
