package timer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// However many scopes have signals that hang, the signals are bounded.
func TestTheSignalsOfAllScopesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, taken := newSlots(), 0
		for scope := range signalsMax + reservedMax {
			for s.acquire(t.Context(), fmt.Sprint(scope)) {
				taken++
			}
		}
		if taken != signalsMax+reservedMax {
			t.Errorf("%d signals at once, want %d", taken, signalsMax+reservedMax)
		}
	})
}

// A scope waits for one of its slots, but not again before one of its signals has ended.
func TestAScopeThatWaitedInVainDoesNotWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots()
		fill := func() (waited time.Duration) {
			began := time.Now()
			for s.acquire(t.Context(), "slow") {
			}
			return time.Since(began)
		}
		for i, want := range []time.Duration{slotWait, 0, 0} {
			if waited := fill(); waited != want {
				t.Errorf("attempt %d waits for %v, want %v", i, waited, want)
			}
		}
		s.release("slow")
		if waited := fill(); waited != slotWait {
			t.Errorf("after one has ended, it waits for %v", waited)
		}
	})
}

// A signal that ends at the moment of a refusal either gives its slot or reports the refusal:
// otherwise no one would read the refused timer again.
func TestASignalThatEndsAtARefusalReportsIt(t *testing.T) {
	given, refused := 0, 0
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots()
			for s.free > 0 {
				s.free--
				s.used["busy"]++
			}
			s.free = -reservedMax // the others have all
			reported := make(chan bool)
			go func() {
				time.Sleep(slotWait)
				reported <- s.release("busy")
			}()
			got := s.acquire(t.Context(), "late")
			told := <-reported
			switch {
			case got:
				given++
			case told:
				refused++
			default:
				t.Error("the slot was refused, and the last signal that ended did not report it")
			}
		})
	}
	if given == 0 || refused == 0 {
		t.Errorf("%d given and %d refused: only one order was tried", given, refused)
	}
}
