//go:build simoverlay

package sim

import _ "unsafe" // for go:linkname

// Seeded reports whether this program is built with the overlay: the schedule is drawn
// from the seed.
const Seeded = true

// seedRuntime seeds the generator of the goroutines of bubbles.
//
//go:linkname seedRuntime runtime.simSeed
func seedRuntime(seed uint64)

// drawnRuntime returns the state of that generator.
//
//go:linkname drawnRuntime runtime.simDrawn
func drawnRuntime() uint64

// forgetRuntime forgets the numbers of objects that were freed.
//
//go:linkname forgetRuntime runtime.simForget
func forgetRuntime()
