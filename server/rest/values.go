package rest

import (
	"net/http"

	"dormouse/agent"
)

// valueStamp answers a write to a value.
type valueStamp struct {
	Key         string `json:"key"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

func valueStampOf(r *agent.ValueResult) valueStamp {
	return valueStamp{Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

// value is a value where it travels in JSON.
type value struct {
	Key         string   `json:"key"`
	Incarnation uint64   `json:"incarnation"`
	Revision    uint64   `json:"revision"`
	ContentType string   `json:"content_type"`
	Bytes       []byte   `json:"bytes"`
	Metadata    document `json:"metadata,omitempty"`
	CreatedAt   int64    `json:"created_at"`
	UpdatedAt   int64    `json:"updated_at"`
	ExpiresAt   int64    `json:"expires_at,omitzero"`
}

func valueOf(v *agent.Value) value {
	return value{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Bytes: v.Bytes,
		Metadata: document(v.Metadata), CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	}
}

// valueRow is a value in a list.
type valueRow struct {
	Key         string   `json:"key"`
	Incarnation uint64   `json:"incarnation"`
	Revision    uint64   `json:"revision"`
	UpdatedAt   int64    `json:"updated_at"`
	Bytes       uint64   `json:"bytes"`
	ContentType string   `json:"content_type"`
	Metadata    document `json:"metadata,omitempty"`
	ExpiresAt   int64    `json:"expires_at,omitzero"`
}

func valueRowOf(r agent.ValueRow) valueRow {
	return valueRow{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, UpdatedAt: r.UpdatedAt,
		Bytes: r.Size, ContentType: r.ContentType, Metadata: document(r.Metadata), ExpiresAt: r.ExpiresAt,
	}
}

func (f *front) routeValues() {
	const tag, key = "values", "/v1/values/{key}"
	register(f, route{
		method: http.MethodPut, path: key, id: "put-value", tag: tag, summary: "Write a value: the body, byte for byte, with its type",
		effect: writes, condition: "if_revision", query: []string{"ttl_ms", "if_revision", "if_incarnation"},
		accepts: []string{anyMedia}, creates: true, answers: valueStamp{},
	}, (*call).putValue)
	register(f, route{
		method: http.MethodGet, path: key, id: "get-value", tag: tag, summary: "Read a value as it was written",
		effect: reads, media: anyMedia,
	}, (*call).getValue)
	register(f, route{
		method: http.MethodDelete, path: key, id: "delete-value", tag: tag, summary: "Delete a value",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteValue)
	register(f, route{
		method: http.MethodGet, path: "/v1/values", id: "list-values", tag: tag, summary: "List values in key order",
		effect: reads, query: listQuery, answers: list[valueRow]{},
	}, (*call).listValues)
}

func (c *call) putValue(*none) error {
	stamp, err := c.putBody(c.id("key"))
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: valueStampOf(stamp)}
	if stamp.Revision == 1 { // revisions count from 1 in each incarnation
		a.location = location("values", stamp.Key)
	}
	return c.answer(a)
}

// putBody writes the call's body under a key.
func (c *call) putBody(key string) (*agent.ValueResult, error) {
	body, err := c.readBody(agent.ValueBytesMax)
	if err != nil {
		return nil, err
	}
	if body == nil {
		body = []byte{} // an empty value is a value
	}
	result, err := c.commit(&agent.PutValue{
		Key:           key,
		ContentType:   c.r.Header.Get("Content-Type"),
		Bytes:         body,
		TTL:           c.duration("ttl_ms"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
	})
	if err != nil {
		return nil, err
	}
	return resultOf[*agent.ValueResult](result, 0)
}

func (c *call) getValue(*none) error { return c.sendValue(c.id("key")) }

// sendValue answers with a value's bytes.
func (c *call) sendValue(key string) error {
	found, err := read[*agent.Value](c, &agent.GetValue{Key: key})
	if err != nil {
		return err
	}
	contentType := found.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	// Whoever writes a value must not get a page of this origin.
	c.w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	c.w.Header().Set("ETag", etag(found.Revision))
	c.w.send(http.StatusOK, contentType, found.Bytes)
	return nil
}

func (c *call) deleteValue(*none) error { return c.removeValue(c.id("key")) }

func (c *call) removeValue(key string) error {
	_, err := c.commit(&agent.DeleteValue{
		Key:           key,
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) listValues(*none) error {
	found, err := read[*agent.ValueList](c, &agent.ListValues{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, valueRowOf)})
}
