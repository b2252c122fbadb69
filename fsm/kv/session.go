package kv

import "math"

// Kinds of sessions and reviews; keys.go says what all keys have in common.
const (
	KindSession            = "\x58" // session → logpb.SessionRow
	KindSessionBody        = "\x59" // session → logpb.SessionBody
	KindSessionRequest     = "\x5a" // session, ordinal → logpb.SessionRequest
	KindSessionSnapshot    = "\x5b" // session, ordinal → logpb.SessionSnapshot
	KindSessionQueue       = "\x5c" // session, ordinal → logpb.SessionRequest
	KindSessionStatus      = "\x5d" // status, session: an index
	KindSessionAgent       = "\x5e" // agent, session: an index
	KindSessionOwner       = "\x5f" // owner of the lease, session: an index
	KindSessionRecoverable = "\x60" // session → when its lease was cleared away, lapsed; see leaseLapsed
	KindSessionTombstone   = "\x61" // session → logpb.Tombstone
	KindReview             = "\x62" // review → logpb.ReviewRow
	KindReviewStatus       = "\x63" // status, deadline, review: an index
	KindReviewAssignee     = "\x64" // assignee, status, deadline, review: an index
	KindReviewSession      = "\x65" // session, ordinal → review
)

// sessionKinds are those of ScopedKinds.
var sessionKinds = []string{
	KindSession, KindSessionBody, KindSessionRequest, KindSessionSnapshot, KindSessionQueue,
	KindSessionStatus, KindSessionAgent, KindSessionOwner, KindSessionRecoverable, KindSessionTombstone,
	KindReview, KindReviewStatus, KindReviewAssignee, KindReviewSession,
}

// Indexed is what an index's row holds, where its key says everything: not
// nothing, which a scan could not tell from a failure.
var Indexed = []byte{1}

// IndexKey names a row of an index over sessions: the value that it is found
// by, then the session.
func IndexKey(kind, scope, value, session string) string {
	return IDKey(kind, scope, value) + session + Separator
}

// OrdinalKey names one of a session's numbered rows.
func OrdinalKey(kind, scope, session string, ordinal uint64) string {
	return IDKey(kind, scope, session) + EncodeNumber(ordinal)
}

// ReviewPlace is where a review stands in an index by deadline: one that never
// expires comes last.
func ReviewPlace(expiresAt int64, review string) string {
	deadline := uint64(math.MaxUint64)
	if expiresAt != 0 {
		deadline = uint64(expiresAt)
	}
	return EncodeNumber(deadline) + review
}
