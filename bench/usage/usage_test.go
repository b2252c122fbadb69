package usage

import (
	"os"
	"testing"
	"time"
)

func TestALineOfStatIsTakenApart(t *testing.T) {
	line := "4711 (a) name (with 9 R) S 17 4711 4711 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 5 0 1000 1 2"
	s, err := parseStat(line)
	if err != nil {
		t.Fatal(err)
	}
	if s.parent != 17 || s.cpu != 1270*time.Millisecond {
		t.Errorf("parent %d, CPU %v", s.parent, s.cpu)
	}
	for _, bad := range []string{"", "1 (x) S 2", "1 (x) S y 0 0 0 0 0 0 0 0 0 1 1 1 1 0", "1 (x) S 2 0 0 0 0 0 0 0 0 0 1 1 1 z 0"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q was taken for a line of stat", bad)
		}
	}
}

func TestWhatThisProcessUsesGrows(t *testing.T) {
	before, err := Tree(os.Getpid())
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	if before.Memory < 1<<20 {
		t.Errorf("it holds %d bytes", before.Memory)
	}
	burnt := 0
	for self, err := Self(); self < before.CPU+30*time.Millisecond; self, err = Self() {
		if err != nil {
			t.Fatal(err)
		}
		burnt++
	}
	after, err := Tree(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if used := after.Less(before); used.CPU < 10*time.Millisecond || used.Memory != after.Memory {
		t.Errorf("after %d rounds it has used %+v", burnt, used)
	}
}

func TestAProcessThatIsNotThereIsAnError(t *testing.T) {
	if _, err := Tree(1 << 30); err == nil {
		t.Error("it has used something")
	}
}

func TestPeakIsNoLessThanWhatIsResident(t *testing.T) {
	now, err := Tree(os.Getpid())
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	if peak, err := Peak(os.Getpid()); err != nil || peak < now.Memory {
		t.Errorf("at most %d bytes were resident, and %d are, %v", peak, now.Memory, err)
	}
	if _, err := Peak(-1); err == nil {
		t.Error("a process that does not exist has memory")
	}
}
