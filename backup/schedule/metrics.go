package schedule

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/backup"
)

// metrics are the metrics of the backups that this process takes.
type metrics struct {
	failures, removed, gaps, logBytes, logFailures prometheus.Counter
	seconds, bytes                                 prometheus.Gauge
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "dormouse", Subsystem: "backup", Name: name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "dormouse", Subsystem: "backup", Name: name, Help: help})
}

func newMetrics() *metrics {
	return &metrics{
		failures:    counter("failures_total", "Failed backups, and other failures at their destination, by this process."),
		removed:     counter("removed_total", "Backups that the retention has removed."),
		gaps:        counter("log_gaps_total", "Times that the shipped log lost entries."),
		logBytes:    counter("log_bytes_total", "Bytes of the log that were shipped."),
		logFailures: counter("log_failures_total", "Failed attempts to ship the log."),
		seconds:     gauge("seconds", "How long the last backup of this process took, with its verification."),
		bytes:       gauge("bytes", "Stored size of the last backup of this process."),
	}
}

func (m *metrics) taken(b backup.Manifest, took time.Duration) {
	m.seconds.Set(took.Seconds())
	m.bytes.Set(float64(b.Bytes))
}

// state are the metrics of a leader, which other nodes do not have.
var state = []struct {
	desc  *prometheus.Desc
	value func(r *Runner) (float64, bool)
}{
	{describe("last_success_timestamp_seconds", "When the newest whole backup was verified; only the leader has it."), func(r *Runner) (float64, bool) {
		s := r.Status()
		return float64(s.LastSuccessAt) / 1000, s.Leads && s.LastSuccessAt > 0
	}},
	{describe("overdue_timestamp_seconds", "When the second time of the schedule after the newest backup comes, and backups are overdue; only the leader has it."), func(r *Runner) (float64, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return float64(r.overdue.UnixMilli()) / 1000, r.catalog != nil && !r.overdue.IsZero()
	}},
	{describe("log_shipped_index", "The last log entry that was shipped; only the leader has it."), func(r *Runner) (float64, bool) {
		s := r.Status()
		return float64(s.ShippedTo), s.Leads && s.ShippedTo > 0
	}},
	{describe("log_shipped_timestamp_seconds", "The time of the last log entry that was shipped; only the leader has it."), func(r *Runner) (float64, bool) {
		s := r.Status()
		return float64(s.ShippedTime) / 1000, s.Leads && s.ShippedTime > 0
	}},
}

func describe(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("dormouse_backup_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (r *Runner) Describe(to chan<- *prometheus.Desc) {
	for _, c := range r.metrics.all() {
		c.Describe(to)
	}
	for _, s := range state {
		to <- s.desc
	}
}

// Collect implements prometheus.Collector.
func (r *Runner) Collect(to chan<- prometheus.Metric) {
	for _, c := range r.metrics.all() {
		c.Collect(to)
	}
	for _, s := range state {
		if value, ok := s.value(r); ok {
			to <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, value)
		}
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.failures, m.removed, m.gaps, m.logBytes, m.logFailures, m.seconds, m.bytes}
}
