package backup_test

import (
	"testing"

	"dormouse/backup"
)

func TestTheLogIsReplayedFromTheOldestBackupThatItContinues(t *testing.T) {
	backups := []backup.Manifest{{Index: 10}, {Index: 20}, {Index: 30}}
	segment := func(from, to uint64) backup.SegmentRef { return backup.SegmentRef{From: from, To: to} }
	for name, c := range map[string]struct {
		segments []backup.SegmentRef
		want     int
	}{
		"whole":                                  {[]backup.SegmentRef{segment(5, 20), segment(21, 40)}, 0},
		"from the entry after the oldest backup": {[]backup.SegmentRef{segment(21, 40), segment(11, 20)}, 0},
		"without what retention removes":         {[]backup.SegmentRef{segment(21, 40)}, 1},
		"across a backup":                        {[]backup.SegmentRef{segment(15, 40)}, 1},
		"a gap in the middle":                    {[]backup.SegmentRef{segment(11, 20), segment(31, 40)}, 0},
		"a gap after all backups":                {[]backup.SegmentRef{segment(35, 40)}, 2},
		"no segments":                            {nil, 2},
	} {
		if got := backup.LogBase(backups, c.segments); got != c.want {
			t.Errorf("%s: backup %d, want %d", name, got, c.want)
		}
	}
}
