package clock_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen/testbed/clock"
)

func open(t *testing.T) (c *clock.Clock, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "clock")
	c, err := clock.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, path
}

func TestAJumpIsInTheFileAtOnce(t *testing.T) {
	c, path := open(t)
	for _, offset := range []time.Duration{time.Hour, -time.Hour, 0} {
		c.Set(offset)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(binary.NativeEndian.Uint64(raw)); got != offset {
			t.Errorf("the file says %v after a jump by %v", got, offset)
		}
	}
	if c.Reader() != 0 {
		t.Errorf("process %d is said to read a clock that nobody has", c.Reader())
	}
}

func TestAStrobeJumpsToAndFroAndEndsWhereItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := open(t)
		c.Set(time.Minute)
		c.Strobe(time.Second, 10*time.Millisecond, 100*time.Millisecond)
		time.Sleep(time.Millisecond) // from here on in the middle of each half
		for half := range 20 {
			want := time.Minute + time.Second
			if half%2 == 1 {
				want = time.Minute
			}
			if got := c.Offset(); got != want {
				t.Errorf("in half period %d: %v", half, got)
			}
			time.Sleep(5 * time.Millisecond)
		}
		if got := c.Offset(); got != time.Minute {
			t.Errorf("after it: %v", got)
		}
	})
}

func TestADriftGoesOnAndStaysWhereItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := open(t)
		c.Drift(-0.5, 10*time.Second)
		time.Sleep(4*time.Second + time.Millisecond)
		if got := c.Offset(); got != -2*time.Second {
			t.Errorf("after 4 s: %v", got)
		}
		time.Sleep(time.Minute)
		if got := c.Offset(); got != -5*time.Second {
			t.Errorf("after its end: %v", got)
		}
	})
}

func TestEachFaultEndsTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := open(t)
		c.Drift(1, time.Hour)
		time.Sleep(time.Second)
		c.Strobe(time.Hour, time.Second, time.Hour)
		time.Sleep(10 * time.Second)
		c.Heal()
		time.Sleep(10 * time.Second)
		if got := c.Offset(); got != 0 {
			t.Errorf("after healing: %v", got)
		}
	})
}
