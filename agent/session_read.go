package agent

// GetSession reads a whole session.
type GetSession struct{ Session string }

// ListSessions lists sessions in id order: all, those of one status, owner or agent,
// those that can be recovered, or those with members of metadata. At most one of the five filters is
// allowed.
type ListSessions struct {
	Page
	Status      SessionStatus
	Owner       string // of the lease, current or expired
	Agent       string
	Recoverable bool
	Where       Where
}

// GetReview reads a review.
type GetReview struct{ Review string }

// ListReviews lists reviews by deadline, those without one last. Reviews of one
// session are in the order of their requests. Page.Prefix must be empty; After is the
// Next of the previous page.
type ListReviews struct {
	Page
	Status   ReviewStatus // "" means pending; of a session, any
	Before   int64        // Unix ms: only reviews with an earlier deadline; 0 means any
	Assignee string       // only reviews of this assignee; not with Session
	Session  string
}

func (*GetSession) isRead()   {}
func (*ListSessions) isRead() {}
func (*GetReview) isRead()    {}
func (*ListReviews) isRead()  {}

// SessionList is the result of ListSessions.
type SessionList struct {
	Items []SessionRow
	Next  string
}

// ReviewList is the result of ListReviews.
type ReviewList struct {
	Items []Review
	Next  string // opaque
}

func (*Session) isFound()     {}
func (*SessionList) isFound() {}
func (*Review) isFound()      {}
func (*ReviewList) isFound()  {}

// validSessionRead validates a read of sessions, reviews or erasures.
func validSessionRead(read Read) error {
	switch r := read.(type) {
	case *GetSession:
		return validSessionID("session", r.Session)
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
		validRows(r.Page),
		validWord("status", r.Status, SessionNew, SessionRunning, SessionHibernated, SessionWaiting, SessionFinished, SessionFailed, SessionCancelled, ""),
		optionalID("owner_id", r.Owner), optionalID("agent_id", r.Agent), r.Where.validate(),
	); err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{r.Status != "", r.Owner != "", r.Agent != "", r.Recoverable, len(r.Where) > 0} {
		if is {
			given++
		}
	}
	if r.Recoverable && r.Order == Descending {
		return Invalid("order", "recoverable sessions are listed in ascending order: leave order out")
	}
	if given > 1 {
		return Invalid("status", "list sessions by one of status, owner, agent, recoverable and metadata, not by %d of them", given)
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
		return Invalid("prefix", "reviews are listed by deadline: leave prefix out")
	case r.Before < 0:
		return Invalid("before", "before = %d must not be negative", r.Before)
	case r.Session != "" && (r.Assignee != "" || r.Before != 0):
		return Invalid("session", "a session's reviews are listed without a filter: leave assignee and before out")
	}
	return nil
}
