package fsm

import "math"

// Kinds of sessions and reviews; keys.go says what all keys have in common.
const (
	kindSession            = "\x58" // session → logpb.SessionRow
	kindSessionBody        = "\x59" // session → logpb.SessionBody
	kindSessionRequest     = "\x5a" // session, ordinal → logpb.SessionRequest
	kindSessionSnapshot    = "\x5b" // session, ordinal → logpb.SessionSnapshot
	kindSessionQueue       = "\x5c" // session, ordinal → logpb.SessionRequest
	kindSessionStatus      = "\x5d" // status, session: an index
	kindSessionAgent       = "\x5e" // agent, session: an index
	kindSessionOwner       = "\x5f" // owner of the lease, session: an index
	kindSessionRecoverable = "\x60" // session → when its lease was cleared away, lapsed; see leaseLapsed
	kindSessionTombstone   = "\x61" // session → logpb.Tombstone
	kindReview             = "\x62" // review → logpb.ReviewRow
	kindReviewStatus       = "\x63" // status, deadline, review: an index
	kindReviewAssignee     = "\x64" // assignee, status, deadline, review: an index
	kindReviewSession      = "\x65" // session, ordinal → review
)

// sessionKinds are those of scopedKinds.
var sessionKinds = []string{
	kindSession, kindSessionBody, kindSessionRequest, kindSessionSnapshot, kindSessionQueue,
	kindSessionStatus, kindSessionAgent, kindSessionOwner, kindSessionRecoverable, kindSessionTombstone,
	kindReview, kindReviewStatus, kindReviewAssignee, kindReviewSession,
}

// indexed is what an index's row holds, where its key says everything: not
// nothing, which a scan could not tell from a failure.
var indexed = []byte{1}

// indexKey names a row of an index over sessions: the value that it is found
// by, then the session.
func indexKey(kind, scope, value, session string) string {
	return idKey(kind, scope, value) + session + separator
}

// ordinalKey names one of a session's numbered rows.
func ordinalKey(kind, scope, session string, ordinal uint64) string {
	return idKey(kind, scope, session) + encodeNumber(ordinal)
}

// reviewPlace is where a review stands in an index by deadline: one that never
// expires comes last.
func reviewPlace(expiresAt int64, review string) string {
	deadline := uint64(math.MaxUint64)
	if expiresAt != 0 {
		deadline = uint64(expiresAt)
	}
	return encodeNumber(deadline) + review
}
