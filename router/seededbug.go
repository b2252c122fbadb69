package router

import (
	"slices"

	"dormouse/agent"
)

// thaws reports whether a thaw is among the reads: what seededbug.StaleThaw needs.
// It is not in a program without the build tag seeded.
func thaws(reads agent.Reads) bool {
	return slices.ContainsFunc(reads.Reads, func(r agent.Read) bool {
		_, thaw := r.(*agent.Thaw)
		return thaw
	})
}
