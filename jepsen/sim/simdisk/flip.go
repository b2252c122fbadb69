package simdisk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// tailBytesMax is how much of a log LoseTail takes away.
const tailBytesMax = 8 << 10

// LoseTail takes the end of what the log holds away, as a disk does that did not write what it
// said, and returns where. lost is false if the log holds too little.
func (d *Disk) LoseTail(draw *rand.Rand) (at string, lost bool) {
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(d.log.segments))) {
		s := d.log.segments[path]
		s.mu.Lock()
		used := s.used()
		if used < 2*blockBytes {
			s.mu.Unlock()
			continue
		}
		s.own()
		from := max(blockBytes, used-blockBytes-draw.IntN(tailBytesMax))
		clear(s.data[from:used])
		s.mu.Unlock()
		d.trace.Note("tail", d.name+":"+path, uint64(from))
		return fmt.Sprintf("%s from byte %d of %d", path, from, used), true
	}
	return "", false
}

// Flip flips one bit of what the log holds, and returns where. found is false if the log
// holds nothing.
func (d *Disk) Flip(draw *rand.Rand) (at string, found bool) {
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(d.log.segments))) {
		s := d.log.segments[path]
		s.mu.Lock()
		used := s.used()
		if used == 0 {
			s.mu.Unlock()
			continue
		}
		s.own()
		byteAt := draw.IntN(used)
		s.data[byteAt] ^= 1 << draw.IntN(8)
		s.mu.Unlock()
		d.trace.Note("flip", d.name+":"+path, uint64(byteAt))
		return fmt.Sprintf("%s at byte %d", path, byteAt), true
	}
	return "", false
}
