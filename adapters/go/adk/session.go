package adk

import (
	"iter"
	"maps"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"
)

// storedSession is a session as it was read, and as its owner has changed it since.
type storedSession struct {
	app, user, id string

	// appending is held while an event is appended, so that events of one session that are
	// appended at a time follow each other.
	appending sync.Mutex

	mu          sync.RWMutex   // guards what follows
	incarnation uint64         // of the thread
	rev         uint64         // of the thread, as this session knows it
	own         encodedState   // of the session itself, as it is stored
	state       map[string]any // own, and what the user and the app have
	events      []*session.Event
	updated     time.Time
}

func (s *storedSession) ID() string      { return s.id }
func (s *storedSession) AppName() string { return s.app }
func (s *storedSession) UserID() string  { return s.user }

func (s *storedSession) State() session.State { return state{s} }

func (s *storedSession) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return events(s.events)
}

func (s *storedSession) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.updated
}

// at returns the revision that the next event expects, and the session's own state, which
// nothing changes.
func (s *storedSession) at() (incarnation, rev uint64, own encodedState) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.incarnation, s.rev, s.own
}

// appended adds an event that was stored. delta is its change of state, with temporary
// keys, which live as long as this session in memory.
func (s *storedSession) appended(event *session.Event, delta map[string]any, own encodedState, rev uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.state, delta)
	s.events = append(s.events, event)
	s.own, s.rev, s.updated = own, rev, event.Timestamp
}

// events is a list of events.
type events []*session.Event

func (e events) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, event := range e {
			if !yield(event) {
				return
			}
		}
	}
}

func (e events) Len() int { return len(e) }

func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// state is the state of a session in memory. Set changes it there only: an event stores a
// change.
type state struct{ of *storedSession }

func (s state) Get(key string) (any, error) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	value, ok := s.of.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

func (s state) Set(key string, value any) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

func (s state) All() iter.Seq2[string, any] {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}
