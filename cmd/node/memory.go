package main

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"dormouse/config"
)

// limitMemory sets Go's memory limit from that of the cgroup, such as a container's, so that the
// heap is collected before the kernel ends the process. It changes nothing if the environment sets
// GOMEMLIMIT or there is no cgroup limit.
func (p process) limitMemory(c config.Config) {
	if slices.ContainsFunc(p.environ, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") }) {
		return
	}
	if limit, err := memlimit.FromCgroup(); err == nil && limit > 0 && limit < 1<<60 {
		debug.SetMemoryLimit(goMemory(int64(limit), c.Storage.CacheBytes))
	}
}

// goMemory returns how much of a memory limit Go may use: the storage engine allocates its cache
// itself, and a tenth is left for stacks of C and for the kernel's share.
func goMemory(limit, cacheBytes int64) int64 {
	return max(limit/10*9-cacheBytes, limit/4)
}
