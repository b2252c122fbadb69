package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"

	"dormouse/sdk/go/agent"
)

// ErrStaleSession is the error of an event for a session that another writer has changed,
// or deleted, since it was read. Nothing was stored: read the session again.
var ErrStaleSession = errors.New("the session was changed by another writer since it was read: get it again")

// The kinds of entries in a session's thread. The first entry marks the creation.
const (
	createdKind = "adk.created"
	eventKind   = "adk.event"
)

// attemptsMax is how often a change of the state of a user or an app, or the next version of
// an artifact, is tried because other writers come first.
const attemptsMax = 64

// Sessions is a session.Service. Its methods may be called concurrently, in any number of
// processes.
type Sessions struct {
	service agent.Service
	scope   string
}

var _ session.Service = (*Sessions)(nil)

// NewSessions returns a session service that keeps sessions in a scope of a service, such as
// a *client.Client; "" means the client's own scope.
func NewSessions(service agent.Service, scope string) *Sessions { return &Sessions{service, scope} }

// sessionRow is the value of a session.
type sessionRow struct {
	State   encodedState `json:"state"`
	Updated time.Time    `json:"updated"` // of the last change of the state
}

// Create creates a session, and adds its state of the user and the app to theirs.
func (s *Sessions) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req.AppName == "" || req.UserID == "" {
		return nil, fmt.Errorf("create a session: AppName is %q and UserID is %q: give both", req.AppName, req.UserID)
	}
	created := &storedSession{app: req.AppName, user: req.UserID, id: req.SessionID, updated: platform.Now(ctx)}
	if created.id == "" {
		created.id = platform.NewUUID(ctx)
	}
	delta := divide(req.State)
	var err error
	if created.own, err = encodedState(nil).with(delta.session); err != nil {
		return nil, fmt.Errorf("create session %s: %w", created.id, err)
	}
	row, err := putState(created.key(), sessionRow{created.own, created.updated})
	if err != nil {
		return nil, err
	}
	none := uint64(0)
	row.IfRevision = &none
	thread := &agent.AppendThread{Thread: created.key(), ExpectedRev: &none, Entries: []agent.Draft{{Kind: createdKind}}}
	result, app, user, err := s.commit(ctx, created, delta, thread, row)
	if code := agent.CodeOf(err); code == agent.CodeConflict || code == agent.CodeRevisionMismatch {
		return nil, fmt.Errorf("create a session: session %s of user %s exists already: %w", created.id, created.user, err)
	}
	if err != nil {
		return nil, fmt.Errorf("create session %s: %w", created.id, err)
	}
	made := result.Results[0].(*agent.ThreadResult).Thread
	created.incarnation, created.rev = made.Incarnation, made.Rev
	created.state = merge(app, user, delta.session)
	return &session.CreateResponse{Session: created}, nil
}

// key returns the key of the session's value and thread.
func (s *storedSession) key() string { return keyOf(sessionKind, s.app, s.user, s.id) }

// commit commits ops together with the changes of the states of the app and the user. It
// reads these states, and tries again if another writer has changed one since. It returns
// them as they are after the commit.
func (s *Sessions) commit(ctx context.Context, of *storedSession, delta deltas, ops ...agent.Op) (result agent.Result, app, user map[string]any, err error) {
	always := of.state == nil // a new session shows the states of the app and the user
	for attempt := 1; ; attempt++ {
		all := ops
		if always || len(delta.app)+len(delta.user) > 0 {
			states, err := s.shared(ctx, of.app, of.user)
			if err != nil {
				return agent.Result{}, nil, nil, err
			}
			app, user = states[0].state, states[1].state
			for i, changes := range []map[string]any{delta.app, delta.user} {
				if len(changes) == 0 {
					continue
				}
				op, err := states[i].with(changes)
				if err != nil {
					return agent.Result{}, nil, nil, err
				}
				all = append(all[:len(all):len(all)], op)
				maps.Copy(states[i].state, changes)
			}
		}
		result, err = s.service.Commit(ctx, agent.Commit{Scope: s.scope, Ops: all})
		if !refusedAfter(err, len(ops)) || attempt == attemptsMax {
			return result, app, user, err
		}
	}
}

// refusedAfter reports whether a comparison of an op after the first n failed.
func refusedAfter(err error, n int) bool {
	var e *agent.Error
	return errors.As(err, &e) && e.Op >= n && (e.Code == agent.CodeRevisionMismatch || e.Code == agent.CodeDeleted)
}

// shared reads the states of an app and a user at one index.
func (s *Sessions) shared(ctx context.Context, app, user string) ([2]shared, error) {
	keys := [2]string{keyOf(appKind, app), keyOf(userKind, app, user)}
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{&agent.GetValue{Key: keys[0]}, &agent.GetValue{Key: keys[1]}}})
	if err != nil {
		return [2]shared{}, err
	}
	var states [2]shared
	for i, key := range keys {
		if states[i], err = sharedIn(key, answers.Answers[i]); err != nil {
			return states, err
		}
	}
	return states, nil
}

// Delete deletes a session with its events. It succeeds if there is none. An event that
// is appended later is refused, also if a session of this id is created again.
func (s *Sessions) Delete(ctx context.Context, req *session.DeleteRequest) error {
	of, err := named(req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return fmt.Errorf("delete a session: %w", err)
	}
	ops := []agent.Op{&agent.DeleteThread{Thread: of.key()}, &agent.DeleteValue{Key: of.key()}}
	if _, err := s.service.Commit(ctx, agent.Commit{Scope: s.scope, Ops: ops}); err != nil {
		return fmt.Errorf("delete session %s: %w", of.id, err)
	}
	return nil
}

// named returns a session with its names only.
func named(app, user, id string) (*storedSession, error) {
	if app == "" || user == "" || id == "" {
		return nil, fmt.Errorf("AppName is %q, UserID is %q and SessionID is %q: give all three", app, user, id)
	}
	return &storedSession{app: app, user: user, id: id}, nil
}

// decodeRow decodes the value of a session, and its state.
func decodeRow(v *agent.Value) (row sessionRow, state map[string]any, err error) {
	if err = json.Unmarshal(v.Bytes, &row); err == nil {
		state, err = row.State.decoded()
	}
	if err != nil {
		return row, nil, fmt.Errorf("decode the session in value %s: %w", v.Key, err)
	}
	return row, state, nil
}
