package memory

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
)

// Source says where a Budget's total is from.
type Source string

// The sources, in the order in which they are asked.
const (
	Setting Source = "the setting"
	Cgroup  Source = "the limit of the cgroup"
	Machine Source = "the memory of the machine"
	Unknown Source = "neither the machine nor a cgroup says"
)

// unknownBytes is the total if neither the machine nor a cgroup says how much memory there is.
const unknownBytes = 512 << 20

// Budget is how much memory this process may use in all.
type Budget struct {
	Bytes  int64
	Source Source
}

// String returns the budget in words, such as "2.0 GiB (the limit of the cgroup)".
func (b Budget) String() string {
	return humanize.IBytes(uint64(max(b.Bytes, 0))) + " (" + string(b.Source) + ")"
}

// Find returns setting if it is not zero. Otherwise it returns the limit of this process's cgroup, or
// the machine's memory if that is less or there is no limit.
func Find(setting int64) Budget { return find(setting, memlimit.FromCgroup, memlimit.FromSystem) }

func find(setting int64, cgroup, machine memlimit.Provider) Budget {
	if setting > 0 {
		return Budget{setting, Setting}
	}
	found := Budget{unknownBytes, Unknown}
	if bytes, err := machine(); err == nil && usable(bytes) {
		found = Budget{int64(bytes), Machine}
	}
	// Version 1 of cgroups has no word for "no limit", but a number that no machine reaches.
	if bytes, err := cgroup(); err == nil && usable(bytes) && (found.Source == Unknown || int64(bytes) < found.Bytes) {
		found = Budget{int64(bytes), Cgroup}
	}
	return found
}

// usable reports whether a number of bytes can be an amount of memory.
func usable(bytes uint64) bool { return bytes > 0 && bytes < math.MaxInt64/2 }
