package instance

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	instancesDesc   = prometheus.NewDesc("dormouse_instances", "Instances in memory on this host, by status.", []string{"status"}, nil)
	attachmentsDesc = prometheus.NewDesc("dormouse_instance_attachments", "Attachments that keep instances awake on this host.", nil, nil)
	eventsDesc      = prometheus.NewDesc("dormouse_instance_events_total",
		"Events of instances on this host: signals handled, wakes, hibernations, failed hibernations, handler crashes.", []string{"event"}, nil)
	ownedDesc = prometheus.NewDesc("dormouse_partitions_owned", "Partitions that this host owns while its lease is valid.", nil, nil)
	leaseDesc = prometheus.NewDesc("dormouse_lease_seconds", "Time until this process's lease expires unless it is renewed; 0: it owns nothing.", nil, nil)
)

// Collector returns a Prometheus collector of this host's instances, partitions
// and lease. It collects the current values.
func (h *Host) Collector() prometheus.Collector { return collector{h} }

type collector struct{ host *Host }

// Describe implements prometheus.Collector.
func (collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{instancesDesc, attachmentsDesc, eventsDesc, ownedDesc, leaseDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	owned, lease := c.host.leases.ownedPartitions()
	gauge(ownedDesc, float64(owned))
	gauge(leaseDesc, lease.Seconds())
	stats, err := c.host.Stats(context.Background(), "", "")
	if err != nil || len(stats.Nodes) != 1 {
		return
	}
	n := stats.Nodes[0]
	for status, count := range map[string]int{"awake": n.Awake, "waking": n.Waking, "draining": n.Draining} {
		gauge(instancesDesc, float64(count), status)
	}
	gauge(attachmentsDesc, float64(n.Attachments))
	for event, count := range map[string]uint64{
		"signal": n.Signals, "wake": n.Wakes, "hibernated": n.Hibernated, "hibernation_failed": n.Failed, "crash": n.Crashed,
	} {
		out <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(count), event)
	}
}
