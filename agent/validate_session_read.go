package agent

// validSessionRead judges a read of sessions, reviews or erasures.
func validSessionRead(read Read) error {
	switch r := read.(type) {
	case *GetSession:
		return ValidSessionID("session", r.Session)
	case *ListSessions:
		return r.validate()
	case *GetReview:
		return ValidID("review", r.Review)
	case *ListReviews:
		return r.validate()
	case *GetErasure:
		return ValidID("agent", r.Agent)
	default:
		return validConversationRead(read)
	}
}

func (r *ListSessions) validate() error {
	if err := firstOf(
		validPage(r.Page),
		validWord("status", r.Status, SessionNew, SessionRunning, SessionHibernated, SessionWaiting, SessionFinished, SessionFailed, SessionCancelled, ""),
		optionalID("owner_id", r.Owner), optionalID("agent_id", r.Agent),
	); err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{r.Status != "", r.Owner != "", r.Agent != "", r.Recoverable} {
		if is {
			given++
		}
	}
	if given > 1 {
		return Invalid("status", "list sessions by one of status, owner, agent and recoverable, not by %d of them", given)
	}
	return nil
}

func (r *ListReviews) validate() error {
	if err := firstOf(
		validPage(r.Page),
		validWord("status", r.Status, ReviewPending, ReviewApproved, ReviewDenied, ReviewEdited, ReviewExpired, ReviewWithdrawn, ""),
		optionalID("assignee", r.Assignee), optionalID("session", r.Session),
	); err != nil {
		return err
	}
	switch {
	case r.Prefix != "":
		return Invalid("prefix", "reviews are listed by deadline: a prefix means nothing")
	case r.Before < 0:
		return Invalid("before", "before = %d must not be negative", r.Before)
	case r.Session != "" && (r.Assignee != "" || r.Before != 0):
		return Invalid("session", "a session's reviews are listed all together: leave assignee and before out")
	}
	return nil
}
