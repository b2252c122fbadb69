package agent

import (
	"fmt"
	"slices"
	"time"
)

// Review is a question of a turn that a person must answer. It is answered once, or
// expires.
type Review struct {
	ID          string
	Incarnation uint64 // of its session
	Session     string
	RequestID   string
	InterruptID string
	Operation   string // the operation to approve
	Arguments   JSON   // an object
	Reason      string
	Metadata    JSON   // an object
	Assignee    string // "" for any person
	EscalateTo  string // the assignee after escalation; "" for no change
	Escalated   bool
	Deciders    []string // the principals who may decide it; none means any with the right to decide
	Status      ReviewStatus
	CreatedAt   int64 // Unix ms
	ExpiresAt   int64 // 0 means never
	EscalateAt  int64 // 0 means never
	DecidedBy   string
	DecidedAt   int64
	Decided     JSON // the arguments of an edit; nil otherwise
	Note        string
}

// ReviewStatus is the status of a review.
type ReviewStatus string

// The statuses. Only a pending review changes.
const (
	ReviewPending   ReviewStatus = "pending"
	ReviewApproved  ReviewStatus = "approved"
	ReviewDenied    ReviewStatus = "denied"
	ReviewEdited    ReviewStatus = "edited"
	ReviewExpired   ReviewStatus = "expired"
	ReviewWithdrawn ReviewStatus = "withdrawn" // its session continued without it
)

// ReviewDraft requests a review. If its session has requested a review under the same
// id before, that one stays unchanged, decided or not.
type ReviewDraft struct {
	ID            string // "" means "review:" and the interrupt's id
	InterruptID   string
	RequestID     string // "" means the request that the turn answers
	Operation     string
	Arguments     JSON
	Reason        string
	Metadata      JSON
	Assignee      string
	EscalateTo    string
	Deciders      []string      // the principals who may decide it; none means any. Nodes that ask for no tokens know no principals, and ignore it
	TTL           time.Duration // from the commit; 0 means it does not expire
	EscalateAfter time.Duration // 0 means it is not escalated
}

// ReviewDecision is a person's decision.
type ReviewDecision string

// The decisions.
const (
	DecideApprove ReviewDecision = "approve"
	DecideDeny    ReviewDecision = "deny"
	DecideEdit    ReviewDecision = "edit" // approve with other arguments
)

// MayDecide reports whether a principal may decide the review. A node that asks for no tokens knows
// no principal, "", and lets anybody decide.
func (r *Review) MayDecide(principal string) bool {
	return principal == "" || len(r.Deciders) == 0 || slices.Contains(r.Deciders, principal)
}

// NotADecider returns the refusal of a decision by a principal who may not decide the review.
func NotADecider(review, principal string) *Error {
	return Errorf(CodeForbidden, "principal %q may not decide review %q: it names others as deciders", principal, review)
}

// DecideReview decides a review, once. A principal who is not among its deciders is forbidden. A decided review is review_already_decided, an
// expired one approval_expired. The decision is recorded in the session's thread, if
// it names one. A session without other pending reviews hibernates and can then be
// resumed. In classic mode a denial fails the session.
type DecideReview struct {
	Review      string
	Decision    ReviewDecision
	By          string
	Arguments   JSON // of an edit: an object
	Note        string
	InterruptID string // "" means any; one that differs from the review's is refused
}

// ReviewResult is the result of DecideReview: the review after the op.
type ReviewResult struct{ Review Review }

func (*ReviewResult) isOpResult() {}

// KindReviewDecision is the kind of the entry that records a decision.
const KindReviewDecision = "review_decision"

// KindTurnRolledBack is the kind of the entry that names the entries of a turn that
// was rolled back.
const KindTurnRolledBack = "turn_rolled_back"

// reviewPrefix begins the id of a review that was requested without one.
const reviewPrefix = "review:"

func (t *tally) reviews(drafts []ReviewDraft) error {
	if len(drafts) > SessionReviewsMax {
		return TooLarge("reviews", "session_reviews_max", len(drafts), SessionReviewsMax)
	}
	for i := range drafts {
		if err := t.review(&drafts[i]); err != nil {
			return within(err, fmt.Sprintf("reviews[%d]", i))
		}
	}
	return nil
}

func (t *tally) review(d *ReviewDraft) error {
	if d.ID == "" && d.InterruptID != "" {
		d.ID = reviewPrefix + d.InterruptID
	}
	if err := firstOf(
		ValidID("id", d.ID), optionalID("interrupt_id", d.InterruptID), optionalID("request_id", d.RequestID),
		optionalID("assignee", d.Assignee), optionalID("escalate_to", d.EscalateTo),
		validText("operation", "id_bytes_max", d.Operation, IDBytesMax),
		validText("reason", "review_bytes_max", d.Reason, ReviewBytesMax),
		normalize("arguments", &d.Arguments), normalize("metadata", &d.Metadata),
		validSpan("ttl", d.TTL, TTLMax), validSpan("escalate_after", d.EscalateAfter, TTLMax),
	); err != nil {
		return err
	}
	if len(d.Deciders) > ReviewDecidersMax {
		return TooLarge("deciders", "review_deciders_max", len(d.Deciders), ReviewDecidersMax)
	}
	for i, name := range d.Deciders {
		if err := ValidID(fmt.Sprintf("deciders[%d]", i), name); err != nil {
			return err
		}
		t.bytes += len(name)
	}
	switch {
	case d.EscalateTo != "" && d.EscalateAfter == 0:
		return Invalid("escalate_after", "escalate_after is missing: say when %q becomes the assignee", d.EscalateTo)
	case d.TTL != 0 && d.EscalateAfter >= d.TTL:
		return Invalid("escalate_after", "escalate_after = %v must be shorter than ttl = %v", d.EscalateAfter, d.TTL)
	}
	t.bytes += len(d.ID) + len(d.InterruptID) + len(d.RequestID) + len(d.Operation) + len(d.Assignee) + len(d.EscalateTo)
	return t.contents("arguments", ReviewBytesMax, "review_bytes_max", d.Arguments, d.Metadata, JSON(d.Reason))
}

func (o *DecideReview) validateOp(t *tally) error {
	t.bytes += len(o.Review) + len(o.By) + len(o.InterruptID)
	if err := firstOf(
		ValidID("review", o.Review), ValidID("by", o.By), optionalID("interrupt_id", o.InterruptID),
		validWord("decision", o.Decision, DecideApprove, DecideDeny, DecideEdit),
		validText("note", "review_bytes_max", o.Note, ReviewBytesMax),
		normalize("arguments", &o.Arguments),
	); err != nil {
		return err
	}
	switch {
	case o.Decision == DecideEdit && o.Arguments == nil:
		return Invalid("arguments", "arguments are missing: an edit replaces the arguments of the operation")
	case o.Decision != DecideEdit && o.Arguments != nil:
		return Invalid("arguments", "arguments go with an edit only: leave them out, or decide to edit")
	}
	return t.contents("arguments", ReviewBytesMax, "review_bytes_max", o.Arguments, JSON(o.Note))
}
