package token

import (
	"bytes"
	"fmt"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Ops are the ops on tokens.
var Ops = []txn.Op{txn.OpOf(Put), txn.OpOf(Revoke)}

// Reads are the reads of tokens.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// The rows that exist once: the number of tokens, and the id of the founding one, which stays when
// that token is revoked.
const (
	countKey    = kv.KindSystem + "tokens"
	foundingKey = kv.KindSystem + "founding"
)

func rowKey(id string) string { return kv.IDKey(kv.KindToken, "", id) }

// principalKey begins the index rows of a principal's tokens. The rest is a token's id.
func principalKey(principal string) string { return kv.IDKey(kv.KindTokenPrincipal, "", principal) }

// load returns the row of a token, also of one that has expired, or nil.
func load(r kv.Reader, id string) (*logpb.TokenRow, error) {
	raw, err := r.Get(rowKey(id))
	if err != nil || raw == nil {
		return nil, err
	}
	return decode(id, raw)
}

func decode(id string, raw []byte) (*logpb.TokenRow, error) {
	row := &logpb.TokenRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode token %q: %w", id, err)
	}
	return row, nil
}

// Authentic returns an unauthenticated error if a commit's token was revoked or has expired by
// this entry.
func Authentic(b *txn.Entry, id string) error {
	row, err := load(b.Rows, id)
	if err != nil {
		return err
	}
	if row == nil || txn.Expired(row.ExpiresAt, b.Progress.Wall) {
		return agent.Errorf(agent.CodeUnauthenticated, "token %q was revoked or has expired: use another", id)
	}
	return nil
}

// Put runs put_token.
func Put(c *txn.Tx, op *agent.PutToken) (agent.OpResult, error) {
	if err := agent.ValidKey("principal", op.Principal); err != nil {
		return nil, err
	}
	if err := agent.ValidGrants(op.Grants); err != nil {
		return nil, err
	}
	id := op.Hash.TokenID()
	old, err := load(c.Rows, id)
	if err != nil {
		return nil, err
	}
	if old != nil && txn.Expired(old.ExpiresAt, c.Progress.Wall) {
		if err := drop(c, id, old); err != nil {
			return nil, err
		}
		old = nil
	}
	if old != nil {
		if !bytes.Equal(old.Hash, op.Hash[:]) || old.Principal != op.Principal {
			return nil, agent.Errorf(agent.CodeAlreadyExists, "there is a token %s already: create one with another secret", id)
		}
		return &agent.TokenResult{Token: tokenOf(id, old)}, nil
	}
	if op.Founding {
		if err := found(c, id); err != nil {
			return nil, err
		}
	}
	return add(c, id, op)
}

// found records the founding token.
func found(c *txn.Tx, id string) error {
	raw, err := c.Rows.Get(foundingKey)
	if err != nil {
		return err
	}
	if raw != nil {
		return agent.Errorf(agent.CodeAlreadyExists, "the cluster had its first token already, %s", raw)
	}
	c.Rows.Set(foundingKey, []byte(id))
	return nil
}

// add stores a new token, unless the cluster or its principal has too many.
func add(c *txn.Tx, id string, op *agent.PutToken) (agent.OpResult, error) {
	count, err := count(c)
	if err != nil {
		return nil, err
	}
	if count >= agent.TokensMax {
		return nil, full("tokens_max", agent.TokensMax, "the cluster has too many tokens: revoke some")
	}
	own := 0
	err = c.EachKey(principalKey(op.Principal), func(key string) error {
		row, err := load(c.Rows, key[len(principalKey(op.Principal)):])
		if err == nil && row != nil && !txn.Expired(row.ExpiresAt, c.Progress.Wall) {
			own++
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if own >= agent.TokensOfPrincipalMax {
		return nil, full("tokens_of_principal_max", agent.TokensOfPrincipalMax, fmt.Sprintf("principal %q has too many tokens: revoke one", op.Principal))
	}
	row := &logpb.TokenRow{
		Hash: op.Hash[:], Principal: op.Principal, Grants: ops.GrantsToProto(op.Grants),
		CreatedAt: c.Progress.Wall, CreatedBy: c.Principal, ExpiresAt: c.Deadline(op.TTL.Milliseconds()),
	}
	c.Rows.Set(rowKey(id), command.Marshal(row))
	c.Rows.Set(principalKey(op.Principal)+id, nil)
	c.Rows.Set(countKey, []byte(kv.EncodeNumber(count+1)))
	c.SetExpiry(row.ExpiresAt, rowKey(id))
	c.TokensChanged = true
	return &agent.TokenResult{Token: tokenOf(id, row)}, nil
}

// full returns the error of a limit. It is not overloaded, since a retry alone does not help.
func full(limit string, bound int, why string) *agent.Error {
	e := agent.Errorf(agent.CodeTooLarge, "%s (%s = %d)", why, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	return e
}

func count(c *txn.Tx) (uint64, error) {
	raw, err := c.Rows.Get(countKey)
	return kv.DecodeNumber(raw), err
}

// drop removes a token.
func drop(c *txn.Tx, id string, row *logpb.TokenRow) error {
	count, err := count(c)
	if err != nil {
		return err
	}
	c.Rows.Remove(rowKey(id))
	c.Rows.Remove(principalKey(row.Principal) + id)
	c.Rows.Set(countKey, []byte(kv.EncodeNumber(txn.Saturate(count, -1))))
	c.ClearExpiry(row.ExpiresAt, rowKey(id))
	c.TokensChanged = true
	return nil
}

// Revoke runs revoke_token.
func Revoke(c *txn.Tx, op *agent.RevokeToken) (agent.OpResult, error) {
	if err := agent.ValidKey("id", op.ID); err != nil {
		return nil, err
	}
	row, err := load(c.Rows, op.ID)
	if err != nil || row == nil {
		return &agent.DeleteResult{}, err
	}
	return &agent.DeleteResult{Existed: !txn.Expired(row.ExpiresAt, c.Progress.Wall)}, drop(c, op.ID, row)
}

// Expire removes a token that has expired.
func Expire(c *txn.Tx, id string, when int64) error {
	row, err := load(c.Rows, id)
	if err != nil || row == nil || row.ExpiresAt != when {
		return err
	}
	return drop(c, id, row)
}
