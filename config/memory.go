package config

import (
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Bounds of the settings of memory.
const (
	memoryMin     = 64 << 20 // the process alone takes half of it
	memoryMax     = 64 << 40
	cacheBytesMin = 1 << 20
	cacheBytesMax = 1 << 40
)

// MemoryBytes returns storage.memory in bytes; 0 if it is not set or not valid.
func (s Storage) MemoryBytes() int64 {
	bytes, err := humanize.ParseBytes(strings.TrimSpace(s.Memory))
	if err != nil || bytes > math.MaxInt64 {
		return 0
	}
	return int64(bytes)
}

func (c Config) validateMemory(v *checks) {
	if m := c.Storage.Memory; m != "" {
		switch bytes := c.Storage.MemoryBytes(); {
		case bytes == 0:
			v.add("storage.memory is %q: write a number and a unit, such as 512MiB or 4GiB", m)
		case bytes < memoryMin || bytes > memoryMax:
			v.add("storage.memory is %s: use %s to %s", m, humanize.IBytes(memoryMin), humanize.IBytes(memoryMax))
		}
	}
	if b := c.Storage.CacheBytes; b != 0 {
		between(v, "storage.cache_bytes", b, cacheBytesMin, cacheBytesMax)
		if m := c.Storage.MemoryBytes(); m > 0 && b > m {
			v.add("storage.cache_bytes is %d, more than storage.memory, which is %s: use less, or 0 for a part of the memory", b, humanize.IBytes(uint64(m)))
		}
	}
}
