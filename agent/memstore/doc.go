// Package memstore is a complete agent.Service in memory, in one process. It is the
// plainest implementation of the contract: Go maps behind one mutex, of which each
// commit changes a copy. It passes the same conformance suite as the real store. It
// shares no code with the state machine, except that package recall ranks memories in
// both. Use it as a reference, as a fake in tests, and in examples.
//
// All data is lost when the process ends. A commit copies the maps of its scope and
// compares the scope before and after each op, so it suits small data only.
//
// It differs from the real store in these points:
//
//   - It enforces the limits that Validate checks and the policy of a scope, but not
//     the limits that bound the rows of one commit or of one read, the parts of a
//     session, the timers of an instance and the depth of forks.
//   - ImportScope is refused, since there are no rows.
//   - Timers never fire by themselves: package timer fires them over any Service.
//   - The erasure of an agent is complete at once. There are no live instances.
//
// The models of sessions, conversations and timers are exported. Other in-memory
// services and the tests of the state machine use them.
package memstore
