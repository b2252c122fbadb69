package node

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/fsm"
)

// gathered returns the metrics of a scrape, by name.
func gathered(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry() // it compares the metrics with their descriptions
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, f := range families {
		found[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
	}
	return found
}

func TestTheEngineTellsPrometheusUntilItIsClosed(t *testing.T) {
	machine, err := fsm.Open(fsm.Options{Dir: "data", FS: vfs.NewMem(), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	found := gathered(t, engineCollector{machine})
	if len(found) != len(engineMetrics) {
		t.Errorf("%d metrics of %d", len(found), len(engineMetrics))
	}
	for name, positive := range map[string]bool{
		"dormouse_engine_disk_bytes": true, "dormouse_engine_memtable_bytes": true,
		"dormouse_engine_compacting":   false, // dormbench reads it
		"dormouse_engine_stalls_total": false,
	} {
		if v, ok := found[name]; !ok || v > 0 != positive {
			t.Errorf("%s is %v, %v", name, v, ok)
		}
	}
	if err := machine.Close(); err != nil {
		t.Fatal(err)
	}
	if found := gathered(t, engineCollector{machine}); len(found) != 0 {
		t.Errorf("an engine that is closed tells %v", found)
	}
}
