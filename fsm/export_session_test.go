package fsm

const (
	SweepMax               = sweepMax
	KindSession            = kindSession
	KindSessionRequest     = kindSessionRequest
	KindSessionSnapshot    = kindSessionSnapshot
	KindSessionOwner       = kindSessionOwner
	KindSessionRecoverable = kindSessionRecoverable
	KindSessionQueue       = kindSessionQueue
	KindReview             = kindReview
	KindReviewStatus       = kindReviewStatus
	KindReviewAssignee     = kindReviewAssignee
	KindReviewSession      = kindReviewSession
)
