package node

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/tenant"
)

// Bounds of the metrics of scopes.
const (
	// scopesShownMax is how many scopes have a label of their own: those with the
	// most bytes. The others are added up as otherScopes.
	scopesShownMax = 20
	// scopesReadMax is how many scopes a reading looks at, in order of name.
	scopesReadMax = 10_000
	// scopesMaxAge is how long a reading is shown.
	scopesMaxAge = 15 * time.Second

	otherScopes = "other"
)

// scopesCollector shows what scopes hold, and their requests on this node.
type scopesCollector struct {
	machine *fsm.Machine
	limiter *tenant.Limiter
	usage   []scopeGauge
	served  *prometheus.Desc
	refused *prometheus.Desc
	watches *prometheus.Desc

	mu     sync.Mutex
	shown  []agent.Scope // the scopes with a label; guarded by mu
	others agent.Scope   // the sum of the rest; guarded by mu
	readAt time.Time     // guarded by mu

	last    map[string]tenant.Counts // :: scope → its counts at the last collection; guarded by mu
	labeled tenant.Counts            // what was counted while its scope had a label; guarded by mu
}

// scopeGauge is a metric of what scopes hold.
type scopeGauge struct {
	desc *prometheus.Desc
	of   func(s *agent.Scope) *uint64
}

func newScopesCollector(machine *fsm.Machine, limiter *tenant.Limiter) *scopesCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("dormouse", "scope", name), help, []string{"scope"}, nil)
	}
	return &scopesCollector{
		machine: machine, limiter: limiter,
		usage: []scopeGauge{
			{desc("keys", "Keys of a scope."), func(s *agent.Scope) *uint64 { return &s.Keys }},
			{desc("bytes", "Bytes that count in a scope."), func(s *agent.Scope) *uint64 { return &s.Bytes }},
			{desc("agents", "Agents of a scope."), func(s *agent.Scope) *uint64 { return &s.Agents }},
			{desc("threads", "Threads of a scope."), func(s *agent.Scope) *uint64 { return &s.Threads }},
			{desc("entries", "Entries of a scope's threads."), func(s *agent.Scope) *uint64 { return &s.Entries }},
			{desc("timers", "Timers of a scope."), func(s *agent.Scope) *uint64 { return &s.Timers }},
		},
		served:  desc("requests_total", "Requests of a scope that this node served."),
		refused: desc("refused_total", "Requests of a scope that were over its limits on this node."),
		watches: desc("watches", "Watches of a scope on this node."),
	}
}

// Describe implements prometheus.Collector.
func (c *scopesCollector) Describe(out chan<- *prometheus.Desc) {
	for _, g := range c.usage {
		out <- g.desc
	}
	for _, d := range []*prometheus.Desc{c.served, c.refused, c.watches} {
		out <- d
	}
}

// Collect implements prometheus.Collector. If the state cannot be read, it shows the last reading.
// A request counts for the label that its scope has at the next collection. So the counters of
// otherScopes do not fall when a scope gets a label of its own.
func (c *scopesCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.readAt.IsZero() || now.Sub(c.readAt) >= scopesMaxAge {
		if shown, others, ok := c.read(); ok {
			c.shown, c.others, c.readAt = shown, others, now
		}
	}
	show := func(kind prometheus.ValueType, desc *prometheus.Desc, scope string, n uint64) {
		out <- prometheus.MustNewConstMetric(desc, kind, float64(n), scope)
	}
	counts, all := c.limiter.Counts()
	for _, n := range counts {
		all.Requests += n.Requests
		all.Refused += n.Refused
	}
	for i := range c.shown {
		s := &c.shown[i]
		for _, g := range c.usage {
			show(prometheus.GaugeValue, g.desc, s.Name, *g.of(s))
		}
		n, last := counts[s.Name], c.last[s.Name]
		show(prometheus.CounterValue, c.served, s.Name, n.Requests)
		show(prometheus.CounterValue, c.refused, s.Name, n.Refused)
		show(prometheus.GaugeValue, c.watches, s.Name, c.limiter.Watches(s.Name))
		c.labeled.Requests += increase(last.Requests, n.Requests)
		c.labeled.Refused += increase(last.Refused, n.Refused)
	}
	c.last = counts
	for _, g := range c.usage {
		show(prometheus.GaugeValue, g.desc, otherScopes, *g.of(&c.others))
	}
	show(prometheus.CounterValue, c.served, otherScopes, all.Requests-c.labeled.Requests)
	show(prometheus.CounterValue, c.refused, otherScopes, all.Refused-c.labeled.Refused)
}

// increase returns by how much a counter has grown. A counter that is lower began again at zero.
func increase(last, now uint64) uint64 {
	if now < last {
		return now
	}
	return now - last
}

// read reads the scopes: those with the most bytes, and the sum of the others.
func (c *scopesCollector) read() (shown []agent.Scope, others agent.Scope, ok bool) {
	view := c.machine.View()
	defer view.Close()
	after := ""
	for read := 0; read < scopesReadMax; {
		page := &agent.ListScopes{Page: agent.Page{After: after, Limit: agent.ListLimitMax}}
		list, ok := view.Answer(agent.DefaultScope, page).Found.(*agent.ScopeList)
		if !ok {
			return nil, others, false
		}
		shown = append(shown, list.Items...)
		slices.SortFunc(shown, func(a, b agent.Scope) int {
			return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
		})
		shown = slices.DeleteFunc(shown, func(s agent.Scope) bool {
			if s.Name == otherScopes { // it has no label of its own
				c.add(&others, &s)
			}
			return s.Name == otherScopes
		})
		for len(shown) > scopesShownMax {
			c.add(&others, &shown[len(shown)-1])
			shown = shown[:len(shown)-1]
		}
		read += len(list.Items)
		if after = list.Next; after == "" {
			break
		}
	}
	return shown, others, true
}

func (c *scopesCollector) add(sum, s *agent.Scope) {
	for _, g := range c.usage {
		*g.of(sum) += *g.of(s)
	}
}
