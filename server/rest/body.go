package rest

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/api/document"
)

// jsonBodyBytesMax bounds a JSON body: the largest commit with all values in base64 (4/3), and 1
// MiB for white space, names and escapes.
const jsonBodyBytesMax = agent.CommitBytesMax/3*4 + 1<<20

// readBody reads a whole body of at most limit bytes, which the caller has counted against the
// bodies in memory.
func (c *request) readBody(limit int64) ([]byte, error) {
	if c.r.ContentLength > limit {
		return nil, agent.TooLarge("body", "body_bytes_max", int(c.r.ContentLength), int(limit))
	}
	size := limit
	if c.r.ContentLength >= 0 {
		size = c.r.ContentLength
	}
	if size == 0 {
		return nil, nil
	}
	if err := c.accept(); err != nil {
		return nil, err
	}
	if !c.api.bodies.TryAcquire(size) {
		return nil, overloaded()
	}
	c.releases = append(c.releases, func() { c.api.bodies.Release(size) })

	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, agent.TooLarge("body", "body_bytes_max", int(limit)+1, int(limit))
	case err != nil:
		return nil, agent.Invalid("body", "the body is incomplete: %v", err)
	}
	return body, nil
}

// decodeBody reads a JSON body into B; nil if there is none.
func decodeBody[B any](c *request) (*B, error) {
	raw, err := c.readBody(jsonBodyBytesMax)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	body := new(B)
	if err := document.Decode(raw, body, "body"); err != nil {
		return nil, err
	}
	return body, nil
}

// accept refuses a body of a type that the route does not take, or without a type: a page of another
// site can make a browser send one of those without asking first.
func (c *request) accept() error {
	if coding := c.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return agent.Errorf(document.CodeUnsupportedMedia, "the body is encoded as %q; send it without an encoding", coding)
	}
	named := c.r.Header.Get("Content-Type")
	if named == "" && !slices.Contains(c.route.types(), anyMedia) {
		return agent.Errorf(document.CodeUnsupportedMedia, "the body has no Content-Type; this call takes %v", c.route.types())
	}
	for _, accepted := range c.route.types() {
		if accepted == anyMedia || mediaType(named) == accepted {
			return nil
		}
	}
	return agent.Errorf(document.CodeUnsupportedMedia, "the body is %q; this call takes %v", named, c.route.types())
}

// mediaType returns a Content-Type without its parameters, in lower case.
func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
