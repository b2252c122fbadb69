// Package tally exports the metrics of raft and memberlist, which use go-metrics, to
// Prometheus.
package tally

import (
	"sync"

	gometrics "github.com/hashicorp/go-metrics/compat"
	"github.com/prometheus/client_golang/prometheus"
)

// Sink is a go-metrics sink and an unchecked collector: a metric appears once it is
// first counted. Raft counts about ten times for each entry on each node. The sink of
// go-metrics keeps quantiles and looks metrics up by strings that it builds, which
// costs more than packing the entry. So samples are histograms here, and a known
// metric costs no allocation. Its methods may be called concurrently.
type Sink struct {
	mu   sync.RWMutex
	rows map[string]prometheus.Metric // by kind, name and labels; guarded by mu
}

var _ gometrics.MetricSink = (*Sink)(nil)

// New returns a sink without metrics.
func New() *Sink { return &Sink{rows: map[string]prometheus.Metric{}} }

// buckets are the buckets of samples, most of which are milliseconds: 10 µs to 2.6 s.
var buckets = prometheus.ExponentialBuckets(0.01, 4, 10)

// The kinds of metrics, as the first byte of a row's key.
const (
	gauge   = 'g'
	counter = 'c'
	sample  = 's'
)

// row returns the metric of that name. It does not allocate if the metric exists.
func (s *Sink) row(kind byte, name []string, labels []gometrics.Label) prometheus.Metric {
	var space [256]byte
	key := append(space[:0], kind)
	for _, part := range name {
		key = append(append(key, 0), part...)
	}
	for _, l := range labels {
		key = append(append(append(append(key, 1), l.Name...), 0), l.Value...)
	}
	s.mu.RLock()
	row := s.rows[string(key)]
	s.mu.RUnlock()
	if row != nil {
		return row
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if row = s.rows[string(key)]; row == nil {
		row = newRow(kind, name, labels)
		s.rows[string(key)] = row
	}
	return row
}

func newRow(kind byte, name []string, labels []gometrics.Label) prometheus.Metric {
	o := prometheus.Opts{Name: plainName(name...), ConstLabels: prometheus.Labels{}}
	o.Help = o.Name
	for _, l := range labels {
		o.ConstLabels[plainName(l.Name)] = l.Value
	}
	switch kind {
	case gauge:
		return prometheus.NewGauge(prometheus.GaugeOpts(o))
	case counter:
		return prometheus.NewCounter(prometheus.CounterOpts(o))
	default:
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: o.Name, Help: o.Help, ConstLabels: o.ConstLabels, Buckets: buckets})
	}
}

// plainName joins parts to a name that Prometheus accepts.
func plainName(parts ...string) string {
	var name []byte
	for i, part := range parts {
		if i > 0 {
			name = append(name, '_')
		}
		for _, c := range []byte(part) {
			if plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'; !plain {
				c = '_'
			}
			name = append(name, c)
		}
	}
	return string(name)
}

// Describe implements prometheus.Collector. The metrics are not known in advance.
func (s *Sink) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s *Sink) Collect(out chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, row := range s.rows {
		out <- row
	}
}

// SetGauge sets a gauge.
func (s *Sink) SetGauge(name []string, v float32) { s.SetGaugeWithLabels(name, v, nil) }

// SetGaugeWithLabels sets a gauge.
func (s *Sink) SetGaugeWithLabels(name []string, v float32, labels []gometrics.Label) {
	if row, ok := s.row(gauge, name, labels).(prometheus.Gauge); ok {
		row.Set(float64(v))
	}
}

// EmitKey does nothing: Prometheus has no single events.
func (s *Sink) EmitKey([]string, float32) {}

// IncrCounter adds to a counter.
func (s *Sink) IncrCounter(name []string, v float32) {
	s.IncrCounterWithLabels(name, v, nil)
}

// IncrCounterWithLabels adds to a counter.
func (s *Sink) IncrCounterWithLabels(name []string, v float32, labels []gometrics.Label) {
	if row, ok := s.row(counter, name, labels).(prometheus.Counter); ok && v > 0 {
		row.Add(float64(v))
	}
}

// AddSample observes a sample.
func (s *Sink) AddSample(name []string, v float32) { s.AddSampleWithLabels(name, v, nil) }

// AddSampleWithLabels observes a sample.
func (s *Sink) AddSampleWithLabels(name []string, v float32, labels []gometrics.Label) {
	if row, ok := s.row(sample, name, labels).(prometheus.Histogram); ok {
		row.Observe(float64(v))
	}
}
