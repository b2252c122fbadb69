// Package erasure erases whole agents: checkpoints, threads, memories, timers, sessions,
// conversations and live instances.
//
// An erasure removes what is under the agent's own key with its op, and the rest a
// piece an entry. Its receipt counts what was removed, and is complete once nothing
// is left. What is not removed yet cannot be read: see txn.SessionGone.
package erasure
