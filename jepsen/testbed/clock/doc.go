// Package clock gives a host a wall clock of its own, that jumps, strobes and
// drifts. The monotonic clock, and the clocks of all else, stay as they are.
//
// It takes a build of the daemon whose Go runtime reads the wall clock with an
// offset (Build makes it, tag chaosclock) and a small file that the daemon maps
// into memory and a Clock writes. No signal and no poll is in between: the next
// time.Now of the daemon sees the offset.
package clock
