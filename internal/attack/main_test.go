package attack

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage as dormoused does: make test sets another GOGC, with which the heap
// grows to several times its live data.
func TestMain(m *testing.M) {
	debug.SetGCPercent(100)
	os.Exit(m.Run())
}
