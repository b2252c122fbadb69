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

// enterProcess makes the calling goroutine, and all that it starts, belong to a process.
//
//go:linkname enterProcess runtime.simEnter
func enterProcess(process uint32)

// setClock sets how far the wall clock of a process is ahead, in nanoseconds.
//
//go:linkname setClock runtime.simSetClock
func setClock(process uint32, ahead int64)

// pauseProcess pauses a process, or lets it go on.
//
//go:linkname pauseProcess runtime.simPause
func pauseProcess(process uint32, paused bool)
