package turn

import (
	"encoding/json"
	"fmt"

	"dormouse/agent"
)

// DeniedError reports that a person denied an effect, or did not answer in
// time. The effect was not called. The turn may continue without it.
type DeniedError struct {
	Effect string
	Review agent.Review
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s: effect %s is %s by %q: %s", e.code(), e.Effect, e.Review.Status, e.Review.DecidedBy, e.Review.Note)
}

func (e *DeniedError) code() string {
	if e.Review.Status == agent.ReviewExpired {
		return string(agent.CodeApprovalExpired)
	}
	return "approval_denied"
}

// approve returns nil for an effect without a review, or with an approved one.
// Without a decision the turn pauses and the session waits. A decision holds for
// one request: a review of another one is refused with invalid.
func (t *Turn) approve(e Effect, r *effectRecord, key string) error {
	if e.Review == nil || r.Begun {
		return nil
	}
	draft := *e.Review
	if draft.InterruptID == "" {
		draft.InterruptID = key
	}
	if draft.ID == "" {
		draft.ID = "review:" + draft.InterruptID
	}
	if draft.Operation == "" {
		draft.Operation = e.Name
	}
	if draft.Arguments == nil {
		draft.Arguments = arguments(agent.JSON(r.Input))
	}
	request := draft.RequestID
	if request == "" {
		request = t.request.ID
	}
	review, exists := t.reviews[draft.ID]
	switch {
	case exists && review.RequestID != request:
		return agent.Invalid("review", "effect %s asks for review %q, which belongs to request %q, not %q: use an id of its own for each request",
			e.ID, draft.ID, review.RequestID, request)
	case !exists || review.Status == agent.ReviewPending:
		t.locked(func() { t.newReviews = append(t.newReviews, draft) })
		return fmt.Errorf("%w for a review of effect %s", ErrPaused, e.ID)
	case review.Status == agent.ReviewApproved:
		return nil
	case review.Status == agent.ReviewEdited:
		t.locked(func() { r.Edited = edited(agent.JSON(r.Input), review.Decided) })
		return nil
	default:
		return &DeniedError{Effect: e.ID, Review: review}
	}
}

// arguments returns an input for a reviewer: an object unchanged, another value
// as its member "input".
func arguments(input agent.JSON) agent.JSON {
	if len(input) > 0 && input[0] == '{' {
		return input
	}
	return agent.JSON(`{"input":` + string(input) + `}`)
}

// edited returns the input that a reviewer has decided: the reverse of arguments. What does not have its
// form replaces the input as it is.
func edited(input, decided agent.JSON) json.RawMessage {
	var members map[string]json.RawMessage
	if len(input) > 0 && input[0] == '{' || json.Unmarshal(decided, &members) != nil {
		return json.RawMessage(decided)
	}
	if only, ok := members["input"]; ok && len(members) == 1 {
		return only
	}
	return json.RawMessage(decided)
}
