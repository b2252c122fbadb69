package agent

import "slices"

// Slice is the part of entries, which are in seq order, from seq from to seq
// to, both included.
func Slice(entries []Entry, from, to uint64) []Entry {
	bySeq := func(e Entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	}
	start, _ := slices.BinarySearchFunc(entries, from, bySeq)
	end, found := slices.BinarySearchFunc(entries, to, bySeq)
	if found {
		end++
	}
	if end < start {
		end = start
	}
	return entries[start:end:end]
}

// OfKind is those of entries whose kind is one of kinds, in their order.
func OfKind(entries []Entry, kinds ...string) []Entry {
	var matching []Entry
	for _, e := range entries {
		if slices.Contains(kinds, e.Kind) {
			matching = append(matching, e)
		}
	}
	return matching
}
