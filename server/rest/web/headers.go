package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dormouse/agent"
)

// The headers of the contract.
const (
	headerScope       = "Dormouse-Scope"
	headerFence       = "Dormouse-Fence"
	headerTimeout     = "Dormouse-Timeout-Ms"
	headerIndex       = "Dormouse-Index"
	headerNode        = "Dormouse-Node"
	headerCluster     = "Dormouse-Cluster"
	headerAge         = "Dormouse-Age-Ms"
	HeaderIncarnation = "Dormouse-Incarnation"
	headerIdempotency = "Idempotency-Key"
	headerIfMatch     = "If-Match"
	headerIfNone      = "If-None-Match"
	HeaderLastEvent   = "Last-Event-ID"
	headerETag        = "Etag" // ETag, as net/http writes it
)

// idemClient makes an Idempotency-Key the client id of a request, whose number is 1.
const (
	idemClient   = "idem/"
	idemKeyMax   = agent.IDBytesMax - len(idemClient)
	idemAnswered = 24 * time.Hour
)

// readHeaders reads the headers that the route's effect allows.
func (c *Request) readHeaders() error {
	if err := c.readScope(); err != nil {
		return err
	}
	if c.Route.Effect != Writes && c.Route.Effect != Scoped {
		return nil
	}
	if err := c.readFence(); err != nil {
		return err
	}
	if c.Route.idempotent() {
		if err := c.readKey(); err != nil {
			return err
		}
	}
	return c.readConditions()
}

// readFence reads the fence of a write. A call that does not check fences refuses one, instead of
// ignoring it.
func (c *Request) readFence() error {
	text, err := SingleHeader(c.HTTP.Header, headerFence)
	if err != nil || text == "" {
		return err
	}
	if c.Route.Effect == Scoped {
		return agent.Invalid(headerFence, "this call takes no fence, because an instance uses its owner's fence: leave the header out")
	}
	fence, err := parseFence(text)
	if err != nil {
		return err
	}
	c.Fence = &fence
	return nil
}

// readKey makes a request id from an Idempotency-Key.
func (c *Request) readKey() error {
	key, err := SingleHeader(c.HTTP.Header, headerIdempotency)
	if err != nil {
		return err
	}
	if len(key) > idemKeyMax || strings.ContainsRune(key, 0) || !utf8.ValidString(key) {
		return agent.Invalid(headerIdempotency, "the key is not 1 to %d bytes of UTF-8", idemKeyMax)
	}
	if key != "" {
		c.IdemKey = key
		c.Request = agent.Request{Client: idemClient + key, Seq: 1, TTL: idemAnswered}
	}
	return nil
}

// readScope reads the scope from the header, or on GET from the query.
func (c *Request) readScope() error {
	scope, err := SingleHeader(c.HTTP.Header, headerScope)
	if err != nil {
		return err
	}
	if asked := c.Query.Get("scope"); asked != "" {
		if scope != "" && scope != asked {
			return agent.Invalid("scope", "the query says scope %q, the header %q", asked, scope)
		}
		scope = asked
	}
	c.Scope = scope
	return nil
}

// readConditions converts If-Match and If-None-Match to a revision. A condition that the call
// cannot check is refused, and not ignored.
func (c *Request) readConditions() error {
	match, err := SingleHeader(c.HTTP.Header, headerIfMatch)
	if err != nil {
		return err
	}
	noneMatch, err := SingleHeader(c.HTTP.Header, headerIfNone)
	if err != nil {
		return err
	}
	switch {
	case match == "" && noneMatch == "":
		return nil
	case match != "" && noneMatch != "":
		return agent.Invalid(headerIfMatch, "If-Match and If-None-Match exclude each other")
	case match == "*" && c.Route.Existing && (!c.Route.takes("upsert") || !c.Flag("upsert")):
		return nil // if it does not exist, the answer is not_found anyway
	case match == "*":
		return agent.Invalid(headerIfMatch, "name the revision in quotes, as its ETag does: \"any\" cannot be checked")
	case c.Route.Condition == "":
		return agent.Invalid(headerIfMatch, "this call takes no condition")
	case noneMatch == "*":
		c.ifMatch = new(uint64)
		return nil
	case noneMatch != "":
		return agent.Invalid(headerIfNone, "If-None-Match is %s; a write takes only *", noneMatch)
	}
	revision, err := parseETag(match)
	if err != nil {
		return err
	}
	c.ifMatch = &revision
	return nil
}

// Conditioned combines the condition in the headers with the one in the body or the query, which
// must agree.
func (c *Request) Conditioned(named *uint64) *uint64 {
	switch {
	case c.ifMatch == nil:
		return named
	case named != nil && *named != *c.ifMatch:
		c.Fail(agent.Invalid(c.Route.Condition, "%s is %d, but the headers say %d", c.Route.Condition, *named, *c.ifMatch))
	}
	return c.ifMatch
}

// SingleHeader returns a header that may occur once.
func SingleHeader(header http.Header, name string) (string, error) {
	values := header.Values(name)
	if len(values) > 1 {
		return "", agent.Invalid(name, "the header occurs %d times", len(values))
	}
	if len(values) == 1 && values[0] == "" {
		return "", agent.Invalid(name, "the header is empty: leave it out, or give it a value")
	}
	return header.Get(name), nil
}

// timeoutOf returns the timeout of the request.
func timeoutOf(header http.Header, byDefault time.Duration) (time.Duration, error) {
	text, err := SingleHeader(header, headerTimeout)
	if err != nil || text == "" {
		return byDefault, err
	}
	ms, err := strconv.ParseUint(text, 10, 64)
	if err != nil || ms == 0 || ms > uint64(timeoutMax/time.Millisecond) {
		return 0, agent.Invalid(headerTimeout, "the timeout is %q, and should be milliseconds from 1 to %d", text, timeoutMax/time.Millisecond)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// ETag formats a revision as an entity tag.
func ETag(revision uint64) string { return `"` + strconv.FormatUint(revision, 10) + `"` }

// parseETag parses one strong entity tag with a revision.
func parseETag(text string) (uint64, error) {
	inner, opened := strings.CutPrefix(text, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	revision, err := strconv.ParseUint(inner, 10, 64)
	if !opened || !closed || err != nil {
		return 0, agent.Invalid(headerIfMatch, `it is %s, and should be one revision in quotes, such as "7"`, text)
	}
	return revision, nil
}

// PathOf returns the path of a created resource.
func PathOf(segments ...string) string {
	var b strings.Builder
	b.WriteString("/v1")
	for _, segment := range segments {
		b.WriteString("/" + url.PathEscape(segment))
	}
	return b.String()
}
