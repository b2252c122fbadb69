package agent

import "time"

// Review is a question that a turn waits for a person to answer. It is
// answered once, or expires.
type Review struct {
	ID          string
	Incarnation uint64 // of its session
	Session     string
	RequestID   string
	InterruptID string
	Operation   string // the capability that is to be called
	Arguments   JSON   // an object
	Reason      string
	Metadata    JSON   // an object
	Assignee    string // "" for anybody
	EscalateTo  string // who is the assignee once it is escalated; "" for no other
	Escalated   bool
	Status      ReviewStatus
	CreatedAt   int64 // Unix ms
	ExpiresAt   int64 // 0 means never
	EscalateAt  int64 // 0 means never
	DecidedBy   string
	DecidedAt   int64
	Decided     JSON // the arguments of an edit; nil otherwise
	Note        string
}

// ReviewStatus says what became of a review.
type ReviewStatus string

// The statuses. Only a pending review changes.
const (
	ReviewPending   ReviewStatus = "pending"
	ReviewApproved  ReviewStatus = "approved"
	ReviewDenied    ReviewStatus = "denied"
	ReviewEdited    ReviewStatus = "edited"
	ReviewExpired   ReviewStatus = "expired"
	ReviewWithdrawn ReviewStatus = "withdrawn" // its session went on without it
)

// ReviewDraft asks for a review. One that its session has asked for before,
// under the same id, stays as it is, decided or not.
type ReviewDraft struct {
	ID            string // "" means "review:" and the interrupt's id
	InterruptID   string
	RequestID     string // "" means the one that the turn answers
	Operation     string
	Arguments     JSON
	Reason        string
	Metadata      JSON
	Assignee      string
	EscalateTo    string
	TTL           time.Duration // from the commit on; 0 means it does not expire
	EscalateAfter time.Duration // 0 means it is not escalated
}

// ReviewDecision is a person's answer.
type ReviewDecision string

// The decisions.
const (
	DecideApprove ReviewDecision = "approve"
	DecideDeny    ReviewDecision = "deny"
	DecideEdit    ReviewDecision = "edit" // approve with other arguments
)

// DecideReview answers a review, once and for all. One that has been answered
// is review_already_decided, one that has expired approval_expired. The answer
// is recorded in the session's thread, where it names one; a session that has
// no other pending review hibernates, to be resumed. In classic mode a denial
// fails the session.
type DecideReview struct {
	Review      string
	Decision    ReviewDecision
	By          string
	Arguments   JSON // of an edit: an object
	Note        string
	InterruptID string // "" means any; another than the review's is refused
}

func (*DecideReview) isOp() {}

// ReviewResult answers DecideReview: the review as it stands after the op.
type ReviewResult struct{ Review Review }

func (*ReviewResult) isOpResult() {}

// KindReviewDecision is the kind of the entry that records an answer.
const KindReviewDecision = "review_decision"

// KindTurnRolledBack is the kind of the entry that says which entries of a
// thread belong to a turn that was undone.
const KindTurnRolledBack = "turn_rolled_back"
