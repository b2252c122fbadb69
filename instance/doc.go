// Package instance keeps this node's live instances: the keys of managers whose
// partitions this node owns. It wakes them on demand, hands them their signals
// one at a time, writes what a signal leaves in one fenced commit, and lets
// them sleep again.
//
// A Host stands on a Ground, which tells who owns which partition as this node
// has applied it, and on an agent.Service, which judges every write by its
// fence. What the Host believes is never what makes a write right: the fence,
// the thread's rev and the checkpoint's revision are.
//
// # The life of an instance
//
// It is dormant while nothing of it is in memory. Whoever asks for it wakes it:
// its checkpoint is thawed, or, where there is none, it is fresh. Awake it costs
// a few hundred bytes and its state, and no goroutine; one works while its
// mailbox has something in it. Without an attachment and without a signal for
// its manager's idle timeout it hibernates, and so does the least recently used
// one where too many are awake.
//
// A turn is what one signal does. The handler is given the state and answers
// with changes; these are committed together with the answer, under the
// signal's request id, before anybody hears of them. A turn whose outcome is
// unknown is settled before anything else happens in its instance. A handler
// that fails, panics, hangs or wants what cannot be stored leaves no trace.
//
// # Decisions
//
// Where Jido (SEMANTICS §3) is improved on:
//
//   - M-13: signals postpone idling, as a touch does.
//   - M-17: under DurabilityTurn nothing that was answered is lost. Under
//     DurabilityIdle a crash loses what came after the last save, and replies
//     say so.
//   - M-18: a hibernation that fails is the caller's error, is counted, logged,
//     and tried again; the instance stays awake meanwhile.
//   - M-19: Stop succeeds only once all is durable. Signals that were in the
//     mailbox before it are handled first.
//   - M-20: after a crash an instance starts from its newest checkpoint, never
//     from what it was first thawed from; crashes in a row make it wait longer.
//   - M-21: whoever attaches, starts or signals reaches an instance that stands:
//     one that is about to hibernate stays awake for them.
//   - A checkpoint that cannot be thawed is thaw_failed, whenever: nothing is
//     started afresh in its place.
//
// What is durable already is not written again: under DurabilityTurn a
// hibernation writes only what no turn has, such as an instance's first state.
//
// A signal that was refused may be sent again under its own request id, and is
// then tried anew; one that was answered gets that answer again. A turn that
// wrote nothing is not on record: sent again, it is asked again.
//
// # Who may answer
//
// A node answers for an instance while its partition's epoch is its own and its
// node lease stands by its own monotonic clock. A turn that wrote nothing
// answers only after a linearizable read that finds the epoch still its own. A
// lease that lapses ends the contexts of all turns at once; a partition that has
// gone to another ends those of its instances.
package instance
