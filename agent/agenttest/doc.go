// Package agenttest is the conformance suite of agent.Service: one set of
// cases that store, router and client must all pass, on one node and on three.
//
// Each case works in a scope of its own with a name never used before, so that
// cases may run in parallel, and again and again, against one shared cluster.
// The suite sees nothing but the contract: it neither sleeps nor opens a
// connection, and so it runs inside a testing/synctest bubble too.
//
// Case names begin with the conformance id of SEMANTICS.md that they prove,
// where there is one. Those that our contract leaves no room for, mostly by
// SEMANTICS' table "Where ours differs", are:
//
//   - S-5, S-14, P-12: Erlang terms as keys, atom-keyed fields, callbacks. Keys
//     are strings and payloads are JSON, and no code runs in the store.
//   - S-10: a caller's seq is ignored. A Draft has none; the tests of HTTP, of
//     the document handler and of dormctl send one.
//   - S-27, S-28: failed reads and corrupt rows. They take a broken disk; fsm
//     and storage test them underneath.
//   - T-5: one map in place of a list. Ops take lists; HTTP's front tests it.
//   - ME-7: a memory policy without a store. It is the runtime's, not the store's.
//   - JL-9: a store has all of the lease calls or none. Service has all.
//   - CL-7, CL-9, CL-11: a second owner while partitions move, what is told of
//     moves, and one that is given up. They look inside of nodes: package instance
//     tests them, each by its id.
//   - the Redis protocol. No
//     node serves it; values and checkpoints keep its rules of ttls (in a case).
//   - V-4: what a compare-and-set answers whose outcome is unknown. It is a
//     matter of connections: client and router test the outcomes.
//   - T-6: the older Thread.Store, whose append never conflicts. It is S-19.
//
// Time is the log's, so that nothing here waits for a ttl or a seal to end.
//
// InstanceCases are the same for agent.Instances, over router and client. They
// do wait, for timeouts of live instances, and so they run in a bubble only.
package agenttest
