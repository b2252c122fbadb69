package node_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dormouse/agent/layout"
)

// scraped returns what Prometheus reads from a host, as its program serves it.
func scraped(t *testing.T, g *testHost) func(series string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(g.Collector())
	page := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	return func(series string) float64 {
		t.Helper()
		for line := range strings.Lines(page.Body.String()) {
			if value, ok := strings.CutPrefix(line, series+" "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		t.Fatalf("there is no %s in\n%s", series, page.Body)
		return 0
	}
}

// A host exports what it runs, and that it runs nothing once its lease has ended.
func TestAHostHasMetricsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		w.await("the host to own everything", func() bool { return len(h1.Owned()) == layout.Partitions })
		for i := range 6 {
			w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i%3))
		}
		now := scraped(t, h1)
		for series, want := range map[string]float64{
			`dormouse_instances{status="awake"}`:             3,
			`dormouse_instances{status="waking"}`:            0,
			`dormouse_instance_attachments`:                  0,
			`dormouse_instance_events_total{event="signal"}`: 6,
			`dormouse_instance_events_total{event="wake"}`:   3,
			`dormouse_partitions_owned`:                      layout.Partitions,
		} {
			if got := now(series); got != want {
				t.Errorf("%s is %v, want %v", series, got, want)
			}
		}
		if left := now("dormouse_lease_seconds"); left <= 0 || left > nodeLease.Seconds() {
			t.Errorf("the lease stands for another %v s", left)
		}
		w.cutOff("h1")
		time.Sleep(2 * nodeLease)
		now = scraped(t, h1)
		if owned, left := now("dormouse_partitions_owned"), now("dormouse_lease_seconds"); owned != 0 || left != 0 {
			t.Errorf("without a lease it owns %v partitions for another %v s", owned, left)
		}
		w.heal()
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
	})
}
