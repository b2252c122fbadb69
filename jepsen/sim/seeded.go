//go:build simoverlay

package sim

import _ "unsafe" // for go:linkname

// Seeded reports whether this program is built with the overlay: the schedule is drawn
// from the seed.
const Seeded = true

//go:linkname seedRuntime runtime.simSeed
func seedRuntime(seed uint64)

//go:linkname drawnRuntime runtime.simDrawn
func drawnRuntime() uint64

//go:linkname forgetRuntime runtime.simForget
func forgetRuntime()
