package report

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/history"
)

// Count summarizes how the calls of one workload, or one kind of its calls, ended.
type Count struct {
	Workload string         `json:"workload"`
	Call     string         `json:"call,omitempty"` // "" for all of the workload's
	Calls    int            `json:"calls"`
	OK       int            `json:"ok"`
	Refused  int            `json:"refused"`
	Unknown  int            `json:"unknown"`
	P50      time.Duration  `json:"p50"` // of those that are ok
	P99      time.Duration  `json:"p99"`
	Codes    map[string]int `json:"codes,omitempty"` // :: error code → calls
}

// Counts returns one Count for each workload, each followed by one for each kind of its
// calls.
func Counts(h *history.History) []Count {
	type key struct{ workload, call string }
	counts := map[key]*Count{}
	took := map[key][]time.Duration{}
	for _, op := range h.Ops {
		for _, k := range []key{{op.Workload, ""}, {op.Workload, op.Call}} {
			c := counts[k]
			if c == nil {
				c = &Count{Workload: k.workload, Call: k.call, Codes: map[string]int{}}
				counts[k] = c
			}
			c.Calls++
			switch op.Outcome {
			case history.OK:
				c.OK++
				took[k] = append(took[k], op.Return-op.Invoke)
			case history.Refused:
				c.Refused++
			default:
				c.Unknown++
			}
			if op.Code != "" {
				c.Codes[op.Code]++
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		if a.workload != b.workload {
			return strings.Compare(a.workload, b.workload)
		}
		return strings.Compare(a.call, b.call)
	})
	var list []Count
	for _, k := range keys {
		slices.Sort(took[k])
		counts[k].P50, counts[k].P99 = quantile(took[k], 0.50), quantile(took[k], 0.99)
		list = append(list, *counts[k])
	}
	return list
}

// quantile returns the nearest-rank quantile of sorted values; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
