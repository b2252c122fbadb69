package node

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	gometrics "github.com/hashicorp/go-metrics/compat"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/internal/history"
	"dormouse/internal/tally"
)

// metrics are the metrics of one node: of the process, the group and the calls, and those of raft
// and memberlist.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.HistogramVec // by kind and outcome
	http     *prometheus.HistogramVec // by operation and status
	history  *history.History         // of the same calls, and of signals
}

// librarySink is the sink of raft and memberlist: they have one per process, so nodes in one
// process share it.
var librarySink = sync.OnceValues(func() (prometheus.Collector, error) {
	sink := tally.New()
	c := gometrics.DefaultConfig("")
	c.EnableHostname, c.EnableRuntimeMetrics = false, false
	_, err := gometrics.NewGlobal(c, sink)
	return sink, err
})

func newMetrics(n *Node) *metrics {
	buckets := prometheus.ExponentialBuckets(0.0001, 2, 18) // 0.1 ms to 13 s
	m := &metrics{
		registry: prometheus.NewRegistry(),
		history:  history.New(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "dormouse", Name: "call_seconds", Buckets: buckets,
			Help: "Commits and reads by this node's servers, by outcome.",
		}, []string{"call", "code"}),
		http: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "dormouse", Name: "http_seconds", Buckets: buckets, Help: "HTTP calls.",
		}, []string{"operation", "status"}),
	}
	m.registry.MustRegister(m.calls, m.http, n.group.Collector(), stateCollector(n), restoresCollector(n), machineCollector{n.machine}, clockCollector(), engineCollector{n.machine}, cacheCollector{n}, newScopesCollector(n.machine, n.limiter),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// stateCollector returns the metric of the node's applied index.
func stateCollector(n *Node) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "dormouse", Name: "applied_index", Help: "The newest log entry that reads on this node see.",
	}, func() float64 { return float64(n.machine.Applied()) })
}

// clockCollector returns the metric of this machine's clock, which tools compare with others.
func clockCollector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "dormouse", Name: "clock_seconds", Help: "This machine's clock at the scrape, as a Unix time.",
	}, func() float64 { return float64(time.Now().UnixMicro()) / 1e6 })
}

func restoresCollector(n *Node) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "dormouse", Name: "restores_total", Help: "Snapshots of other nodes that replaced this node's state.",
	}, func() float64 { return float64(n.machine.Restores()) })
}

// handler serves /metrics. It includes the metrics of the libraries if the process runs only this
// node.
func (m *metrics) handler(libraries bool) http.Handler {
	if libraries {
		if sink, err := librarySink(); err == nil {
			m.registry.MustRegister(sink)
		}
	}
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

func (m *metrics) observeHTTP(ctx context.Context, operation string, status int, took time.Duration) {
	record(ctx, m.http.WithLabelValues(operation, strconv.Itoa(status)), took)
}

// record observes a duration. A sampled call is kept as its bucket's exemplar.
func record(ctx context.Context, o prometheus.Observer, took time.Duration) {
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		if with, ok := o.(prometheus.ExemplarObserver); ok {
			with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": sc.TraceID().String()})
			return
		}
	}
	o.Observe(took.Seconds())
}

// observe counts calls that began together and have the same outcome.
func (m *metrics) observe(ctx context.Context, call string, took time.Duration, err error, calls int) {
	code := "ok"
	if err != nil {
		code = string(agent.CodeOf(err))
	}
	by := m.calls.WithLabelValues(call, code)
	for range calls {
		record(ctx, by, took)
	}
	kind := history.Writes
	if call == "read" {
		kind = history.Reads
	}
	m.history.Observe(kind, took, calls)
}
