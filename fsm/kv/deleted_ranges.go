package kv

import (
	"slices"
	"strings"
)

// deletedRange deletes lower <= key < upper at a point of the overlay's clock.
type deletedRange struct {
	lower, upper string
	at           int
}

// mayHold reports whether the range can contain a key for which is returns true. is depends only on
// the key's kind.
func (r deletedRange) mayHold(is func(key string) bool) bool {
	for kind := int(r.lower[0]); kind <= int(r.upper[0]); kind++ {
		if is(string([]byte{byte(kind)})) {
			return true
		}
	}
	return false
}

// deletedRanges are the ranges that an entry has deleted, in order. They are sorted as keyOrder sorts keys, because an
// entry may delete thousands, and each read asks for them.
type deletedRanges struct {
	all  []deletedRange
	runs []rangeRun // of the first ranges; each run has less than half as many as the one before it
}

// rangeRun has consecutive ranges, sorted by their lower ends.
type rangeRun struct {
	end    int // the ranges before it, in order, are in this run and in those before it
	sorted []deletedRange
	reach  []string // the highest upper end of the ranges so far
}

// add adds a range, which is newer than the others.
func (d *deletedRanges) add(r deletedRange) {
	d.all = append(d.all, r)
	if len(d.all)-d.sorted() > scannedMax {
		d.sort(d.sorted())
	}
}

// sorted returns how many of the first ranges are in runs.
func (d *deletedRanges) sorted() int {
	if len(d.runs) == 0 {
		return 0
	}
	return d.runs[len(d.runs)-1].end
}

// sort adds a run of the ranges from one on. It merges it with runs that are not much longer.
func (d *deletedRanges) sort(from int) {
	for n := len(d.runs); n > 0 && 2*(len(d.all)-from) >= len(d.runs[n-1].sorted); n-- {
		from -= len(d.runs[n-1].sorted)
		d.runs = d.runs[:n-1]
	}
	run := rangeRun{end: len(d.all), sorted: slices.Clone(d.all[from:])}
	slices.SortStableFunc(run.sorted, func(a, b deletedRange) int { return strings.Compare(a.lower, b.lower) })
	run.reach = make([]string, len(run.sorted))
	furthest := ""
	for i, r := range run.sorted {
		furthest = max(furthest, r.upper)
		run.reach[i] = furthest
	}
	d.runs = append(d.runs, run)
}

// truncate forgets all ranges but the first.
func (d *deletedRanges) truncate(ranges int) {
	d.all = d.all[:ranges]
	for d.sorted() > ranges {
		last := d.runs[len(d.runs)-1]
		from := last.end - len(last.sorted)
		d.runs = d.runs[:len(d.runs)-1]
		if ranges-from > scannedMax {
			d.sort(from)
		}
	}
}

// coverSince reports whether a range that was deleted after a moment covers the key.
func (d *deletedRanges) coverSince(key string, at int) bool {
	for i := len(d.all) - 1; i >= d.sorted(); i-- {
		if d.all[i].at <= at {
			return false
		}
		if d.all[i].lower <= key && key < d.all[i].upper {
			return true
		}
	}
	for _, run := range slices.Backward(d.runs) {
		if d.all[run.end-1].at <= at {
			return false
		}
		if run.coversSince(key, at) {
			return true
		}
	}
	return false
}

// coversSince is coverSince for the ranges of a run.
func (r rangeRun) coversSince(key string, at int) bool {
	after, _ := slices.BinarySearchFunc(r.sorted, key, func(r deletedRange, key string) int {
		if r.lower <= key {
			return -1
		}
		return 1
	})
	for i := after - 1; i >= 0 && key < r.reach[i]; i-- { // ranges that begin before the key's own are seldom longer
		if key < r.sorted[i].upper && r.sorted[i].at > at {
			return true
		}
	}
	return false
}
