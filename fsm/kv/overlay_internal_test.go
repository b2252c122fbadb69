package kv

import (
	"strconv"
	"testing"
)

// An entry with many changes must not make later entries clear its memory, also if its commits were
// refused.
func TestAnOverlayGivesTheMemoryOfALargeEntryBack(t *testing.T) {
	for name, refused := range map[string]bool{"applied": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			o := NewOverlay(NewApplyCache(1 << 10))
			mark := o.Begin()
			for n := range changesKeptMax + 1 {
				o.Set(KindCheckpointBody+strconv.Itoa(n), nil)
			}
			if refused {
				o.Rollback(mark)
			}
			o.Settle()
			if got := cap(o.rows); got > changesKeptMax || len(o.rows) > 0 || o.Size() != 0 {
				t.Errorf("the overlay has memory for %d changes, %d rows, and counts %d bytes", got, len(o.rows), o.Size())
			}
		})
	}
}
