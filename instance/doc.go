// Package instance runs this node's live instances: the keys of managers whose
// partitions this node owns. It wakes an instance on demand, passes it its
// signals one at a time, and stores each signal's changes in one fenced commit.
// Idle instances hibernate.
//
// A Host uses an Ownership, which returns the partitions as this node has
// applied them, and an agent.Service. Correctness does not depend on the Host's
// view. The store checks the fence, the thread's rev and the checkpoint's
// revision of every write.
//
// # The lifecycle of an instance
//
// A dormant instance uses no memory. A call wakes it: the host reads its
// checkpoint, or starts it fresh if it has none. An awake instance takes a few
// hundred bytes and its state. It has a goroutine only while its mailbox is not
// empty. It hibernates after its manager's idle timeout without an attachment
// or a signal. The host also hibernates the least recently used instance when
// too many are awake.
//
// A turn handles one signal. The handler receives the state and returns
// changes. The host commits these with the reply, under the signal's request
// id, before it sends the reply. If a commit's outcome is unknown, the host
// resolves it before the instance does anything else. A handler that fails,
// panics, hangs or asks for an invalid change leaves no trace.
//
// # Decisions
//
// The behaviour improves on Jido's in these points (conformance ids M-13 to
// M-21):
//
//   - M-13: signals postpone the idle timeout, as a touch does.
//   - M-17: under DurabilityTurn every answered signal is durable. Under
//     DurabilityIdle a crash loses the turns since the last save, and replies
//     say so.
//   - M-18: a failed hibernation returns an error to its caller, is counted,
//     logged and retried. The instance stays awake meanwhile.
//   - M-19: Stop succeeds only when all state is durable. It handles the
//     signals that were in the mailbox before it first.
//   - M-20: after a crash an instance starts from its newest checkpoint.
//     Consecutive crashes increase the delay before the restart.
//   - M-21: an attach, start or signal during a hibernation keeps the instance
//     awake.
//   - A checkpoint that cannot be thawed is always thaw_failed. The host starts
//     no fresh instance in its place.
//
// The host writes nothing twice: under DurabilityTurn a hibernation writes only
// state that no turn has stored, such as an instance's initial state.
//
// A client may send a refused signal again under its request id; the host then
// tries it again. A signal that was answered gets the same answer. A turn that
// wrote nothing is not recorded, so the handler runs again for the same signal.
//
// # Ownership
//
// A node answers for an instance while it owns the partition at the instance's
// epoch. Its node lease must be valid by its own monotonic clock. A turn without
// writes is answered only after a linearizable read confirms the epoch. When
// the lease expires, the contexts of all turns end. When a partition moves, the
// contexts of its instances' turns end.
package instance
