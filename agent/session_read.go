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
