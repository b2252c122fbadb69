package zoo

import (
	"time"

	"dormouse/internal/planted"
)

// specimens is the zoo. Times are of calls and faults; the start of the
// cluster, its recovery and the last look add about fifteen seconds.
var specimens = []Specimen{
	{Bug: planted.FollowerLocalRead, Workloads: []string{"turn"}, Time: 10 * time.Second, Seed: 1, Check: "turn"},
	{Bug: planted.MapOrder, Workloads: []string{"turn"}, Time: 10 * time.Second, Seed: 1, Check: "convergence"},
}
