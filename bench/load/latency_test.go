package load

import (
	"encoding/json"
	"testing"
	"time"
)

func TestLatenciesOfAllCallersAreMerged(t *testing.T) {
	l := newLatencies()
	for caller := range 100 { // more callers than shards
		l.add(caller, time.Duration(caller+1)*time.Millisecond)
	}
	l.add(5, 2*latencyMax)
	l.add(5, -time.Second)
	got, ops := l.merged()
	if ops != 102 {
		t.Errorf("%d were counted", ops)
	}
	for what, v := range map[string]struct{ got, want float64 }{
		"p50": {got.P50, 50}, "p90": {got.P90, 91}, "p99": {got.P99, 100}, "max": {got.Max, 60_000},
	} {
		if v.got < v.want*0.99 || v.got > v.want*1.01 {
			t.Errorf("%s is %v ms, want about %v", what, v.got, v.want)
		}
	}
}

func TestPayloadsAreJSONOfTheirSizeAndDiffer(t *testing.T) {
	for _, size := range []int{11, entryBytes, checkpointBytes, turnCheckpointBytes} {
		list := payloads(size)
		for _, p := range list {
			if len(p) != size || !json.Valid(p) {
				t.Fatalf("a payload of %d bytes: %s", size, p)
			}
		}
		if size > 11 && string(list[0]) == string(list[1]) {
			t.Errorf("payloads of %d bytes are all the same", size)
		}
	}
}

func TestAgentsAreDealtOutSoThatEachHasOneCaller(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range newCallers(3, 10, "p") {
		if len(c.agents) < 3 {
			t.Errorf("caller %d has %d agents", c.number, len(c.agents))
		}
		for _, a := range c.agents {
			if seen[a.ID] {
				t.Errorf("%s has two callers", a.ID)
			}
			seen[a.ID] = true
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d agents were dealt out", len(seen))
	}
	for _, c := range newCallers(5, 2, "p") {
		if len(c.agents) == 0 {
			t.Errorf("caller %d has no agent", c.number)
		}
	}
}
