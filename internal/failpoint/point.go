// Package failpoint names places in the program at which the test harness ends or delays
// the process. Only a build with the tag "failpoints" has them; in others At costs
// nothing.
package failpoint

import "slices"

// Point is a named place.
type Point string

// The places.
const (
	ApplyBegin       Point = "apply-begin"       // before an entry of the log is applied
	ApplyEnd         Point = "apply-end"         // after it, before anyone learns the result
	SnapshotCut      Point = "snapshot-cut"      // before the state of a snapshot is fixed
	SnapshotPersist  Point = "snapshot-persist"  // after that, before the snapshot is stored or sent
	SnapshotStored   Point = "snapshot-stored"   // after that, before Raft learns of it
	InstallReceived  Point = "install-received"  // after the leader's snapshot has come, before anything is replaced
	InstallReplaced  Point = "install-replaced"  // after its engine has become the current one, before it is used
	CallSend         Point = "call-send"         // before a call of Raft is sent to another node, other than a heartbeat
	CompactBegin     Point = "compact-begin"     // before entries of the log are removed
	CompactEnd       Point = "compact-end"       // after that
	HandoverDrain    Point = "handover-drain"    // before the instances of a partition that moves hibernate
	HandoverRelease  Point = "handover-release"  // after that, before the partition is released
	HandoverTransfer Point = "handover-transfer" // before leadership is handed over
)

// All returns the points in order.
func All() []Point {
	return []Point{
		ApplyBegin, ApplyEnd, SnapshotCut, SnapshotPersist, SnapshotStored, InstallReceived, InstallReplaced, CallSend,
		CompactBegin, CompactEnd, HandoverDrain, HandoverRelease, HandoverTransfer,
	}
}

// Known reports whether p is one of All.
func Known(p Point) bool { return slices.Contains(All(), p) }

// Variable is the environment variable that names the file with the order: the point, a
// blank, and "crash" or a duration to wait, such as "apply-end crash". A missing or empty
// file means nothing. The process looks at the file every few milliseconds.
const Variable = "DORMOUSE_FAILPOINT_FILE"

// Tag is the build tag.
const Tag = "failpoints"
