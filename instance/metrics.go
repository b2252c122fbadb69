package instance

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
)

var (
	instancesDesc   = prometheus.NewDesc("dormouse_instances", "Instances in memory here, by how they are.", []string{"status"}, nil)
	attachmentsDesc = prometheus.NewDesc("dormouse_instance_attachments", "Attachments that keep instances awake here.", nil, nil)
	eventsDesc      = prometheus.NewDesc("dormouse_instance_events_total",
		"What instances did here: signals handled, wakes, hibernations, hibernations that failed, handlers that crashed.", []string{"event"}, nil)
	ownedDesc = prometheus.NewDesc("dormouse_partitions_owned", "Partitions whose instances live here, while the lease stands.", nil, nil)
	leaseDesc = prometheus.NewDesc("dormouse_lease_seconds", "How long this process may keep what it owns unless its lease is renewed; 0: it owns nothing.", nil, nil)
)

// Collector exposes this host's instances, and what it owns, to Prometheus: as
// they are when it is asked.
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
	owned, lease := c.host.ownedPartitions()
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

// ownedPartitions counts the partitions that this process owns, while its lease stands, and
// tells how long it will.
func (h *Host) ownedPartitions() (partitions int, lease time.Duration) {
	if lease = time.Until(h.o.Ownership.LeaseUntil()); lease <= 0 {
		return 0, 0
	}
	for n := range agent.Partitions {
		if p := h.o.Ownership.Partition(n); p.Owner == h.o.Node && p.Incarnation == h.o.Incarnation {
			partitions++
		}
	}
	return partitions, lease
}
