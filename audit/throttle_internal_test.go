package audit

import (
	"fmt"
	"testing"
	"time"
)

// Each denial is a line, or is counted by a later one, also of addresses that are told apart no longer.
func TestNoDenialIsForgotten(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	th := newThrottle(func() time.Time { return now })
	const addresses, each = addressesMax + 100, denialsBurst + 3
	var denials, lines, told uint64
	for i := range addresses {
		for range each {
			denials++
			if leftOut, ok := th.allow(fmt.Sprint("a", i)); ok {
				lines, told = lines+1, told+leftOut
			}
		}
	}
	th.giveBack("a0", 2) // it is told apart no longer
	th.giveBack(fmt.Sprint("a", addresses-1), 2)
	for address, n := range th.drain() {
		told += n
		if address == "" && n != 3*100+2 {
			t.Errorf("%d denials are of forgotten addresses", n)
		}
	}
	if lines != addresses*denialsBurst || lines+told != denials+4 {
		t.Errorf("%d lines, and %d others of %d denials", lines, told, denials)
	}
	if again := th.drain(); len(again) != 0 {
		t.Errorf("%d addresses are told twice", len(again))
	}
}
