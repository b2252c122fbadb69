package client

import (
	"math/rand/v2"
	"testing"

	"dormouse/agent"
)

// The cluster drops the answers below low: low never passes a number that is still awaited, and it follows the numbers
// that are settled, also after the window has come round.
func TestTheLowestAwaitedNumberIsExact(t *testing.T) {
	w := newRequestWindow(agent.RequestWindowMax)
	rng := rand.New(rand.NewPCG(1, 2))
	var awaited []uint64
	check := func() {
		t.Helper()
		want := w.next
		for _, seq := range awaited {
			want = min(want, seq)
		}
		if low := w.lowest(); low != want {
			t.Fatalf("low is %d, and the lowest of %d awaited numbers is %d", low, len(awaited), want)
		}
	}
	for range 5 * agent.RequestWindowMax {
		if seq, _, ok := w.try(); ok {
			awaited = append(awaited, seq)
		}
		for len(awaited) > 0 && rng.IntN(3) > 0 {
			i := rng.IntN(min(len(awaited), 8)) // some settle late
			w.settle(awaited[i])
			awaited = append(awaited[:i], awaited[i+1:]...)
		}
		check()
	}
	for len(awaited) > 0 {
		w.settle(awaited[len(awaited)-1])
		awaited = awaited[:len(awaited)-1]
		check()
	}
	for range agent.RequestWindowMax {
		if _, _, ok := w.try(); !ok {
			t.Fatal("the window is full too early")
		}
	}
	if seq, _, ok := w.try(); ok {
		t.Errorf("number %d is beyond the window that begins at %d", seq, w.lowest())
	}
}
