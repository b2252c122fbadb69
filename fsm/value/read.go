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
	if r.Gone(kv.KindValue, q.Key, row) {
		return nil, txn.NotFound("value", q.Key)
	}
	bytes, err := valueBody(r, q.Key)
	if err != nil {
		return nil, err
	}
	return &agent.Value{
		Key: q.Key, Incarnation: row.Incarnation, Revision: row.Revision, ContentType: row.ContentType, Bytes: bytes,
		Metadata: row.Metadata, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}, nil
}

// List answers list_values.
func List(r txn.Reader, q *agent.ListValues) (agent.Found, error) {
	list := &agent.ValueList{}
	var page txn.Bodies
	next, err := r.EachListed(kv.KindValue, q.Where, q.Page, func(key string, raw []byte) (int, error) {
		row, err := decodeValueRow(key, raw)
		if err != nil || r.Gone(kv.KindValue, key, row) || !q.Has(row.UpdatedAt) || !q.Where.Match(row.Metadata) {
			return 0, err
		}
		item := agent.ValueRow{
			Key: key, Incarnation: row.Incarnation, Revision: row.Revision, ContentType: row.ContentType,
			Size: row.Size, Metadata: row.Metadata, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
		}
		size := len(key) + len(raw)
		if q.Body {
			if err := page.Fit(size + int(row.Size)); err != nil {
				return 0, err
			}
			size += int(row.Size)
			bytes, err := valueBody(r, key)
			if err != nil {
				return 0, err
			}
			item.Body = &bytes
		}
		list.Items = append(list.Items, item)
		return size, nil
	})
	list.Next = next
	return list, err
}

// valueBody returns the bytes of a value that exists.
func valueBody(r txn.Reader, key string) ([]byte, error) {
	bytes, err := r.Get(kv.IDKey(kv.KindValueBytes, r.Scope, key))
	if err == nil && bytes == nil {
		err = agent.Errorf(agent.CodeCorrupt, "value %q has no bytes", key)
	}
	return bytes, err
}
