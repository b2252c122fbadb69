package agent

// GetSession reads a session with all that is kept of it.
type GetSession struct{ Session string }

// ListSessions lists sessions in id order: all of them, or those of one
// status, owner or agent, or those whose turn is to be recovered. At most one
// of the four is given.
type ListSessions struct {
	Page
	Status      SessionStatus
	Owner       string // of the lease that stands or is to be recovered
	Agent       string
	Recoverable bool
}

// GetReview reads a review.
type GetReview struct{ Review string }

// ListReviews lists reviews by deadline, those without one last; a session's
// in the order in which they were asked for. Page.Prefix is not used; After is
// the Next of the page before.
type ListReviews struct {
	Page
	Status   ReviewStatus // "" means pending; of a session, any
	Before   int64        // Unix ms: only those whose deadline comes earlier; 0 means any
	Assignee string       // only theirs; not with Session
	Session  string
}

func (*GetSession) isRead()   {}
func (*ListSessions) isRead() {}
func (*GetReview) isRead()    {}
func (*ListReviews) isRead()  {}

// SessionList answers ListSessions.
type SessionList struct {
	Items []SessionRow
	Next  string
}

// ReviewList answers ListReviews.
type ReviewList struct {
	Items []Review
	Next  string // opaque
}

func (*Session) isFound()     {}
func (*SessionList) isFound() {}
func (*Review) isFound()      {}
func (*ReviewList) isFound()  {}

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
