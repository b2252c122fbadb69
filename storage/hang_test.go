package storage

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/go-hclog"
)

// After a pause of the process, each operation that was under way is reported once, and ends. A disk that
// hangs is reported again.
func TestAPauseIsNoDiskThatHangs(t *testing.T) {
	type report struct {
		after, took time.Duration
		path        string
		kind        vfs.OpType
	}
	for name, test := range map[string]struct {
		reports []report
		hangs   bool // by the last one
	}{
		"a pause": {[]report{{0, 23 * time.Second, "a", vfs.OpTypeSync}}, false},
		"a pause that meets two files": {[]report{
			{0, 23 * time.Second, "a", vfs.OpTypeSync}, {0, 23 * time.Second, "b", vfs.OpTypeWrite},
		}, false},
		"a pause that meets two operations on a file": {[]report{
			{0, 23 * time.Second, "a", vfs.OpTypeSync}, {0, 23 * time.Second, "a", vfs.OpTypeWrite},
		}, false},
		"two pauses": {[]report{
			{0, 23 * time.Second, "a", vfs.OpTypeSync}, {30 * time.Second, 23 * time.Second, "a", vfs.OpTypeSync},
		}, false},
		"a disk that hangs": {[]report{
			{0, 21 * time.Second, "a", vfs.OpTypeSync}, {2 * time.Second, 23 * time.Second, "a", vfs.OpTypeSync},
		}, true},
		"a disk that hangs for several files": {[]report{
			{0, 21 * time.Second, "a", vfs.OpTypeSync},
			{0, 20 * time.Second, "b", vfs.OpTypeSync},
			{2 * time.Second, 22 * time.Second, "b", vfs.OpTypeSync},
		}, true},
		"a disk that hangs since before a long pause": {[]report{
			{0, time.Hour, "a", vfs.OpTypeSync}, {2 * time.Second, time.Hour + 2*time.Second, "a", vfs.OpTypeSync},
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			raised := 0
			e := &Engine{alarm: &alarm{fatal: func(error) { raised++ }}}
			began := time.Unix(1000, 0)
			for _, r := range test.reports {
				if raised > 0 {
					t.Error("the alarm came before the last report")
				}
				e.noteSlow("dir", vfs.DiskSlowInfo{Path: r.path, OpType: r.kind, Duration: r.took}, began.Add(r.after), hclog.NewNullLogger())
			}
			if hangs := raised > 0; hangs != test.hangs {
				t.Errorf("the alarm came: %t, want %t", hangs, test.hangs)
			}
		})
	}
}
