package adk

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/adk/v2/session"

	"dormouse/sdk/go/agent"
)

// Get reads a session with its events, all as of one index.
func (s *Sessions) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	of, err := named(req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, fmt.Errorf("get a session: %w", err)
	}
	load := &agent.LoadEntries{Thread: of.key(), Tail: uint64(max(req.NumRecentEvents, 0))}
	keys := [2]string{keyOf(appKind, of.app), keyOf(userKind, of.app, of.user)}
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{
		load, &agent.GetValue{Key: of.key()}, &agent.GetValue{Key: keys[0]}, &agent.GetValue{Key: keys[1]},
	}})
	if err != nil {
		return nil, fmt.Errorf("get session %s: %w", of.id, err)
	}
	for _, a := range answers.Answers[:2] {
		if a.Err != nil {
			return nil, fmt.Errorf("get session %s of user %s: %w", of.id, of.user, a.Err)
		}
	}
	row, state, err := decodeRow(answers.Answers[1].Found.(*agent.Value))
	if err != nil {
		return nil, err
	}
	var states [2]shared
	for i, key := range keys {
		if states[i], err = sharedIn(key, answers.Answers[2+i]); err != nil {
			return nil, fmt.Errorf("get session %s: %w", of.id, err)
		}
	}
	of.own, of.updated = row.State, row.Updated
	of.state = merge(states[0].state, states[1].state, state)
	if err := s.load(ctx, of, answers.Answers[0].Found.(*agent.Entries)); err != nil {
		return nil, fmt.Errorf("get session %s: %w", of.id, err)
	}
	if !req.After.IsZero() {
		for len(of.events) > 0 && of.events[0].Timestamp.Before(req.After) {
			of.events = of.events[1:]
		}
	}
	return &session.GetResponse{Session: of}, nil
}

// load fills in the events of a session from the first page of its thread, and reads the
// further ones.
func (s *Sessions) load(ctx context.Context, of *storedSession, page *agent.Entries) error {
	of.incarnation, of.rev = page.Thread.Incarnation, page.Thread.Rev
	for {
		for _, e := range page.Items {
			if e.Kind != eventKind {
				continue
			}
			event, err := decodeEvent(e)
			if err != nil {
				return err
			}
			of.events, of.updated = append(of.events, event), event.Timestamp
		}
		if page.Next == nil {
			return nil
		}
		answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{
			&agent.LoadEntries{Thread: of.key(), From: *page.Next, AtRev: &of.rev},
		}})
		if err != nil {
			return err
		}
		if failed := answers.Answers[0].Err; failed != nil {
			return failed
		}
		page = answers.Answers[0].Found.(*agent.Entries)
		if page.Thread.Incarnation != of.incarnation {
			return ErrStaleSession // it was deleted and created again between two pages
		}
	}
}

func decodeEvent(e agent.Entry) (*session.Event, error) {
	event := new(session.Event)
	if err := json.Unmarshal(e.Payload, event); err != nil {
		return nil, fmt.Errorf("decode the event in entry %s: %w", e.ID, err)
	}
	return event, nil
}

// listBatch is how many sessions one request of List reads: two reads for each, and those
// of the states of their users.
const listBatch = agent.ReadsMax / 4

// List reads the sessions of a user, or of all users of an app if UserID is "". The
// sessions have states, and no events.
func (s *Sessions) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req.AppName == "" {
		return nil, fmt.Errorf("list sessions: AppName is missing")
	}
	names := []string{req.AppName}
	if req.UserID != "" {
		names = append(names, req.UserID)
	}
	prefix := keyOf(sessionKind, names...) + "/"
	response := &session.ListResponse{Sessions: []session.Session{}}
	page := agent.Page{Prefix: prefix, Limit: listBatch}
	for {
		answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{&agent.ListValues{Page: page}}})
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if failed := answers.Answers[0].Err; failed != nil {
			return nil, fmt.Errorf("list sessions: %w", failed)
		}
		found := answers.Answers[0].Found.(*agent.ValueList)
		sessions, err := s.listed(ctx, found.Items)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		response.Sessions = append(response.Sessions, sessions...)
		if found.Next == "" {
			return response, nil
		}
		page.After = found.Next
	}
}

// listed reads the sessions of some rows, in several requests if their answers are too large
// for one. It leaves out those that were deleted since.
func (s *Sessions) listed(ctx context.Context, rows []agent.ValueRow) ([]session.Session, error) {
	var reads []agent.Read
	var all []*storedSession
	for _, row := range rows {
		names, err := namesIn(row.Key, sessionKind+"/")
		if err != nil || len(names) != 3 {
			return nil, fmt.Errorf("value %s is not a session of this adapter: keep others out of %s/", row.Key, sessionKind)
		}
		all = append(all, &storedSession{app: names[0], user: names[1], id: names[2]})
		reads = append(reads,
			&agent.GetValue{Key: row.Key}, &agent.LoadEntries{Thread: row.Key, Tail: 1},
			&agent.GetValue{Key: keyOf(appKind, names[0])}, &agent.GetValue{Key: keyOf(userKind, names[0], names[1])})
	}
	if len(reads) == 0 {
		return nil, nil
	}
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: reads})
	if half := len(rows) / 2; half > 0 && agent.CodeOf(err) == agent.CodeTooLarge {
		sessions, err := s.listed(ctx, rows[:half])
		if err != nil {
			return nil, err
		}
		rest, err := s.listed(ctx, rows[half:])
		return append(sessions, rest...), err
	}
	if err != nil {
		return nil, err
	}
	var sessions []session.Session
	for i, of := range all {
		exists, err := of.fill([4]agent.Answer(answers.Answers[4*i:]))
		if err != nil {
			return nil, err
		}
		if exists {
			sessions = append(sessions, of)
		}
	}
	return sessions, nil
}

// fill fills in a session of a list from its value, its last entry, and the states of its
// app and its user. It reports whether the session still exists.
func (s *storedSession) fill(a [4]agent.Answer) (exists bool, err error) {
	for _, one := range a[:2] {
		if one.Err != nil {
			if one.Err.Code == agent.CodeNotFound {
				return false, nil
			}
			return false, one.Err
		}
	}
	row, state, err := decodeRow(a[0].Found.(*agent.Value))
	if err != nil {
		return false, err
	}
	s.own, s.updated = row.State, row.Updated
	page := a[1].Found.(*agent.Entries)
	s.incarnation, s.rev = page.Thread.Incarnation, page.Thread.Rev
	for _, e := range page.Items {
		if e.Kind != eventKind {
			continue
		}
		event, err := decodeEvent(e)
		if err != nil {
			return false, err
		}
		s.updated = event.Timestamp
	}
	app, err := sharedIn(keyOf(appKind, s.app), a[2])
	if err != nil {
		return false, err
	}
	user, err := sharedIn(keyOf(userKind, s.app, s.user), a[3])
	if err != nil {
		return false, err
	}
	s.state = merge(app.state, user.state, state)
	return true, nil
}
