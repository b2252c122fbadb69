package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/token"
	"dormouse/fsm/txn"
)

// TokensLevel is the feature level from which on all nodes know tokens.
const TokensLevel = txn.TokensLevel

// ConditionsLevel and MetadataLevel are the feature levels from which on all nodes know what their names
// in package txn say.
const (
	ConditionsLevel = txn.ConditionsLevel
	MetadataLevel   = txn.MetadataLevel
)

// Token returns the token with a hash. ok is false if none exists, or if it has expired.
func (v *View) Token(hash agent.TokenHash) (t agent.Token, ok bool, err error) {
	if v.err != nil {
		return agent.Token{}, false, v.err
	}
	return token.Find(v.reader(agent.DefaultScope), hash)
}

// TokenOf returns the token with an id. ok is false if none exists, or if it has expired.
func (v *View) TokenOf(id string) (t agent.Token, ok bool, err error) {
	if v.err != nil {
		return agent.Token{}, false, v.err
	}
	found, err := token.Get(v.reader(agent.DefaultScope), &agent.GetToken{ID: id})
	if agent.CodeOf(err) == agent.CodeNotFound {
		return agent.Token{}, false, nil
	}
	one, ok := found.(*agent.Token)
	if err != nil || !ok {
		return agent.Token{}, false, err
	}
	return *one, true, nil
}

// TokensFounded reports whether the cluster ever had a founding token.
func (v *View) TokensFounded() (bool, error) {
	if v.err != nil {
		return false, v.err
	}
	return token.Founded(v)
}

// TokensChange returns a number that changes whenever a token is added or removed: before any view
// shows it. It does not change when a token expires before it is removed. settled is false while such an
// entry is applied: a view may be of the state before it or after it.
func (m *Machine) TokensChange() (n uint64, settled bool) {
	n = m.tokens.Load()
	return n, n%2 == 0
}
