// Package agenttest is the conformance suite of agent.Service: store, router and
// client must pass the same cases, on one node and on three.
//
// Each case works in a scope of its own with a unique name, so that cases can run
// in parallel, and repeatedly, against one shared cluster. The suite uses only the
// contract: it neither sleeps nor opens a connection, so that it also runs inside
// a testing/synctest bubble.
//
// Case names begin with the id of the rule in docs/semantics.md that they test, if
// there is one. These rules have no case:
//
//   - S-5, S-14, P-12: Erlang terms as keys, atom keys in fields, callbacks. Keys
//     are strings and payloads are JSON, and no code runs in the store.
//   - S-10: a caller's seq is ignored. A Draft has none; the tests of HTTP, of
//     the document handler and of dormctl send one.
//   - S-27, S-28: failed reads and corrupt rows. They need a broken disk; fsm
//     and storage test them.
//   - T-5: one map instead of a list. Ops have lists; the tests of HTTP send a map.
//   - ME-7: a memory policy without a store. It belongs to the runtime.
//   - JL-9: a store has all of the lease calls or none. Service has all.
//   - CL-7, CL-9, CL-11: a second owner while partitions move, reports of moves,
//     and a move that is cancelled. They need the internals of nodes: package
//     instance tests them, each by its id.
//   - the Redis protocol.
//     server/redis and node test it; values follow its ttl rules (in a case).
//   - V-4: the answer of a compare-and-set whose outcome is unknown. It depends on
//     connections: client, router and server/redis test the outcomes.
//   - T-6: the older Thread.Store, whose append never conflicts. It is S-19.
//
// Time is log time, so no case waits for a ttl or a seal to end.
//
// InstanceCases are the cases of agent.Instances, for router and client. They wait
// for timeouts of live instances, so they run in a bubble only.
package agenttest
