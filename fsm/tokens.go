package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/token"
	"dormouse/fsm/txn"
)

// TokensLevel is the feature level from which on all nodes know tokens.
const TokensLevel = txn.TokensLevel

// Token returns the token with a hash. ok is false if none exists, or if it has expired.
func (v *View) Token(hash agent.TokenHash) (t agent.Token, ok bool, err error) {
	if v.err != nil {
		return agent.Token{}, false, v.err
	}
	return token.Find(v.reader(agent.DefaultScope), hash)
}

// TokenLives reports whether a token exists and has not expired, and when it expires; 0 means never.
func (v *View) TokenLives(id string) (expiresAt int64, ok bool, err error) {
	if v.err != nil {
		return 0, false, v.err
	}
	found, err := token.Get(v.reader(agent.DefaultScope), &agent.GetToken{ID: id})
	if agent.CodeOf(err) == agent.CodeNotFound {
		return 0, false, nil
	}
	t, ok := found.(*agent.Token)
	if err != nil || !ok {
		return 0, false, err
	}
	return t.ExpiresAt, true, nil
}

// TokensFounded reports whether the cluster ever had a founding token.
func (v *View) TokensFounded() (bool, error) {
	if v.err != nil {
		return false, v.err
	}
	return token.Founded(v)
}

// TokensChange returns a number that changes whenever a token is added or removed. It does not
// change when a token expires before it is removed.
func (m *Machine) TokensChange() uint64 { return m.tokens.Load() }
