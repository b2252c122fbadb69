package node

import (
	"context"
	"sync"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/fsm"
)

// tokens finds tokens in this node's state. It implements access.Store and access.Tokens.
//
// It keeps the tokens that it has found until any token is added or removed, so that a request
// costs no read of the engine.
type tokens struct {
	machine *fsm.Machine
	service agent.Service // for linearizable reads

	*access.Authenticator

	mu     sync.Mutex
	change uint64                          // guarded by mu; of the machine, when the maps were empty
	known  map[agent.TokenHash]agent.Token // guarded by mu
	byID   map[string]agent.Token          // guarded by mu
}

var (
	_ access.Store  = (*tokens)(nil)
	_ access.Tokens = (*tokens)(nil)

	_ access.TokensByID = (*tokens)(nil)
)

// keepMax bounds the tokens that are kept; there are at most agent.TokensMax.
const keepMax = agent.TokensMax

// barrierMax bounds the wait for a token that this node does not know yet.
const barrierMax = 5 * time.Second

func newTokens(n *Node) (*tokens, error) {
	t := &tokens{machine: n.machine, service: n.service, known: map[agent.TokenHash]agent.Token{}, byID: map[string]agent.Token{}}
	logger := n.logger.Named("auth")
	o, err := credentialsOf(n.o.Config)
	if err != nil {
		return nil, err
	}
	o.Store = t
	o.Refused = func(address, reason string) {
		logger.Warn("a request was refused", "address", address, "reason", reason)
	}
	t.Authenticator = access.NewAuthenticator(o)
	return t, nil
}

// fresh empties the maps if a token was added or removed since. settled is as of TokensChange: if it is
// false, nothing may be kept. mu is held.
func (t *tokens) fresh() (change uint64, settled bool) {
	now, settled := t.machine.TokensChange()
	if now != t.change || len(t.known)+len(t.byID) > 2*keepMax {
		clear(t.known)
		clear(t.byID)
		t.change = now
	}
	return t.change, settled
}

// expired reports whether a token that expires at a time has expired, by the log's time.
func (t *tokens) expired(at int64) bool {
	_, wall := t.machine.Stamps()
	return at != 0 && at <= wall
}

// Token implements access.Store.
func (t *tokens) Token(hash agent.TokenHash) (agent.Token, bool, error) {
	t.mu.Lock()
	change, settled := t.fresh()
	kept, ok := t.known[hash]
	t.mu.Unlock()
	if ok {
		return kept, !t.expired(kept.ExpiresAt), nil
	}
	view := t.machine.View()
	found, ok, err := view.Token(hash)
	view.Close()
	if err != nil || !ok {
		return agent.Token{}, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now, _ := t.fresh(); settled && now == change {
		t.known[hash] = found
	}
	return found, true, nil
}

// Live implements access.Tokens. If the state cannot be read, the token does not count.
func (t *tokens) Live(id string) bool {
	_, ok := t.TokenOf(id)
	return ok
}

// TokenOf implements access.TokensByID. An expired token is none.
func (t *tokens) TokenOf(id string) (agent.Token, bool) {
	t.mu.Lock()
	change, settled := t.fresh()
	kept, ok := t.byID[id]
	t.mu.Unlock()
	if ok {
		return kept, !t.expired(kept.ExpiresAt)
	}
	view := t.machine.View()
	found, ok, err := view.TokenOf(id)
	view.Close()
	if err != nil || !ok {
		return agent.Token{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now, _ := t.fresh(); settled && now == change {
		t.byID[id] = found
	}
	return found, true
}

// Barrier implements access.Store.
func (t *tokens) Barrier(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, barrierMax)
	defer cancel()
	_, err := t.service.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetScope{}}})
	return err
}
