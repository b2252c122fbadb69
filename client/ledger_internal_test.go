package client

import (
	"math/rand/v2"
	"strings"
	"testing"

	"dormouse/agent"
)

// The cluster drops the answers below low: low never passes a number that is still awaited, and it follows the numbers
// that are settled, also after the window has come round.
func TestTheLowestAwaitedNumberIsExact(t *testing.T) {
	w := newRequestWindow("c", agent.RequestWindowMax)
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

// The windows of a client have ids that are valid and differ, whatever its own id is.
func TestTheIDsOfWindowsAreValid(t *testing.T) {
	for _, id := range []string{"c", strings.Repeat("x", agent.IDBytesMax), strings.Repeat("é", agent.IDBytesMax/2), "x" + strings.Repeat("é", agent.IDBytesMax/2-1)} {
		windows := newRequestWindows(id, 1, 1)
		seen := map[string]bool{}
		for range 3 { // none is settled
			w, seq, low := windows.next()
			if err := agent.ValidID("client id", w.client); err != nil || seq != 1 || low != 1 || seen[w.client] {
				t.Errorf("after %q: %q has seq %d and low %d: %v", id, w.client, seq, low, err)
			}
			seen[w.client] = true
		}
		if !seen[id] {
			t.Errorf("no window has the id %q", id)
		}
	}
}
