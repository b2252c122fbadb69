package node

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/instance"
)

// instanceCollector counts this node's instances when it is asked.
type instanceCollector struct{ host *instance.Host }

var (
	instancesNow = prometheus.NewDesc("dormouse_instances", "Instances in memory here, by how they are.", []string{"status"}, nil)
	attachedNow  = prometheus.NewDesc("dormouse_instance_attachments", "Attachments that keep instances awake here.", nil, nil)
	instanceDid  = prometheus.NewDesc("dormouse_instance_events_total",
		"What instances did here: signals handled, wakes, hibernations, hibernations that failed, handlers that crashed.", []string{"event"}, nil)
)

// Describe implements prometheus.Collector.
func (instanceCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{instancesNow, attachedNow, instanceDid} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c instanceCollector) Collect(out chan<- prometheus.Metric) {
	stats, err := c.host.Stats(context.Background(), "", "")
	if err != nil || len(stats.Nodes) != 1 {
		return
	}
	n := stats.Nodes[0]
	for status, count := range map[string]int{"awake": n.Awake, "waking": n.Waking, "draining": n.Draining} {
		out <- prometheus.MustNewConstMetric(instancesNow, prometheus.GaugeValue, float64(count), status)
	}
	out <- prometheus.MustNewConstMetric(attachedNow, prometheus.GaugeValue, float64(n.Attachments))
	for event, count := range map[string]uint64{
		"signal": n.Signals, "wake": n.Wakes, "hibernated": n.Hibernated, "hibernation_failed": n.Failed, "crash": n.Crashed,
	} {
		out <- prometheus.MustNewConstMetric(instanceDid, prometheus.CounterValue, float64(count), event)
	}
}
