package tally_test

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	gometrics "github.com/hashicorp/go-metrics/compat"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dormouse/internal/tally"
)

var name = []string{"raft", "net", "rpc.Decode-time"}

func peer(id string) []gometrics.Label { return []gometrics.Label{{Name: "peer.id", Value: id}} }

func TestWhatWasCountedIsShown(t *testing.T) {
	s := tally.New()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 100 {
				s.IncrCounter([]string{"raft", "apply"}, 2)
				s.IncrCounterWithLabels([]string{"raft", "logs"}, 1, peer("n 1"))
				s.IncrCounterWithLabels([]string{"raft", "logs"}, 3, peer("n2"))
				s.SetGauge([]string{"raft", "peers"}, 3)
				s.AddSample(name, 0.5)
				s.AddSampleWithLabels(name, 1000, peer("n2"))
			}
		})
	}
	work.Wait()
	page := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		"# TYPE raft_apply counter", "raft_apply 800", `raft_logs{peer_id="n 1"} 400`, `raft_logs{peer_id="n2"} 1200`,
		"# TYPE raft_peers gauge", "raft_peers 3", "# TYPE raft_net_rpc_Decode_time histogram",
		`raft_net_rpc_Decode_time_count 400`, `raft_net_rpc_Decode_time_sum 200`,
		`raft_net_rpc_Decode_time_count{peer_id="n2"} 400`,
		`raft_net_rpc_Decode_time_bucket{peer_id="n2",le="655.36"} 0`, `raft_net_rpc_Decode_time_bucket{peer_id="n2",le="2621.44"} 400`,
	} {
		if !strings.Contains(page.Body.String(), line+"\n") {
			t.Errorf("%s is missing from\n%s", line, page.Body)
		}
	}
}

func TestAMetricThatIsKnownTakesNoMemory(t *testing.T) {
	s := tally.New()
	labels := peer("n2")
	if n := testing.AllocsPerRun(100, func() {
		s.AddSampleWithLabels(name, 1, labels)
		s.IncrCounterWithLabels(name[:2], 1, labels)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSample(b *testing.B) {
	s := tally.New()
	for b.Loop() {
		s.AddSampleWithLabels(name, 1, peer("n2"))
	}
}
