package memstore

import (
	"fmt"
	"maps"

	"dormouse/agent"
)

// tokens holds the tokens by id. It is replaced, and never changed, so that a refused commit keeps
// the previous one.
type tokens struct {
	byID    map[string]token
	founded bool // there was a founding token
}

type token struct {
	agent.Token
	hash agent.TokenHash
}

// live returns a token that has not expired.
func (all tokens) live(id string, now int64) (token, bool) {
	t, ok := all.byID[id]
	return t, ok && (t.ExpiresAt == 0 || t.ExpiresAt > now)
}

// authentic refuses a commit whose token was revoked or has expired.
func (all tokens) authentic(id string, now int64) *agent.Error {
	if _, ok := all.live(id, now); ok || id == "" {
		return nil
	}
	return agent.Errorf(agent.CodeUnauthenticated, "token %q was revoked or has expired", id)
}

func (all *tokens) put(o *agent.PutToken, by string, now int64) (agent.OpResult, *agent.Error) {
	id := o.Hash.TokenID()
	if old, ok := all.live(id, now); ok {
		if old.hash != o.Hash || old.Principal != o.Principal {
			return nil, agent.Errorf(agent.CodeAlreadyExists, "there is a token %s", id)
		}
		return &agent.TokenResult{Token: old.Token}, nil
	}
	if o.Founding && all.founded {
		return nil, agent.Errorf(agent.CodeAlreadyExists, "there was a first token")
	}
	next := tokens{byID: map[string]token{}, founded: all.founded || o.Founding}
	own := 0
	for other := range all.byID {
		if t, ok := all.live(other, now); ok {
			next.byID[other] = t
			if t.Principal == o.Principal {
				own++
			}
		}
	}
	if len(next.byID) >= agent.TokensMax {
		return nil, tooMany("tokens_max", agent.TokensMax)
	}
	if own >= agent.TokensOfPrincipalMax {
		return nil, tooMany("tokens_of_principal_max", agent.TokensOfPrincipalMax)
	}
	t := token{hash: o.Hash, Token: agent.Token{ID: id, Principal: o.Principal, Grants: o.Grants, CreatedAt: now, CreatedBy: by}}
	if o.TTL > 0 {
		t.ExpiresAt = now + o.TTL.Milliseconds()
	}
	next.byID[id] = t
	*all = next
	return &agent.TokenResult{Token: t.Token}, nil
}

func tooMany(limit string, bound int) *agent.Error {
	e := agent.Errorf(agent.CodeTooLarge, "there are %d tokens already", bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	return e
}

func (all *tokens) revoke(o *agent.RevokeToken, now int64) agent.OpResult {
	_, existed := all.live(o.ID, now)
	next := tokens{byID: maps.Clone(all.byID), founded: all.founded}
	delete(next.byID, o.ID)
	*all = next
	return &agent.DeleteResult{Existed: existed}
}

func (all tokens) get(q *agent.GetToken, now int64) (agent.Found, *agent.Error) {
	t, ok := all.live(q.ID, now)
	if !ok {
		return nil, notFound("token", q.ID)
	}
	return &t.Token, nil
}

func (all tokens) list(q *agent.ListTokens, now int64) agent.Found {
	live := map[string]agent.Token{}
	for id := range all.byID {
		if t, ok := all.live(id, now); ok {
			live[id] = t.Token
		}
	}
	ids, next := sorted(live, q.Page)
	list := &agent.TokenList{Next: next}
	for _, id := range ids {
		list.Items = append(list.Items, live[id])
	}
	return list
}
