package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/storage"
)

// Keys visits about as many keys as it returns, however many its entry has written or deleted: an entry of a thousand
// commits asks thousands of times.
func TestKeysVisitsAboutAsManyKeysAsItReturns(t *testing.T) {
	const rows = 4000
	key := func(n int) string { return fmt.Sprintf("%s%08d", KindForkPin, n) }
	engine := engineWith(t, rows, key)
	end := After(KindForkPin)
	for name, test := range map[string]struct {
		change  func(o *Overlay) error
		each    func(o *Overlay, n int)
		visited int // by each Keys, on average
	}{
		"a range is deleted": {
			change:  func(o *Overlay) error { return o.RemoveRange(key(0), key(rows-1)) },
			visited: 2,
		},
		"rows are deleted in order": {
			each:    func(o *Overlay, n int) { o.Remove(key(n)) },
			visited: 1 + absentMin + 2,
		},
		"rows are written and deleted in order": {
			change: func(o *Overlay) error {
				for n := range rows {
					o.Set(key(n)+"a", nil)
				}
				return nil
			},
			each: func(o *Overlay, n int) {
				o.Remove(key(n))
				o.Remove(key(n) + "a")
			},
			visited: 1 + absentMin + 2,
		},
		"rows are deleted, and commits are refused": {
			change: func(o *Overlay) error {
				for n := range rows / 2 {
					o.Remove(key(n))
				}
				return nil
			},
			each: func(o *Overlay, n int) {
				mark := o.Begin()
				o.Remove(key(rows/2 + n%absentMin))
				if _, _, err := o.Keys(KindForkPin, end, 1); err != nil {
					t.Fatal(err)
				}
				o.Rollback(mark)
			},
			visited: 1 + absentMin + 2,
		},
		"many rows are written": {
			change: func(o *Overlay) error {
				for n := range rows {
					o.Set(key(n), []byte("new"))
				}
				return nil
			},
			visited: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOverlay(NewApplyCache(1 << 10))
			o.Open(engine)
			if test.change != nil {
				if err := test.change(o); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := o.Keys(KindForkPin, end, 1); err != nil { // the first may pass all that was deleted
				t.Fatal(err)
			}
			o.visited = 0
			for n := range rows / 2 {
				if test.each != nil {
					test.each(o, n)
				}
				if keys, _, err := o.Keys(KindForkPin, end, 1); err != nil || len(keys) != 1 {
					t.Fatal(keys, err)
				}
			}
			if most := rows / 2 * test.visited; o.visited > most {
				t.Errorf("%d times, Keys has visited %d keys, more than %d", rows/2, o.visited, most)
			}
		})
	}
}

// Spans that overlap, that meet, and that are cut must have the same keys as a set.
func TestAbsentSpansAgainstASet(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var spans absentSpans
	set := [1000]bool{}
	marked, before := spans.mark(), set
	for range 1000 {
		at := random.IntN(len(set))
		switch random.IntN(8) {
		case 0:
			marked, before = spans.mark(), set
		case 1:
			spans.reset(marked)
			set = before
		case 2, 3:
			to := min(len(set)-1, at+1+random.IntN(20))
			if at < to {
				spans.add(span{fmt.Sprintf("%03d", at), fmt.Sprintf("%03d", to)})
			}
			for n := at; n < to; n++ {
				set[n] = true
			}
		default:
			spans.cut(fmt.Sprintf("%03d", at))
			set[at] = false
		}
		for n := range set {
			if _, got := spans.end(fmt.Sprintf("%03d", n)); got != set[n] {
				t.Fatalf("key %d is absent: %t, want %t, of %q", n, got, set[n], spans.all)
			}
		}
		if !slices.IsSortedFunc(spans.all, func(a, b span) int {
			if a.lower < a.upper && a.upper < b.lower {
				return -1
			}
			return 1
		}) {
			t.Fatalf("the spans %q are not disjoint and in order", spans.all)
		}
	}
}

// engineWith returns an engine in memory with rows.
func engineWith(t *testing.T, rows int, key func(n int) string) *storage.Engine {
	t.Helper()
	engine, err := storage.Open("engine", storage.Options{FS: storage.MemFS(), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	batch := engine.NewBatch()
	defer batch.Close()
	for n := range rows {
		batch.Set([]byte(key(n)), []byte("row"))
	}
	if err := engine.Commit(batch); err != nil {
		t.Fatal(err)
	}
	return engine
}
