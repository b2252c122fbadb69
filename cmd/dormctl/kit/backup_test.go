package kit_test

import (
	"slices"
	"testing"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
)

// A warning about the destination has no time, and is no failure.
func TestAWarningIsNoFailure(t *testing.T) {
	for at, want := range map[int64][2]string{0: {"warning", "no"}, 1_700_000_000_000: {"last error", "2023-11-14T22:13:20.000Z: no"}} {
		if rows := kit.BackupRows(layout.BackupStatus{LastError: "no", LastErrorAt: at}); !slices.Contains(rows, want) {
			t.Errorf("%q", rows)
		}
	}
}
