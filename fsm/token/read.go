package token

import (
	"crypto/subtle"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

func tokenOf(id string, row *logpb.TokenRow) agent.Token {
	return agent.Token{
		ID: id, Principal: row.Principal, Grants: ops.GrantsFromProto(row.Grants),
		CreatedAt: row.CreatedAt, CreatedBy: row.CreatedBy, ExpiresAt: row.ExpiresAt,
	}
}

// Get answers get_token.
func Get(r txn.Reader, q *agent.GetToken) (agent.Found, error) {
	row, err := load(r, q.ID)
	if err != nil {
		return nil, err
	}
	if row == nil || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
		return nil, txn.NotFound("token", q.ID)
	}
	t := tokenOf(q.ID, row)
	return &t, nil
}

// List answers list_tokens.
func List(r txn.Reader, q *agent.ListTokens) (agent.Found, error) {
	list := &agent.TokenList{}
	var err error
	list.Next, err = r.EachInPage(kv.ScopeKey(kv.KindToken, ""), q.Page, func(id string, raw []byte) (int, error) {
		row, err := decode(id, raw)
		if err != nil || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
			return 0, err
		}
		list.Items = append(list.Items, tokenOf(id, row))
		return len(id) + len(raw), nil
	})
	return list, err
}

// Find returns the token with a hash, if it exists and has not expired. It compares the whole hash
// in constant time.
func Find(r txn.Reader, hash agent.TokenHash) (agent.Token, bool, error) {
	id := hash.TokenID()
	row, err := load(r, id)
	if err != nil || row == nil {
		return agent.Token{}, false, err
	}
	if subtle.ConstantTimeCompare(row.Hash, hash[:]) != 1 || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
		return agent.Token{}, false, nil
	}
	return tokenOf(id, row), true, nil
}

// Founded reports whether there ever was a founding token.
func Founded(r kv.Reader) (bool, error) {
	raw, err := r.Get(foundingKey)
	return raw != nil, err
}
