package memstore

import "dormouse/agent"

// sessionRead answers a read of sessions or reviews.
func (st *Store) sessionRead(s *scope, read agent.Read) (agent.Found, *agent.Error) {
	h := sessionHost{st, s}
	switch q := read.(type) {
	case *agent.GetSession:
		if shown := s.sessions.Shown(h, q.Session); shown != nil {
			return shown, nil
		}
		return nil, notFound("session", q.Session)
	case *agent.ListSessions:
		all := map[string]agent.SessionRow{}
		if q.Recoverable {
			all = s.sessions.Recoverable(h)
		} else {
			for id := range s.sessions.Sessions {
				row := s.sessions.Shown(h, id).SessionRow
				owned := q.Owner == "" || row.Lease != nil && row.Lease.Owner == q.Owner
				if owned && (q.Status == "" || row.Status == q.Status) && (q.Agent == "" || row.Agent == q.Agent) {
					all[id] = row
				}
			}
		}
		keys, next := sortedAt(all, q.Page, func(s agent.SessionRow) int64 { return s.UpdatedAt },
			q.Where, func(row agent.SessionRow) agent.JSON { return s.sessions.Shown(h, row.ID).Metadata })
		list := &agent.SessionList{Next: next}
		for _, id := range keys {
			list.Items = append(list.Items, all[id])
		}
		return list, nil
	case *agent.GetReview:
		if review, ok := s.sessions.Reviews[q.Review]; ok {
			return &review, nil
		}
		return nil, notFound("review", q.Review)
	case *agent.ListReviews:
		return reviewPage(s.sessions.List(*q), q.Page), nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "unknown read %T", read)
	}
}

// reviewPage begins after the last review of the previous page.
func reviewPage(all []agent.Review, p agent.Page) *agent.ReviewList {
	from := 0
	for i, r := range all {
		if r.ID == p.After {
			from = i + 1
		}
	}
	all = all[from:]
	if limit := int(p.Limit); limit > 0 && len(all) > limit {
		return &agent.ReviewList{Items: all[:limit], Next: all[limit-1].ID}
	}
	return &agent.ReviewList{Items: all}
}

func (m SessionModel) row(h SessionHost, s ModelSession) agent.SessionRow {
	row := s.SessionRow
	row.RequestCount, row.SnapshotCount, row.QueueLength = uint64(len(s.Requests)), uint64(len(s.Snapshots)), uint64(len(s.Queue))
	if s.Lease != nil {
		lease := *s.Lease
		lease.RequestID = s.RequestID
		lease.ExpiresAt = h.Ends(agent.SessionClaim(s.ID))
		row.Lease, row.Recoverable = &lease, lease.ExpiresAt == 0
	}
	return row
}

// Shown returns a session as it is read; nil if it does not exist.
func (m SessionModel) Shown(h SessionHost, id string) *agent.Session {
	s, ok := m.Sessions[id]
	if !ok {
		return nil
	}
	shown := s.Session
	shown.SessionRow = m.row(h, s)
	if s.Status == agent.SessionFailed || s.Status == agent.SessionCancelled {
		shown.Failure = s.failure
	}
	if s.Status == agent.SessionWaiting || s.Mode == agent.SessionModeClassic {
		for _, review := range m.pending(s) {
			shown.PendingReviews = append(shown.PendingReviews, m.Reviews[review])
		}
	}
	return &shown
}

// Recoverable returns the sessions whose lease has expired.
func (m SessionModel) Recoverable(h SessionHost) map[string]agent.SessionRow {
	all := map[string]agent.SessionRow{}
	for id, s := range m.Sessions {
		if row := m.row(h, s); row.Recoverable {
			all[id] = row
		}
	}
	return all
}

func (m SessionModel) pending(s ModelSession) (ids []string) {
	for _, id := range s.asked {
		if m.Reviews[id].Status == agent.ReviewPending {
			ids = append(ids, id)
		}
	}
	return ids
}
