package rest

import (
	"cmp"
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeValues(f *web.API) {
	const tag, key = "values", "/v1/values/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: key, ID: "put-value", Tag: tag, Summary: "Write a value: the body, byte for byte, with its type",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"ttl_ms", "if_revision", "if_incarnation", "on_exists"},
		Accepts: []string{web.AnyMedia}, Creates: true, Answers: document.ValueStamp{},
	}, putValue)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: key, ID: "get-value", Tag: tag, Summary: "Read a value as it was written",
		Effect: web.Reads, Media: web.AnyMedia,
	}, getValue)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: key, ID: "delete-value", Tag: tag, Summary: "Delete a value",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Status: http.StatusNoContent,
	}, deleteValue)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/values", ID: "list-values", Tag: tag, Summary: "List values in key order",
		Effect: web.Reads, Query: web.BodiesQuery, Answers: document.List[document.ValueRow]{},
	}, listValues)
}

func putValue(c *web.Request, _ *web.None) error {
	stamp, err := putBody(c, c.ID("key"))
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &stamp.Revision, Body: document.ValueStampOf(stamp)}
	if stamp.Revision == 1 && !stamp.Skipped { // revisions start at 1 in each incarnation
		a.Location = web.PathOf("values", stamp.Key)
	}
	return c.Answer(a)
}

// putBody writes the request's body under a key.
func putBody(c *web.Request, key string) (*agent.ValueResult, error) {
	body, err := c.ReadBody(agent.ValueBytesMax)
	if err != nil {
		return nil, err
	}
	if body == nil {
		body = []byte{} // an empty value is a value
	}
	skip, err := document.SkipsExistingRow(c.Text("on_exists"))
	if err != nil {
		return nil, err
	}
	result, err := c.Commit(&agent.PutValue{
		Key:           key,
		ContentType:   c.HTTP.Header.Get("Content-Type"),
		Bytes:         body,
		TTL:           c.Duration("ttl_ms"),
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		SkipExisting:  skip,
	})
	if err != nil {
		return nil, err
	}
	return web.ResultOf[*agent.ValueResult](result, 0)
}

func getValue(c *web.Request, _ *web.None) error { return sendValue(c, c.ID("key")) }

// sendValue answers with a value's bytes.
func sendValue(c *web.Request, key string) error {
	found, err := web.Read[*agent.Value](c, &agent.GetValue{Key: key})
	if err != nil {
		return err
	}
	c.Writer.Header().Set("ETag", web.ETag(found.Revision))
	c.Writer.Header().Set(web.HeaderIncarnation, strconv.FormatUint(found.Incarnation, 10))
	c.SendBytes(cmp.Or(found.ContentType, agent.DefaultContentType), found.Bytes)
	return nil
}

func deleteValue(c *web.Request, _ *web.None) error { return removeValue(c, c.ID("key")) }

func removeValue(c *web.Request, key string) error {
	_, err := c.Commit(&agent.DeleteValue{
		Key:           key,
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		Seal:          c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listValues(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ValueList](c, &agent.ListValues{Page: c.Page(), Body: c.IncludesBody(), Where: c.Where()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ValueRowOf)})
}
