package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
// ops that each looked for keys took time for each pair of its ops, and stopped the cluster for seconds.
func TestALargeEntryIsNotSlowForEachCommit(t *testing.T) {
	engine, err := storage.Open("dir", storage.Options{FS: storage.MemFS(), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close() //nolint:errcheck // in memory
	for name, grow := range map[string]func(o *Overlay, n int){
		"rows":   func(o *Overlay, n int) { o.Set(fmt.Sprintf("%s%08d", KindValue, n), nil) },
		"ranges": func(o *Overlay, n int) { o.ranges.add(deletedRange{fmt.Sprint(n), fmt.Sprint(n) + "a", n}) },
	} {
		took := func(size int) time.Duration {
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
				grow(o, n)
			}
			read() // sorts them
			began := time.Now()
			for n := range 2000 {
				grow(o, size+n)
				read()
			}
			return time.Since(began)
		}
		small, large := took(100), took(30_000)
		for range 2 { // the machine may be busy
			small, large = min(small, took(100)), min(large, took(30_000))
		}
		if large > 10*small {
			t.Errorf("2,000 reads take %v in an entry with 100 %s, and %v with 30,000", small, name, large)
		}
	}
}
