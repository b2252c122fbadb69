package convert_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent/layout"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

func TestBackupsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := *make1[layout.Backups](t)
		b.Segments, b.Unfinished = max(b.Segments, 0), max(b.Unfinished, 0)
		same(t, b, convert.BackupsFromProto(over(t, convert.BackupsToProto(&b), &apipb.BackupsResponse{})))
	})
}

// A backup under way sends its progress, and then the backup.
func TestTheProgressOfABackupSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Make[layout.BackupProgress](), 0, 3).Draw(t, "progress")
		taken := *make1[layout.BackupInfo](t)
		var events []*apipb.TakeBackupEvent
		for _, p := range want {
			events = append(events, over(t, convert.TakeBackupEvent(p), &apipb.TakeBackupEvent{}))
		}
		events = append(events, over(t, &apipb.TakeBackupEvent{Backup: convert.BackupToProto(&taken)}, &apipb.TakeBackupEvent{}))
		receive := func(events []*apipb.TakeBackupEvent) func() (*apipb.TakeBackupEvent, error) {
			return func() (*apipb.TakeBackupEvent, error) {
				if len(events) == 0 {
					return nil, io.EOF
				}
				e := events[0]
				events = events[1:]
				return e, nil
			}
		}
		var got []layout.BackupProgress
		info, err := convert.TakeBackup(receive(events), func(p layout.BackupProgress) { got = append(got, p) })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", err, got, want)
		}
		same(t, taken, info)
		if _, err := convert.TakeBackup(receive(events[:len(want)]), nil); !errors.Is(err, io.EOF) {
			t.Errorf("a stream without a backup: %v", err)
		}
	})
}
