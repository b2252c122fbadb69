package rest

import (
	"math"
	"strings"

	"dormouse/agent"
)

// Query parameters of lists.
var (
	listQuery    = []string{"prefix", "after", "limit"}                            // of a list in an order of its own
	orderedQuery = []string{"prefix", "after", "limit", "order"}                   // …in the order of keys
	rowsQuery    = []string{"prefix", "after", "limit", "order", "since", "until"} // …whose rows have a time
	bodiesQuery  = append([]string{"include", "metadata"}, rowsQuery...)           // …and may show their bodies
)

// page returns the page of a list that the query requests.
func (c *request) page() agent.Page {
	p := agent.Page{Prefix: c.text("prefix"), After: c.text("after"), Limit: c.number("limit")}
	if c.route.takes("order") {
		p.Order = agent.Order(c.text("order"))
	}
	if c.route.takes("since") {
		p.Times = c.times()
	}
	return p
}

// times returns the times that the query selects.
func (c *request) times() agent.Times {
	return agent.Times{Since: c.unixMS("since"), Until: c.unixMS("until")}
}

func (c *request) unixMS(name string) int64 {
	n := c.number(name)
	if n > math.MaxInt64 {
		c.fail(agent.Invalid(name, "%s = %d is no Unix time in milliseconds: it may be at most 2^63-1", name, n))
		return 0
	}
	return int64(n)
}

// includesBody reports whether the query asks for bodies.
func (c *request) includesBody() bool {
	switch text := c.text("include"); text {
	case "":
		return false
	case "body":
		return true
	default:
		c.fail(agent.Invalid("include", "include is %q, and should be body", text))
		return false
	}
}

// where returns the members of metadata that the query requires, each KEY=VALUE.
func (c *request) where() (w agent.Where) {
	for _, text := range c.query["metadata"] {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			c.fail(agent.Invalid("metadata", "metadata is %q, and should be KEY=VALUE", text))
			return nil
		}
		w = append(w, agent.MetadataEquals{Key: key, Value: value})
	}
	return w
}
