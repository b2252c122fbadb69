package kv_test

import (
	"fmt"
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

func TestAnApplyCacheTellsItsBytes(t *testing.T) {
	if got := kv.NewApplyCache(1 << 20).Bytes(); got != 0 {
		t.Errorf("an empty cache has %d bytes", got)
	}
}
