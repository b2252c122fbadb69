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
	m.registry.MustRegister(m.calls, m.http, n.group.Collector(), stateCollector(n), restoresCollector(n), engineCollector{n.machine}, newScopesCollector(n.machine, n.limiter),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// stateCollector returns the metric of the node's applied index.
func stateCollector(n *Node) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "dormouse", Name: "applied_index", Help: "The newest log entry that reads on this node see.",
	}, func() float64 { return float64(n.machine.Applied()) })
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
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) observeHTTP(operation string, status int, took time.Duration) {
	m.http.WithLabelValues(operation, strconv.Itoa(status)).Observe(took.Seconds())
}

// observe counts calls that began together and have the same outcome.
func (m *metrics) observe(call string, began time.Time, err error, calls int) {
	code := "ok"
	if err != nil {
		code = string(agent.CodeOf(err))
	}
	took, by := time.Since(began), m.calls.WithLabelValues(call, code)
	for range calls {
		by.Observe(took.Seconds())
	}
	kind := history.Writes
	if call == "read" {
		kind = history.Reads
	}
	m.history.Observe(kind, took, calls)
}

// measured observes each call of a service.
type measured struct {
	agent.Submitter
	metrics *metrics
}

// Submit implements agent.Submitter.
func (s *measured) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	began := time.Now()
	s.Submitter.Submit(ctx, c, func(result agent.Result, err error) {
		s.metrics.observe("commit", began, err, 1)
		done(result, err)
	})
}

// Commit implements agent.Service.
func (s *measured) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	began := time.Now()
	result, err := s.Submitter.Commit(ctx, c)
	s.metrics.observe("commit", began, err, 1)
	return result, err
}

// Read implements agent.Service.
func (s *measured) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	began := time.Now()
	answers, err := s.Submitter.Read(ctx, r)
	s.metrics.observe("read", began, err, len(r.Reads)) // possibly of several callers: see server/grpc's readBatch
	return answers, err
}

// measuredInstances records the signals of instances.
type measuredInstances struct {
	agent.Instances
	history *history.History
}

// Signal implements agent.Instances.
func (i measuredInstances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	began := time.Now()
	reply, err := i.Instances.Signal(ctx, ref, signal)
	i.history.Observe(history.Signals, time.Since(began), 1)
	return reply, err
}
