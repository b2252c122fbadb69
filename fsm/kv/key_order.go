package kv

import (
	"cmp"
	"slices"
	"strings"
)

// keyOrder finds the changed rows of a range of keys. It sorts the rows in runs when it is asked, and merges runs of
// similar lengths. So an entry with many changes, whose commits look for keys many times, takes little more time
// for each of them than one with few.
type keyOrder struct {
	runs [][]int // places of rows, sorted by their keys; each run is less than half as long as the one before it
	rows int     // how many of the first rows are in the runs
}

// scannedMax is how many of the last rows are compared one by one.
const scannedMax = 64

// within adds to keys those of the range of rows, unsorted.
func (k *keyOrder) within(keys []string, rows []change, lower, upper string) []string {
	if len(rows)-k.rows > scannedMax {
		k.add(rows)
	}
	for _, run := range k.runs {
		from, _ := slices.BinarySearchFunc(run, lower, func(place int, key string) int { return strings.Compare(rows[place].key, key) })
		for _, place := range run[from:] {
			key := rows[place].key
			if key >= upper {
				break
			}
			keys = append(keys, key)
		}
	}
	for i := range rows[k.rows:] {
		if key := rows[k.rows+i].key; lower <= key && key < upper {
			keys = append(keys, key)
		}
	}
	return keys
}

// add adds the last rows as a run.
func (k *keyOrder) add(rows []change) {
	run := make([]int, 0, len(rows)-k.rows)
	for place := k.rows; place < len(rows); place++ {
		run = append(run, place)
	}
	slices.SortFunc(run, func(a, b int) int { return cmp.Compare(rows[a].key, rows[b].key) })
	for n := len(k.runs); n > 0 && 2*len(run) >= len(k.runs[n-1]); n-- {
		run = merged(rows, k.runs[n-1], run)
		k.runs = k.runs[:n-1]
	}
	k.runs, k.rows = append(k.runs, run), len(rows)
}

// merged returns the places of two runs as one.
func merged(rows []change, a, b []int) []int {
	all := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if rows[a[0]].key < rows[b[0]].key {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// truncate forgets all rows but the first.
func (k *keyOrder) truncate(rows int) {
	if rows >= k.rows {
		return
	}
	for i, run := range k.runs {
		k.runs[i] = slices.DeleteFunc(run, func(place int) bool { return place >= rows })
	}
	k.runs, k.rows = slices.DeleteFunc(k.runs, func(run []int) bool { return len(run) == 0 }), rows
}
