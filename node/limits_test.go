package node

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/cluster"
	"dormouse/config"
	"dormouse/store"
)

// Even in the least memory the longest answer has room beside its own call and a page of another
// call of the same address.
func TestTheLongestAnswerFitsInTheLeastMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	pool := inFlight(config.Config{})
	const call = 1 << 10
	if !pool.Try("an address", agent.ReadBytesMax-call) || !pool.Try("an address", call) {
		t.Fatal("a page and a call have no room")
	}
	if !pool.Fits("an address", store.AnswerBytesMax) {
		t.Errorf("of %d bytes, %d are in use, and an answer of %d bytes does not fit", pool.Total(), pool.Used(), store.AnswerBytesMax)
	}
}

// The least that may be configured is what a node takes in the least memory.
func TestTheConfiguredBytesInFlightAreBoundedAlike(t *testing.T) {
	for bytes, valid := range map[int64]bool{inFlightBytesMin - 1: false, inFlightBytesMin: true} {
		_, err := config.Load(config.Sources{Environ: []string{"DORMOUSE_NODE__ID=n1", fmt.Sprintf("DORMOUSE_LIMITS__IN_FLIGHT_BYTES=%d", bytes)}})
		if refused := err != nil && strings.Contains(err.Error(), "limits.in_flight_bytes"); refused == valid {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

// Parts that are used without a node have the times of the timing lan.
func TestTheDefaultTimesAreThoseOfTheTimingLAN(t *testing.T) {
	c := config.Default()
	if got, want := timing(c), cluster.DefaultTiming(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
