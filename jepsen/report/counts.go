package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"dormouse/jepsen/history"
)

// Count summarizes how the calls of one workload, or one kind of its calls, ended.
type Count struct {
	Workload string         `json:"workload"`
	Call     string         `json:"call,omitempty"` // "" for all of the workload's
	Via      string         `json:"via,omitempty"`  // "" for all, whatever they were made with
	Calls    int            `json:"calls"`
	OK       int            `json:"ok"`
	Refused  int            `json:"refused"`
	Unknown  int            `json:"unknown"`
	P50      time.Duration  `json:"p50"` // of those that are ok
	P99      time.Duration  `json:"p99"`
	Codes    map[string]int `json:"codes,omitempty"` // :: error code → calls
}

// name returns the workload, with the way of the calls if they are of one.
func (c *Count) name() string {
	if c.Via != "" {
		return c.Workload + ", " + c.Via
	}
	return c.Workload
}

// Counts returns one Count for each workload, each followed by one for each kind of its
// calls, and by one for each way in which processes made them if there is more than one.
func Counts(h *history.History) []Count {
	type key struct{ workload, call, via string }
	counts := map[key]*Count{}
	took := map[key][]time.Duration{}
	several := mixed(h)
	for _, op := range h.Ops {
		of := []key{{op.Workload, "", ""}, {op.Workload, op.Call, ""}}
		if several[op.Workload] {
			of = append(of, key{op.Workload, "", cmp.Or(op.Via, viaGRPC)})
		}
		for _, k := range of {
			c := counts[k]
			if c == nil {
				c = &Count{Workload: k.workload, Call: k.call, Via: k.via, Codes: map[string]int{}}
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
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.via, b.via), cmp.Compare(a.call, b.call))
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

// viaGRPC is the name of calls with the Go client, whose Via is empty.
const viaGRPC = "grpc"

// mixed returns the workloads whose processes call in more than one way.
func mixed(h *history.History) map[string]bool {
	first, several := map[string]string{}, map[string]bool{}
	for _, op := range h.Ops {
		if via, known := first[op.Workload]; known && via != op.Via {
			several[op.Workload] = true
		}
		first[op.Workload] = op.Via
	}
	return several
}
