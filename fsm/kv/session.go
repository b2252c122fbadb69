package kv

import "math"

// Kinds of sessions and reviews; see keys.go for the form of all keys.
const (
	KindSession            = "\x58" // session → logpb.SessionRow
	KindSessionBody        = "\x59" // session → logpb.SessionBody
	KindSessionRequest     = "\x5a" // session, ordinal → logpb.SessionRequest
	KindSessionSnapshot    = "\x5b" // session, ordinal → logpb.SessionSnapshot
	KindSessionQueue       = "\x5c" // session, ordinal → logpb.SessionRequest
	KindSessionStatus      = "\x5d" // status, session: an index
	KindSessionAgent       = "\x5e" // agent, session: an index
	KindSessionOwner       = "\x5f" // owner of the lease, session: an index
	KindSessionRecoverable = "\x60" // session → when its expired lease was removed; see leaseLapsed
	KindSessionTombstone   = "\x61" // session → logpb.Tombstone
	KindReview             = "\x62" // review → logpb.ReviewRow
	KindReviewStatus       = "\x63" // status, deadline, review: an index
	KindReviewAssignee     = "\x64" // assignee, status, deadline, review: an index
	KindReviewSession      = "\x65" // session, ordinal → review
)

// sessionKinds are part of ScopedKinds.
var sessionKinds = []string{
	KindSession, KindSessionBody, KindSessionRequest, KindSessionSnapshot, KindSessionQueue,
	KindSessionStatus, KindSessionAgent, KindSessionOwner, KindSessionRecoverable, KindSessionTombstone,
	KindReview, KindReviewStatus, KindReviewAssignee, KindReviewSession,
}

// Indexed is the value of an index row whose key says everything. It is not empty, because a scan
// cannot distinguish an empty value from a failure.
var Indexed = []byte{1}

// IndexKey returns the key of an index row of sessions: the indexed value, then the session.
func IndexKey(kind, scope, value, session string) string {
	return IDKey(kind, scope, value) + session + Separator
}

// OrdinalKey returns the key of a session's numbered row.
func OrdinalKey(kind, scope, session string, ordinal uint64) string {
	return IDKey(kind, scope, session) + EncodeNumber(ordinal)
}

// ReviewPlace returns the place of a review in an index by deadline: one that never expires is
// last.
func ReviewPlace(expiresAt int64, review string) string {
	deadline := uint64(math.MaxUint64)
	if expiresAt != 0 {
		deadline = uint64(expiresAt)
	}
	return EncodeNumber(deadline) + review
}
