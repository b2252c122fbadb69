package recall

import (
	"slices"

	"dormouse/agent"
)

// Matches returns a function that reports whether a memory is in the range of a
// recall: its session, time, class, kind and tags. The log's time is now. The
// function does not check filters on the memory's content.
func Matches(r *agent.Recall, now int64) func(*Doc) bool {
	f := &r.Filter
	return func(d *Doc) bool {
		switch {
		case d.ExpiresAt != 0 && d.ExpiresAt <= now,
			!r.Reaches(d.Session),
			f.Since != nil && d.ObservedAt < *f.Since,
			f.Until != nil && d.ObservedAt > *f.Until,
			len(f.Classes) > 0 && !slices.Contains(f.Classes, d.Class),
			len(f.Kinds) > 0 && !slices.Contains(f.Kinds, d.Kind),
			len(f.TagsAny) > 0 && !d.hasAnyTag(f.TagsAny):
			return false
		}
		for _, tag := range f.TagsAll {
			if !slices.Contains(d.Tags, tag) {
				return false
			}
		}
		return true
	}
}

func (d *Doc) hasAnyTag(tags []string) bool {
	for _, tag := range tags {
		if slices.Contains(d.Tags, tag) {
			return true
		}
	}
	return false
}
