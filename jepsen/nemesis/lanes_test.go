package nemesis_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/testbed"
)

func TestAHostIsOneFaultsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holds := nemesis.NewHolds()
		release, err := nemesis.Claim(holds, t.Context(), "n1", "n2")
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := nemesis.Claim(holds, short, "n2", "n3"); err == nil {
			t.Error("two faults have n2")
		}
		got := make(chan struct{})
		go func() {
			defer close(got)
			if _, err := nemesis.Claim(holds, t.Context(), "n2", "n3"); err != nil {
				t.Error(err)
			}
		}()
		if _, err := nemesis.Claim(holds, t.Context(), "n3x"); err != nil {
			t.Errorf("a host that nobody has: %v", err)
		}
		synctest.Wait()
		release()
		release() // a second call does nothing
		<-got
	})
}

func TestOnlyAMinorityIsHarmedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holds := nemesis.NewHolds()
		for _, nodes := range []int{1, 2} {
			none, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := nemesis.Harm(holds, none, "n1", (nodes-1)/2); err == nil {
				t.Errorf("one of %d was harmed", nodes)
			}
			cancel()
		}
		mended, err := nemesis.Harm(holds, t.Context(), "n1", 1)
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := nemesis.Harm(holds, short, "n2", 1); err == nil {
			t.Error("two of three are harmed")
		}
		mended()
		if _, err := nemesis.Harm(holds, t.Context(), "n2", 1); err != nil {
			t.Errorf("once the first is made good: %v", err)
		}
	})
}

func TestFaultsOnOneLinkAddUpAndEachTakesBackItsOwn(t *testing.T) {
	now := map[string]testbed.Link{}
	wires := nemesis.NewWires(func(from, to string, _ testbed.Ports, l testbed.Link) { now[from+to] = l })
	nemesis.Lay(wires, 1, "a", "b", testbed.Link{Delay: time.Second, Loss: 0.1})
	nemesis.Lay(wires, 2, "a", "b", testbed.Link{Cut: true, Refuse: true, Loss: 0.3})
	nemesis.Lay(wires, 2, "b", "a", testbed.Link{Cut: true})
	if want := (testbed.Link{Cut: true, Refuse: true, Delay: time.Second, Loss: 0.3}); now["ab"] != want {
		t.Errorf("both: %+v, want %+v", now["ab"], want)
	}
	nemesis.Lift(wires, 2)
	if want := (testbed.Link{Delay: time.Second, Loss: 0.1}); now["ab"] != want || now["ba"] != (testbed.Link{}) {
		t.Errorf("the first alone: %+v and %+v", now["ab"], now["ba"])
	}
	nemesis.Lift(wires, 1)
	if now["ab"] != (testbed.Link{}) {
		t.Errorf("none: %+v", now["ab"])
	}
}
