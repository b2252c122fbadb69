package kv

import (
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

// within returns an iterator over the changed keys of a range. It is valid until rows are added or forgotten.
func (k *keyOrder) within(rows []change, lower, upper string) changedKeys {
	if len(rows)-k.rows > scannedMax {
		k.add(rows)
	}
	c := changedKeys{rows: rows, upper: upper}
	for _, run := range k.runs {
		if run = from(rows, run, lower); len(run) > 0 && rows[run[0]].key < upper {
			c.runs = append(c.runs, run)
		}
	}
	var last []int
	for place := k.rows; place < len(rows); place++ {
		if key := rows[place].key; lower <= key && key < upper {
			last = append(last, place)
		}
	}
	if len(last) > 0 {
		c.runs = append(c.runs, sortedPlaces(rows, last))
	}
	c.choose()
	return c
}

// changedKeys iterates over the changed keys of a range, in order.
type changedKeys struct {
	rows  []change
	upper string
	runs  [][]int // what is left of each run of places, which are sorted by their keys; none is empty
	least int     // the run that has the least key
}

// key returns the next key and its place; "" means that there is none.
func (c *changedKeys) key() (key string, place int) {
	if len(c.runs) == 0 {
		return "", -1
	}
	place = c.runs[c.least][0]
	return c.rows[place].key, place
}

// step moves past a key, if it is the next one.
func (c *changedKeys) step(key string) {
	if next, _ := c.key(); next != key {
		return
	}
	c.runs[c.least] = c.runs[c.least][1:]
	c.choose()
}

// seek moves to the first key that is not below one.
func (c *changedKeys) seek(key string) {
	for i, run := range c.runs {
		c.runs[i] = from(c.rows, run, key)
	}
	c.choose()
}

// from returns the places of a run whose keys are not below one.
func from(rows []change, run []int, key string) []int {
	n, _ := slices.BinarySearchFunc(run, key, func(place int, key string) int { return strings.Compare(rows[place].key, key) })
	return run[n:]
}

// choose drops the runs that have ended, and finds the least key of the others.
func (c *changedKeys) choose() {
	c.runs = slices.DeleteFunc(c.runs, func(run []int) bool { return len(run) == 0 || c.rows[run[0]].key >= c.upper })
	c.least = 0
	for i, run := range c.runs {
		if c.rows[run[0]].key < c.rows[c.runs[c.least][0]].key {
			c.least = i
		}
	}
}

// add adds the last rows as a run.
func (k *keyOrder) add(rows []change) {
	run := make([]int, 0, len(rows)-k.rows)
	for place := k.rows; place < len(rows); place++ {
		run = append(run, place)
	}
	run = sortedPlaces(rows, run)
	for n := len(k.runs); n > 0 && 2*len(run) >= len(k.runs[n-1]); n-- {
		run = merged(rows, k.runs[n-1], run)
		k.runs = k.runs[:n-1]
	}
	k.runs, k.rows = append(k.runs, run), len(rows)
}

// sortedPlaces sorts places by their keys.
func sortedPlaces(rows []change, places []int) []int {
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(rows[a].key, rows[b].key) })
	return places
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
