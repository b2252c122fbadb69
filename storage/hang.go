package storage

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/go-hclog"
)

const (
	// hangSame is how far the beginnings of one operation may lie apart by two reports.
	hangSame = time.Second
	// hangKept is how long a report is kept. The next one of the same operation comes after 2 s.
	hangKept = time.Minute
)

// hangs tells a disk that hangs from a process that was paused (SIGSTOP, a paused virtual machine).
// Pebble looks at the operations under way every 2 s, and reports each that has taken longer than
// diskHangMax. The first look after a pause reports what was under way, which then ends at once. So
// only an operation that a later look reports again hangs. Its methods may be called concurrently.
type hangs struct {
	mu      sync.Mutex
	reports []slowReport // guarded by mu; of the last hangKept
}

// slowReport is a report of an operation that took long.
type slowReport struct {
	path        string
	kind        vfs.OpType
	came, began time.Time
}

// note records a report that came at now, and reports whether an earlier one was of the same operation.
func (h *hangs) note(slow vfs.DiskSlowInfo, now time.Time) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reports = slices.DeleteFunc(h.reports, func(r slowReport) bool { return now.Sub(r.came) > hangKept })
	began := now.Add(-slow.Duration)
	again = slices.ContainsFunc(h.reports, func(r slowReport) bool {
		return r.path == slow.Path && r.kind == slow.OpType && began.Sub(r.began).Abs() < hangSame
	})
	h.reports = append(h.reports, slowReport{path: slow.Path, kind: slow.OpType, came: now, began: began})
	return again
}

// noteSlow raises the alarm if an operation on the disk hangs, by a report that came at now.
func (e *Engine) noteSlow(dir string, slow vfs.DiskSlowInfo, now time.Time, log hclog.Logger) {
	if !e.hangs.note(slow, now) {
		log.Warn("the disk was slow, or this process was paused", "dir", dir, "operation", slow.String())
		return
	}
	e.alarm.raise(fmt.Errorf("engine in %s: the disk hangs: %s", dir, slow.String()))
}
