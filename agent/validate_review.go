package agent

import "fmt"

// reviewPrefix begins the id of a review that names its interrupt alone.
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
		settle("arguments", &d.Arguments), settle("metadata", &d.Metadata),
		validSpan("ttl", d.TTL, TTLMax), validSpan("escalate_after", d.EscalateAfter, TTLMax),
	); err != nil {
		return err
	}
	switch {
	case d.EscalateTo != "" && d.EscalateAfter == 0:
		return Invalid("escalate_after", "escalate_after is missing: say when %q is to be the assignee", d.EscalateTo)
	case d.TTL != 0 && d.EscalateAfter >= d.TTL:
		return Invalid("escalate_after", "escalate_after = %v must come before the ttl of %v is over", d.EscalateAfter, d.TTL)
	}
	t.bytes += len(d.ID) + len(d.InterruptID) + len(d.RequestID) + len(d.Operation) + len(d.Assignee) + len(d.EscalateTo)
	return t.contents("arguments", ReviewBytesMax, "review_bytes_max", d.Arguments, d.Metadata, JSON(d.Reason))
}

func (t *tally) decideReview(o *DecideReview) error {
	t.bytes += len(o.Review) + len(o.By) + len(o.InterruptID)
	if err := firstOf(
		ValidID("review", o.Review), ValidID("by", o.By), optionalID("interrupt_id", o.InterruptID),
		validWord("decision", o.Decision, DecideApprove, DecideDeny, DecideEdit),
		validText("note", "review_bytes_max", o.Note, ReviewBytesMax),
		settle("arguments", &o.Arguments),
	); err != nil {
		return err
	}
	switch {
	case o.Decision == DecideEdit && o.Arguments == nil:
		return Invalid("arguments", "arguments are missing: an edit says what to call the operation with")
	case o.Decision != DecideEdit && o.Arguments != nil:
		return Invalid("arguments", "arguments go with an edit only: leave them out, or decide to edit")
	}
	return t.contents("arguments", ReviewBytesMax, "review_bytes_max", o.Arguments, JSON(o.Note))
}
