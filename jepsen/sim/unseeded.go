//go:build !simoverlay

package sim

// Seeded reports whether this program is built with the overlay: the schedule is drawn
// from the seed.
const Seeded = false

func seedRuntime(uint64) {}

func drawnRuntime() uint64 { return 0 }

func forgetRuntime() {}

func enterProcess(uint32) {}

func setClock(uint32, int64) {}

func pauseProcess(uint32, bool) {}
