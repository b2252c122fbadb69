package adk

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/adk/v2/session"

	"dormouse/sdk/go/agent"
)

// stateType is the content type of the values that hold states.
const stateType = "application/json"

// deltas is a change of state, divided by what it belongs to. Temporary keys are in none.
type deltas struct{ app, user, session map[string]any }

// divide divides a change of state by the prefixes of its keys.
func divide(delta map[string]any) deltas {
	d := deltas{make(map[string]any), make(map[string]any), make(map[string]any)}
	for key, value := range delta {
		if app, ok := strings.CutPrefix(key, session.KeyPrefixApp); ok {
			d.app[app] = value
		} else if user, ok := strings.CutPrefix(key, session.KeyPrefixUser); ok {
			d.user[user] = value
		} else if !strings.HasPrefix(key, session.KeyPrefixTemp) {
			d.session[key] = value
		}
	}
	return d
}

// encodedState is a state as it is stored. What a writer does not change is written back byte for byte: a number
// above 2^53 keeps its digits.
type encodedState map[string]json.RawMessage

// decoded returns the state as sessions show it.
func (e encodedState) decoded() (map[string]any, error) {
	state := make(map[string]any, len(e))
	for key, raw := range e {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("decode the state of %q: %w", key, err)
		}
		state[key] = value
	}
	return state, nil
}

// with returns a copy of the state with a change.
func (e encodedState) with(delta map[string]any) (encodedState, error) {
	next := make(encodedState, len(e)+len(delta))
	maps.Copy(next, e)
	for key, value := range delta {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode the state of %q: %w", key, err)
		}
		next[key] = raw
	}
	return next, nil
}

// merge returns the state that a session shows: its own, its user's and its app's.
func merge(app, user, own map[string]any) map[string]any {
	state := make(map[string]any, len(app)+len(user)+len(own))
	maps.Copy(state, own)
	for key, value := range app {
		state[session.KeyPrefixApp+key] = value
	}
	for key, value := range user {
		state[session.KeyPrefixUser+key] = value
	}
	return state
}

// shared is the state of an app or a user as it was read; the zero revision means that
// there is none.
type shared struct {
	key                   string
	revision, incarnation uint64
	encoded               encodedState
	state                 map[string]any // of encoded
}

// sharedIn returns the state in the answer to a read of its value.
func sharedIn(key string, a agent.Answer) (shared, error) {
	s := shared{key: key, state: make(map[string]any)}
	if a.Err != nil {
		if a.Err.Code == agent.CodeNotFound {
			return s, nil
		}
		return s, a.Err
	}
	v := a.Found.(*agent.Value)
	s.revision, s.incarnation = v.Revision, v.Incarnation
	err := json.Unmarshal(v.Bytes, &s.encoded)
	if err == nil {
		s.state, err = s.encoded.decoded()
	}
	if err != nil {
		return s, fmt.Errorf("decode the state in value %s: %w", key, err)
	}
	return s, nil
}

// with returns the op that adds delta to the state, unless the state has changed since it
// was read.
func (s shared) with(delta map[string]any) (agent.Op, error) {
	next, err := s.encoded.with(delta)
	if err != nil {
		return nil, err
	}
	put, err := putState(s.key, next)
	if err != nil {
		return nil, err
	}
	put.IfRevision, put.IfIncarnation = &s.revision, s.incarnation
	return put, nil
}

func putState(key string, state any) (*agent.PutValue, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("encode the state for value %s: %w", key, err)
	}
	return &agent.PutValue{Key: key, ContentType: stateType, Bytes: raw}, nil
}
