package kv

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/storage"
)

// TestTheOrderOfKeysAgainstAScan adds and forgets rows, and compares each range with a scan of all rows.
func TestTheOrderOfKeysAgainstAScan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var order keyOrder
	var rows []change
	for range 3000 {
		if random.IntN(100) == 0 {
			rows = rows[:random.IntN(len(rows)+1)]
			order.truncate(len(rows))
		}
		for range random.IntN(5) {
			rows = append(rows, change{key: fmt.Sprint(random.IntN(1000))})
		}
		lower := fmt.Sprint(random.IntN(1000))
		upper := lower + fmt.Sprint(random.IntN(10))
		var want []string
		for _, c := range rows {
			if lower <= c.key && c.key < upper {
				want = append(want, c.key)
			}
		}
		var got []string
		keys := order.within(rows, lower, upper)
		for key, _ := keys.key(); key != ""; key, _ = keys.key() {
			got = append(got, key)
			keys.step(key)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows from %q to %q are %q, want %q", len(rows), lower, upper, got, want)
		}
	}
}

// TestDeletedRangesAgainstAScan is the same for the ranges that an entry has deleted. Some of them hold others.
func TestDeletedRangesAgainstAScan(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var ranges deletedRanges
	var plain []deletedRange
	clock := 0
	for range 3000 {
		if random.IntN(100) == 0 {
			plain = plain[:random.IntN(len(plain)+1)]
			ranges.truncate(len(plain))
		}
		for range random.IntN(5) {
			clock++
			lower := fmt.Sprint(random.IntN(1000))
			r := deletedRange{lower: lower, upper: After(lower[:1+random.IntN(len(lower))]), at: clock}
			plain = append(plain, r)
			ranges.add(r)
		}
		key, at := fmt.Sprint(random.IntN(10000)), max(0, clock-random.IntN(2000))
		want := slices.ContainsFunc(plain, func(r deletedRange) bool { return r.at > at && r.lower <= key && key < r.upper })
		if got := ranges.coverSince(key, at); got != want {
			t.Fatalf("%d ranges, key %q since %d: %t, want %t", len(plain), key, at, got, want)
		}
	}
}

// A commit of an entry that has already changed much must not take longer than one of a small entry. A commit of 1,024
// ops that each looked for keys took time for each pair of its ops, and stopped the cluster for seconds. The test counts
// the rows and ranges that reads sort, merge, or compare one by one.
func TestALargeEntryIsNotSlowForEachCommit(t *testing.T) {
	engine, err := storage.Open("dir", storage.Options{FS: storage.MemFS(), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close() //nolint:errcheck // in memory
	for name, subject := range map[string]struct {
		grow   func(o *Overlay, n int)
		sorted func(o *Overlay) (runs map[any]int, rest int) // lengths of runs by their memory, and what is in no run
	}{
		"rows": {
			func(o *Overlay, n int) { o.Set(fmt.Sprintf("%s%08d", KindValue, n), nil) },
			func(o *Overlay) (map[any]int, int) {
				runs := map[any]int{}
				for _, run := range o.order.runs {
					runs[&run[0]] = len(run)
				}
				return runs, len(o.rows) - o.order.rows
			},
		},
		"ranges": {
			func(o *Overlay, n int) { o.ranges.add(deletedRange{fmt.Sprint(n), fmt.Sprint(n) + "a", n}) },
			func(o *Overlay) (map[any]int, int) {
				runs := map[any]int{}
				for _, run := range o.ranges.runs {
					runs[&run.sorted[0]] = len(run.sorted)
				}
				return runs, len(o.ranges.all) - o.ranges.sorted()
			},
		},
	} {
		for _, size := range []int{100, 30_000} {
			o := NewOverlay(NewApplyCache(1 << 10))
			o.Open(engine)
			read := func() {
				if _, _, err := o.Keys(KindThread, After(KindThread), 1); err != nil {
					t.Fatal(err)
				}
				if _, err := o.Get(KindThread); err != nil {
					t.Fatal(err)
				}
			}
			for n := range size {
				subject.grow(o, n)
			}
			read()
			before, _ := subject.sorted(o)
			moved := 0
			for n := range 2000 {
				subject.grow(o, size+n)
				read()
				runs, rest := subject.sorted(o)
				if rest > scannedMax || len(runs) > bits.Len(uint(size+n)) {
					t.Fatalf("with %d %s there are %d runs, and %d in none", size+n, name, len(runs), rest)
				}
				for memory, length := range runs {
					if before[memory] != length {
						moved += length
					}
				}
				before = runs
			}
			if most := (size + 2000) * bits.Len(uint(size)); moved > most {
				t.Errorf("2,000 reads of an entry with %d %s moved %d of them, more than %d", size, name, moved, most)
			}
		}
	}
}
