package rest

import (
	"cmp"
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeValues(f *api) {
	const tag, key = "values", "/v1/values/{key}"
	register(f, route{
		method: http.MethodPut, path: key, id: "put-value", tag: tag, summary: "Write a value: the body, byte for byte, with its type",
		effect: writes, condition: "if_revision", query: []string{"ttl_ms", "if_revision", "if_incarnation", "on_exists"},
		accepts: []string{anyMedia}, creates: true, answers: document.ValueStamp{},
	}, putValue)
	register(f, route{
		method: http.MethodGet, path: key, id: "get-value", tag: tag, summary: "Read a value as it was written",
		effect: reads, media: anyMedia,
	}, getValue)
	register(f, route{
		method: http.MethodDelete, path: key, id: "delete-value", tag: tag, summary: "Delete a value",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, deleteValue)
	register(f, route{
		method: http.MethodGet, path: "/v1/values", id: "list-values", tag: tag, summary: "List values in key order",
		effect: reads, query: bodiesQuery, answers: document.List[document.ValueRow]{},
	}, listValues)
}

func putValue(c *request, _ *none) error {
	stamp, err := putBody(c, c.id("key"))
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: document.ValueStampOf(stamp)}
	if stamp.Revision == 1 && !stamp.Skipped { // revisions start at 1 in each incarnation
		a.location = location("values", stamp.Key)
	}
	return c.answer(a)
}

// putBody writes the request's body under a key.
func putBody(c *request, key string) (*agent.ValueResult, error) {
	body, err := c.readBody(agent.ValueBytesMax)
	if err != nil {
		return nil, err
	}
	if body == nil {
		body = []byte{} // an empty value is a value
	}
	skip, err := document.SkipsExistingRow(c.text("on_exists"))
	if err != nil {
		return nil, err
	}
	result, err := c.commit(&agent.PutValue{
		Key:           key,
		ContentType:   c.r.Header.Get("Content-Type"),
		Bytes:         body,
		TTL:           c.duration("ttl_ms"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		SkipExisting:  skip,
	})
	if err != nil {
		return nil, err
	}
	return resultOf[*agent.ValueResult](result, 0)
}

func getValue(c *request, _ *none) error { return sendValue(c, c.id("key")) }

// sendValue answers with a value's bytes.
func sendValue(c *request, key string) error {
	found, err := read[*agent.Value](c, &agent.GetValue{Key: key})
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(found.Revision))
	c.w.Header().Set(headerIncarnation, strconv.FormatUint(found.Incarnation, 10))
	c.sendBytes(cmp.Or(found.ContentType, agent.DefaultContentType), found.Bytes)
	return nil
}

func deleteValue(c *request, _ *none) error { return removeValue(c, c.id("key")) }

func removeValue(c *request, key string) error {
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

func listValues(c *request, _ *none) error {
	found, err := read[*agent.ValueList](c, &agent.ListValues{Page: c.page(), Body: c.includesBody(), Where: c.where()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ValueRowOf)})
}
