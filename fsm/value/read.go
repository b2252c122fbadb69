package value

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// Get answers get_value.
func Get(r txn.Reader, q *agent.GetValue) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindValue, r.Scope, q.Key))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("value", q.Key)
	}
	row, err := decodeValueRow(q.Key, raw)
	if err != nil {
		return nil, err
	}
	if txn.Expired(row.ExpiresAt, r.Progress.Wall) {
		return nil, txn.NotFound("value", q.Key)
	}
	bytes, err := r.Get(kv.IDKey(kv.KindValueBytes, r.Scope, q.Key))
	if err != nil {
		return nil, err
	}
	if bytes == nil {
		return nil, agent.Errorf(agent.CodeCorrupt, "value %q has no bytes", q.Key)
	}
	return &agent.Value{
		Key: q.Key, Incarnation: row.Incarnation, Revision: row.Revision, ContentType: row.ContentType, Bytes: bytes,
		Metadata: row.Metadata, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}, nil
}

// List answers list_values.
func List(r txn.Reader, q *agent.ListValues) (agent.Found, error) {
	list := &agent.ValueList{}
	next, err := r.EachInPage(kv.ScopeKey(kv.KindValue, r.Scope), q.Page, func(key string, raw []byte) (int, error) {
		row, err := decodeValueRow(key, raw)
		if err != nil || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
			return 0, err
		}
		list.Items = append(list.Items, agent.ValueRow{
			Key: key, Incarnation: row.Incarnation, Revision: row.Revision, ContentType: row.ContentType,
			Size: row.Size, Metadata: row.Metadata, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
		})
		return len(key) + len(raw), nil
	})
	list.Next = next
	return list, err
}
