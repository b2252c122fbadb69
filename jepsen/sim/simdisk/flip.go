package simdisk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Flip flips one bit of what the log holds, and returns where. found is false if the log
// holds nothing.
func (d *Disk) Flip(draw *rand.Rand) (at string, found bool) {
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(d.log.segments))) {
		s := d.log.segments[path]
		s.mu.Lock()
		used := len(s.data)
		for used > 0 && s.data[used-1] == 0 {
			used--
		}
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
