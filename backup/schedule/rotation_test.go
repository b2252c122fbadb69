package schedule_test

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/backup"
	"dormouse/backup/schedule"
)

// A cluster whose key was replaced removes its old backups. Those of the key before stay, unless it is trusted; they do not
// keep the others.
func TestTheRetentionGoesOnAfterTheKeyWasReplaced(t *testing.T) {
	next := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	public := next.Public().(ed25519.PublicKey)
	for name, c := range map[string]struct {
		trusted []ed25519.PublicKey
		old     int // backups of the old key that stay
	}{
		"the old key is trusted": {append(trusted(), public), 0},
		"it is not":              {[]ed25519.PublicKey{public}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newCluster()
				k.write(5)
				k.run(t, "n1")
				k.lead("n1")
				time.Sleep(time.Minute)
				k.write(1)
				time.Sleep(time.Hour)
				k.lead("")
				synctest.Wait()
				two := k.run(t, "n2", func(o *schedule.Options) { o.Key, o.Trusted = next, c.trusted })
				k.lead("n2")
				time.Sleep(time.Minute)
				early := k.contents(t).Segments
				if len(early) == 0 || early[0].From != 6 {
					t.Errorf("the log of the last 90 minutes is gone: %+v", early)
				}
				for range 10 {
					k.write(1)
					time.Sleep(time.Hour)
				}
				of := func(keys ...ed25519.PublicKey) backup.Contents {
					catalog := backup.Catalog{Store: k.memory, Cluster: "c-1", Trust: backup.Trust{Keys: keys}}
					all, err := catalog.List(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return all
				}
				mine := of(public)
				if len(of(trusted()...).Backups) != c.old || len(mine.Backups) > 4 || len(mine.Backups) < 2 {
					t.Errorf("there are %d old backups, and %d new ones", len(of(trusted()...).Backups), len(mine.Backups))
				}
				if first := mine.Segments[0]; first.To <= mine.Backups[0].Index {
					t.Errorf("segment %+v is from before the oldest backup, %d", first, mine.Backups[0].Index)
				}
				list, err := two.List(t.Context())
				if err != nil || len(list.Damages) != c.old || slices.ContainsFunc(list.Damages, func(s string) bool { return !strings.Contains(s, "backup.trusted_keys") }) {
					t.Errorf("%q, %v", list.Damages, err)
				}
				if list.Status.LastError != "" {
					t.Errorf("the status is %+v", list.Status)
				}
			})
		})
	}
}
