package web

import (
	"math"
	"strings"

	"dormouse/agent"
)

// Query parameters of lists.
var (
	ListQuery    = []string{"prefix", "after", "limit"}                            // of a list in an order of its own
	OrderedQuery = []string{"prefix", "after", "limit", "order"}                   // …in the order of keys
	RowsQuery    = []string{"prefix", "after", "limit", "order", "since", "until"} // …whose rows have a time
	BodiesQuery  = append([]string{"include", "metadata"}, RowsQuery...)           // …and may show their bodies
)

// Page returns the page of a list that the query requests.
func (c *Request) Page() agent.Page {
	p := agent.Page{Prefix: c.Text("prefix"), After: c.Text("after"), Limit: c.Number("limit")}
	if c.Route.takes("order") {
		p.Order = agent.Order(c.Text("order"))
	}
	if c.Route.takes("since") {
		p.Times = c.Times()
	}
	return p
}

// Times returns the times that the query selects.
func (c *Request) Times() agent.Times {
	return agent.Times{Since: c.unixMS("since"), Until: c.unixMS("until")}
}

func (c *Request) unixMS(name string) int64 {
	n := c.Number(name)
	if n > math.MaxInt64 {
		c.Fail(agent.Invalid(name, "%s = %d is no Unix time in milliseconds: it may be at most 2^63-1", name, n))
		return 0
	}
	return int64(n)
}

// IncludesBody reports whether the query asks for bodies.
func (c *Request) IncludesBody() bool {
	switch text := c.Text("include"); text {
	case "":
		return false
	case "body":
		return true
	default:
		c.Fail(agent.Invalid("include", "include is %q, and should be body", text))
		return false
	}
}

// Where returns the members of metadata that the query requires, each KEY=VALUE.
func (c *Request) Where() (w agent.Where) {
	for _, text := range c.Query["metadata"] {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			c.Fail(agent.Invalid("metadata", "metadata is %q, and should be KEY=VALUE", text))
			return nil
		}
		w = append(w, agent.MetadataEquals{Key: key, Value: value})
	}
	return w
}
