package schedule_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A backup that there is no room to verify is kept, told, and not taken again before the next one is due. It does
// not take the place of older ones.
func TestABackupWithoutRoomToVerifyItStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		c.fill(true)
		for range 4 {
			c.write(1)
			time.Sleep(time.Hour)
		}
		all, s := c.contents(t), r.Status()
		if len(all.Backups) != 5 || all.Backups[0].VerifiedAt == 0 || all.Backups[4].VerifiedAt != 0 {
			t.Fatalf("there are %+v", all.Backups)
		}
		if s.LastName != all.Backups[0].Name || !strings.Contains(s.LastError, "verify backup "+all.Backups[4].Name+": restore: no room") {
			t.Errorf("the status is %+v", s)
		}
		b, err := r.Take(t.Context(), nil)
		if agent.CodeOf(err) != agent.CodeUnavailable || !strings.Contains(err.Error(), b.Name+" is stored") || b.Name == "" {
			t.Errorf("a backup on demand: %+v, %v", b, err)
		}
		c.fill(false)
		time.Sleep(time.Hour)
		all, s = c.contents(t), r.Status()
		if n := len(all.Backups); n > 3 || all.Backups[n-1].VerifiedAt == 0 || s.LastName != all.Backups[n-1].Name {
			t.Errorf("with room again there are %+v, and the status is %+v", all.Backups, s)
		}
	})
}

// The bytes of a backup are read back and compared also if there is no room to restore it.
func TestADamagedBackupIsNoBackupWithoutRoomEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		c.fill(true)
		c.spoil = func(name string, content []byte) []byte {
			if strings.HasSuffix(name, "/state") {
				content[0] ^= 1
			}
			return content
		}
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		if s := r.Status(); !strings.Contains(s.LastError, "SHA-256 does not match") || len(c.contents(t).Backups) != 0 {
			t.Errorf("the status is %+v, and there are %v", s, c.names())
		}
	})
}
