package session

import (
	"encoding/hex"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// GetReview answers get_review.
func GetReview(r txn.Reader, q *agent.GetReview) (agent.Found, error) {
	row, err := readReview(r.Reader, r.Scope, q.Review)
	if err != nil {
		return nil, err
	}
	if row != nil {
		if gone, err := txn.SessionIDGone(r.Reader, r.Scope, row.Session, r.Progress.Wall); err != nil {
			return nil, err
		} else if gone {
			row = nil
		}
	}
	if row == nil {
		return nil, txn.NotFound("review", q.Review)
	}
	review := currentReview(r, q.Review, row)
	return &review, nil
}

// currentReview returns a review at the view: an overdue one has expired, swept or not.
func currentReview(r txn.Reader, id string, row *logpb.ReviewRow) agent.Review {
	review := command.DecodeReview(id, row)
	if review.Status == agent.ReviewPending && txn.Expired(review.ExpiresAt, r.Progress.Wall) {
		review.Status, review.DecidedAt = agent.ReviewExpired, review.ExpiresAt
	}
	return review
}

// ListReviews answers list_reviews.
func ListReviews(r txn.Reader, q *agent.ListReviews) (agent.Found, error) {
	if q.Session != "" {
		return sessionReviews(r, q)
	}
	status := q.Status
	if status == "" {
		status = agent.ReviewPending
	}
	prefix := kv.IDKey(kv.KindReviewStatus, r.Scope, string(status))
	if q.Assignee != "" {
		prefix = kv.IDKey(kv.KindReviewAssignee, r.Scope, q.Assignee) + string(status) + kv.Separator
	}
	upper := kv.After(prefix)
	if q.Before > 0 {
		upper = prefix + kv.EncodeNumber(uint64(q.Before))
	}
	list := &agent.ReviewList{}
	var err error
	list.Next, err = eachPlace(r, prefix, upper, q.Page, func(key string, _ []byte) (bool, error) {
		if len(key) < len(prefix)+8 {
			return false, nil
		}
		return addReview(r, list, strings.TrimSuffix(key[len(prefix)+8:], kv.Separator), status)
	})
	return list, err
}

// sessionReviews lists one session's reviews in the order of their creation.
func sessionReviews(r txn.Reader, q *agent.ListReviews) (agent.Found, error) {
	prefix := kv.IDKey(kv.KindReviewSession, r.Scope, q.Session)
	list := &agent.ReviewList{}
	var err error
	list.Next, err = eachPlace(r, prefix, kv.After(prefix), q.Page, func(_ string, id []byte) (bool, error) {
		return addReview(r, list, string(id), q.Status)
	})
	return list, err
}

// addReview adds a review to a list, if it has a status; "" means any.
func addReview(r txn.Reader, list *agent.ReviewList, id string, status agent.ReviewStatus) (added bool, err error) {
	row, err := readReview(r.Reader, r.Scope, id)
	if err != nil || row == nil {
		return false, err
	}
	if gone, err := txn.SessionIDGone(r.Reader, r.Scope, row.Session, r.Progress.Wall); err != nil || gone {
		return false, err
	}
	review := currentReview(r, id, row)
	if status != "" && review.Status != status {
		return false, nil
	}
	list.Items = append(list.Items, review)
	return true, nil
}

// eachPlace visits the rows of a page of reviews. The page token is the key of the last row without
// the prefix, in hex, since it contains a number.
func eachPlace(r txn.Reader,
	prefix, upper string, page agent.Page, visit func(key string, value []byte) (added bool, err error),
) (next string, err error) {
	lower := prefix
	if page.After != "" {
		place, err := hex.DecodeString(page.After)
		if err != nil {
			return "", agent.Invalid("after", "invalid page token %q: use the next value of the previous page", page.After)
		}
		lower = prefix + string(place) + "\x00"
	}
	last, err := r.EachOfPage(lower, upper, page.Limit, agent.ReadBytesMax-agent.ReviewBytesMax, func(key string, raw []byte) (int, error) {
		added, err := visit(key, raw)
		if err != nil || !added {
			return 0, err
		}
		return agent.ReviewBytesMax, nil
	})
	if err != nil || last == "" {
		return "", err
	}
	return hex.EncodeToString([]byte(last[len(prefix):])), nil
}
