package model

import (
	"cmp"
	"slices"
)

// Access is an object at one of its versions. Versions grow with each write; version 0
// is the object before the first write.
type Access struct {
	Object  string
	Version uint64
}

// Transaction is a call that took effect, or whose effect was seen by other calls. Its
// writes and reads happen at one instant.
type Transaction struct {
	Span
	Writes []Access // each created that version
	Reads  []Access // each saw that version: all writes up to it, and none after it
	Saw    []Access // each saw that version and may have missed later ones: a watch
	Early  bool     // it may take effect before its invocation: a stale read
}

// Contradiction returns the shortest cycle among transactions. It returns nil if one
// order explains them all and keeps real time (strict serializability). No two
// transactions may have written one version of an object.
//
// It first searches for a cycle without real-time edges, which no order explains, even
// one that ignores real time.
func Contradiction(all []Transaction) []Edge {
	g := NewGraph(len(all))
	writers := writersOf(all)
	for object, by := range writers {
		for i := range by[1:] {
			g.Add(Edge{From: by[i].call, To: by[i+1].call, Why: Overwrite, Object: object, Version: by[i+1].version})
		}
	}
	for call, t := range all {
		for _, seen := range [][]Access{t.Reads, t.Saw} {
			for _, r := range seen {
				by := writers[r.Object]
				if after := following(by, r.Version); after > 0 {
					g.Add(Edge{From: by[after-1].call, To: call, Why: Read, Object: r.Object, Version: by[after-1].version})
				}
			}
		}
		for _, r := range t.Reads {
			by := writers[r.Object]
			if after := following(by, r.Version); after < len(by) {
				g.Add(Edge{From: call, To: by[after].call, Why: Missed, Object: r.Object, Version: by[after].version})
			}
		}
	}
	if cycle := g.Cycle(false); cycle != nil {
		return cycle
	}
	spans := make([]Span, len(all))
	for i, t := range all {
		spans[i] = t.Span
		if t.Early {
			spans[i].Invoke = 0
		}
	}
	g.RealTime(spans)
	return g.Cycle(true)
}

// writer is the call that created a version.
type writer struct {
	version uint64
	call    int
}

// following returns the index of the first write after a version.
func following(by []writer, version uint64) int {
	after, _ := slices.BinarySearchFunc(by, version+1, func(w writer, version uint64) int { return cmp.Compare(w.version, version) })
	return after
}

// writersOf returns the writers of each object, sorted by version.
func writersOf(all []Transaction) map[string][]writer {
	writers := map[string][]writer{}
	for call, t := range all {
		for _, w := range t.Writes {
			writers[w.Object] = append(writers[w.Object], writer{w.Version, call})
		}
	}
	for _, by := range writers {
		slices.SortFunc(by, func(a, b writer) int { return cmp.Compare(a.version, b.version) })
	}
	return writers
}
