package node

import (
	"runtime/debug"
	"testing"

	"dormouse/agent"
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
