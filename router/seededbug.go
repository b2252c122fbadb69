package router

import (
	"slices"

	"dormouse/agent"
)

// thaws reports whether the reads contain a thaw, for seededbug.StaleThaw. It is only compiled with
// the build tag seeded.
func thaws(reads agent.Reads) bool {
	return slices.ContainsFunc(reads.Reads, func(r agent.Read) bool {
		_, thaw := r.(*agent.Thaw)
		return thaw
	})
}
