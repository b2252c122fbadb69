package kv_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"dormouse/fsm/kv"
)

// A read cache holds what fits and drops the rows that were used longest ago, also if nothing fits.
func TestAReadCacheStaysBelowItsBytes(t *testing.T) {
	for _, bytesMax := range []int64{0, 1, 16 << 10, 256 << 10} {
		c := kv.NewReadCache(bytesMax)
		for i := range 2000 {
			c.Keep(fmt.Sprintf("%s%d", kv.KindValue, i), make([]byte, 1<<10), 1, c.Epoch())
			if got := c.Bytes(); got < 0 || got > bytesMax {
				t.Fatalf("%d bytes after row %d, at most %d are allowed", got, i, bytesMax)
			}
		}
		if rows := c.Len(); bytesMax >= 256<<10 && rows < 100 || bytesMax <= 1 && rows != 0 {
			t.Errorf("a cache of %d bytes has %d rows", bytesMax, rows)
		}
	}
}

// A read cache answers with what was kept last, or not at all, and keeps what is read again and again.
func TestAReadCacheAnswersWithWhatItKeeps(t *testing.T) {
	const rows = 400
	c := kv.NewReadCache(128 << 10)
	key := func(i int) string { return fmt.Sprintf("%s%d", kv.KindValue, i) }
	want := func(i int) string { return strings.Repeat(strconv.Itoa(i), 100) }
	hits := 0
	for n := range 20 * rows {
		i := n * 7 % rows
		for _, i := range []int{i, 0} { // row 0 is read all the time
			value, ok := c.Get(key(i), uint64(n))
			switch {
			case !ok:
				c.Keep(key(i), []byte(want(i)), uint64(n), c.Epoch())
				if _, early := c.Get(key(i), uint64(n)-1); early && n > 0 {
					t.Fatalf("row %d is there before it was kept", i)
				}
			case string(value) != want(i):
				t.Fatalf("row %d is %q", i, value)
			case i == 0:
				hits++
			}
		}
	}
	if hits < 19*rows {
		t.Errorf("the row that is read all the time was found %d times", hits)
	}
	absent := kv.KindSummary + "x"
	c.Keep(absent, nil, 1, c.Epoch())
	if value, ok := c.Get(absent, 1); !ok || value != nil {
		t.Errorf("an absent row is %q, %v", value, ok)
	}
	empty := kv.KindValue + "x"
	c.Keep(empty, []byte{}, 1, c.Epoch())
	if value, ok := c.Get(empty, 1); !ok || value == nil {
		t.Errorf("an empty row is %v, %v", value, ok)
	}
}

func TestAnApplyCacheTellsItsBytes(t *testing.T) {
	if got := kv.NewApplyCache(1 << 20).Bytes(); got != 0 {
		t.Errorf("an empty cache has %d bytes", got)
	}
}
