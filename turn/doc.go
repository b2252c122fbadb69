// Package turn runs the turns of sessions over any agent.Service, such as a
// client.
//
// A Runner claims a session, renews its lease while the caller's function runs,
// and commits the turn under the lease's fence. Entries, checkpoints, memories
// and the session's end apply together or not at all.
//
//   - A function that returns nil finishes its turn and commits the changes
//     that it collected. A function that fails or panics ends its turn as an
//     error, which stores the failure and drops the changes.
//   - If the lease is lost, the function's context ends with ErrLost as the
//     cause. Nothing commits after that: the fence guarantees it.
//   - A commit whose outcome is unknown is retried under its request id until
//     the outcome is known. The turn sends nothing else meanwhile.
//
// Effects are a turn's calls outside of the store. The turn stores the intent
// before the call and the result after it, in a snapshot of the session. A turn
// that continues after a pause or a crash runs its function from the start, and
// effects with a result return it without a call. Apart from effects, the
// function must be deterministic.
//
// Loop is a function for turns that asks a model and calls its tools.
package turn
