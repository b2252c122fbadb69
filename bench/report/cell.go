// Package report turns what dormbench measured into tables, plots and
// verdicts. All of it is computed from a Document, which is kept as JSON.
package report

import (
	"slices"

	"dormouse/bench/load"
)

// Cell is one run of one workload with so many callers on one system.
type Cell struct {
	System string `json:"system"`
	Round  int    `json:"round"` // of the comparison, from 1
	Nodes  int    `json:"nodes"` // server processes whose use was measured; 0 where none was
	load.Result

	ServerCPU float64 `json:"server_cpu_us_per_op"` // of all nodes
	ClientCPU float64 `json:"client_cpu_us_per_op"`
	Written   float64 `json:"disk_bytes_per_op_and_node"`
	Memory    int64   `json:"memory_bytes"` // of the largest node, at the end
}

// Figure is something measured about a cell.
type Figure struct {
	Name string
	Unit string
	of   func(Cell) float64
}

// The figures.
var (
	Rate    = Figure{"throughput", "ops/s", func(c Cell) float64 { return c.Rate }}
	P50     = Figure{"median latency", "ms", func(c Cell) float64 { return c.P50 }}
	P99     = Figure{"p99 latency", "ms", func(c Cell) float64 { return c.P99 }}
	CPU     = Figure{"CPU per operation", "µs", func(c Cell) float64 { return c.ServerCPU + c.ClientCPU }}
	Written = Figure{"disk writes per operation and node", "KiB", func(c Cell) float64 { return c.Written / 1024 }}
	Memory  = Figure{"memory of a node", "MiB", func(c Cell) float64 { return float64(c.Memory) / (1 << 20) }}
)

// Median is the middle of values, or the mean of the middle two; 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// at says which cells are meant.
type at struct {
	system, workload string
	callers          int
}

// cells are those of a place, by round.
func (d *Document) cells(a at) map[int]Cell {
	found := map[int]Cell{} // :: round → cell
	for _, c := range d.Cells {
		if c.System == a.system && c.Workload == a.workload && c.Callers == a.callers {
			found[c.Round] = c
		}
	}
	return found
}

// median is a figure's, over the rounds.
func (d *Document) median(a at, f Figure) float64 {
	var values []float64
	for _, c := range d.cells(a) {
		values = append(values, f.of(c))
	}
	return Median(values)
}

// ratio is the median, over the rounds that have both, of what one cell's
// figure is to the other's. rounds is how many those are.
func (d *Document) ratio(ours, theirs at, f Figure) (value float64, rounds int) {
	var values []float64
	peers := d.cells(theirs)
	for round, c := range d.cells(ours) {
		if peer, ok := peers[round]; ok && f.of(peer) > 0 {
			values = append(values, f.of(c)/f.of(peer))
		}
	}
	return Median(values), len(values)
}
