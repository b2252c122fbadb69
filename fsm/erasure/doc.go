// Package erasure erases whole agents: checkpoints, threads, memories, timers, sessions,
// conversations and live instances.
//
// The op removes the rows under the agent's own key, and the following entries remove the rest step
// by step. The receipt counts what was removed, and is complete once nothing is left. Data that is
// not removed yet cannot be read: see txn.SessionGone.
package erasure
