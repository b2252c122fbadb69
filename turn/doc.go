// Package turn runs the turns of sessions: from outside, over any
// agent.Service, such as a client.
//
// A Runner claims a session, keeps its lease alive while a function of the
// caller's works, and writes what that leaves in one commit, under the lease's
// fence: entries, checkpoints, memories and the session's end apply together,
// once, or not at all.
//
//   - A function that returns nil finishes its turn, and what it collected is
//     committed. One that fails or panics ends its turn as an error, which
//     keeps the failure and nothing else of what it collected.
//   - A lease that is lost ends the function's context, with ErrLost as the
//     cause. Nothing commits after that: the fence sees to it, not the clock.
//   - A commit whose outcome is unknown is sent again under its own id until it
//     is settled, before anything else is sent.
//
// What a turn does to the world goes through Effect. The intent is kept before
// the call and the result after it, in a snapshot of the session, so a turn
// that is taken up again runs its function from the top, and effects that have
// an answer give it without a call. Nothing but effects may depend on what
// changes from run to run.
//
// Loop is a function for turns that asks a model and calls its tools.
package turn
