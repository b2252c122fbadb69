package schedule_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup/schedule"
)

func TestOnlyTheLeaderTakesBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		one, two := c.run(t, "n1"), c.run(t, "n2")
		time.Sleep(time.Hour)
		if names := c.names(); len(names) > 0 {
			t.Fatalf("without a leader there are %v", names)
		}
		if _, err := one.Take(t.Context(), nil); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("a node that does not lead takes a backup: %v", err)
		}
		c.lead("n1")
		time.Sleep(time.Minute)
		c.write(5)
		time.Sleep(time.Minute)
		first := c.contents(t)
		if len(first.Backups) != 1 || first.Backups[0].Index != 5 || first.Backups[0].Node != "n1" {
			t.Fatalf("there are %+v", first.Backups)
		}
		c.lead("n2") // it goes on: no backup before the next one is due, and no gap in the log
		c.write(5)
		time.Sleep(30 * time.Minute)
		if s := two.Status(); s.ShippedTo != 15 || s.Gaps != 0 || s.LastIndex != 5 || s.LogError != "" {
			t.Errorf("the new leader has %+v", s)
		}
		if n := len(c.contents(t).Backups); n != 1 {
			t.Errorf("there are %d backups after half an hour", n)
		}
		time.Sleep(30 * time.Minute)
		last := c.contents(t)
		if len(last.Backups) != 2 || last.Backups[1].Node != "n2" || last.Backups[1].Index != 15 {
			t.Errorf("there are %+v", last.Backups)
		}
		if one.Status().Leads || !two.Status().Leads {
			t.Error("the status names the wrong leader")
		}
	})
}

// A node whose clock was ahead by a year took a backup. The schedule goes on all the same.
func TestABackupFromTheFutureDoesNotStopTheSchedule(t *testing.T) {
	future := map[string][]byte{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(365 * 24 * time.Hour)
		c := newCluster()
		c.ledBefore(t, "n1")
		maps.Copy(future, c.objects)
	})
	synctest.Test(t, func(t *testing.T) { // a year before that
		c := newCluster()
		maps.Copy(c.objects, future)
		c.write(6) // the state has gone on
		r := c.run(t, "n2")
		c.lead("n2")
		for range 3 {
			time.Sleep(time.Hour)
			c.write(1)
			if s := r.Status(); time.Since(time.UnixMilli(s.LastSuccessAt)).Abs() > time.Hour || time.Until(time.UnixMilli(s.Next)) > time.Hour {
				t.Errorf("the last backup is of %v, the next one is due at %v", time.UnixMilli(s.LastSuccessAt).UTC(), time.UnixMilli(s.Next).UTC())
			}
		}
	})
}

// A cluster that was just founded has no entry: its first backup waits for one, and is no failure.
func TestTheFirstBackupWaitsForTheFirstEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(20 * time.Second)
		if _, err := r.Take(t.Context(), nil); agent.CodeOf(err) != agent.CodeConflict {
			t.Errorf("a backup of nothing: %v", err)
		}
		if s := r.Status(); s.LastError != "" || len(c.contents(t).Backups) != 0 {
			t.Errorf("before the first entry: %+v", s)
		} else if until := time.Until(time.UnixMilli(s.Next)).Abs(); until > time.Minute {
			t.Errorf("the first backup is due in %v, and should be due now", until)
		}
		c.write(1)
		time.Sleep(20 * time.Second)
		if all := c.contents(t).Backups; len(all) != 1 || all[0].Index != 1 {
			t.Errorf("after the first entry there are %+v", all)
		}
	})
}

func TestTheLogIsShippedInTimeAndInSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(1)
		r := c.run(t, "n1", func(o *schedule.Options) { o.LogBytes = 190 }) // an entry has 19 bytes
		c.lead("n1")
		time.Sleep(time.Minute)
		c.write(1)
		time.Sleep(12 * time.Second)
		if s := r.Status(); s.ShippedTo != 2 {
			t.Errorf("after 12 s the log is shipped up to %d", s.ShippedTo)
		}
		c.write(25)
		time.Sleep(2 * time.Second)
		if s := r.Status(); s.ShippedTo != 22 {
			t.Errorf("after 2 s the log is shipped up to %d, want two full segments", s.ShippedTo)
		}
		time.Sleep(10 * time.Second)
		if s := r.Status(); s.ShippedTo != 27 {
			t.Errorf("after 12 s the log is shipped up to %d", s.ShippedTo)
		}
		segments := len(c.contents(t).Segments)
		time.Sleep(30 * time.Minute)
		if n := len(c.contents(t).Segments); n != segments {
			t.Errorf("without entries there are %d segments more", n-segments)
		}
	})
}

func TestAGapForcesABackupAndIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.ledBefore(t, "n1")
		c.write(20)
		c.compact(15)
		two := c.run(t, "n2")
		c.lead("n2")
		time.Sleep(2 * time.Minute)
		c.write(5)
		time.Sleep(time.Minute)
		all := c.contents(t)
		if s := two.Status(); s.Gaps != 1 || s.ShippedTo != 30 || s.LogError != "" || len(all.Backups) != 2 || all.Backups[1].Index != 25 {
			t.Errorf("the status is %+v, and there are %+v", s, all.Backups)
		}
	})
}

// The log may be compacted past the backup that a gap asks for, before the shipper continues behind it.
func TestAGapAsksForBackupsUntilTheLogContinuesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.ledBefore(t, "n1")
		c.write(20)
		c.compact(15)
		var taken atomic.Int64
		c.spoil = func(name string, content []byte) []byte {
			if strings.HasSuffix(name, "/manifest.json") && taken.Add(1) <= 3 {
				c.write(10)
				c.compact(25 + 10*uint64(taken.Load()))
			}
			return content
		}
		two := c.run(t, "n2")
		c.lead("n2")
		time.Sleep(10 * time.Minute)
		if s := two.Status(); s.Gaps != 1 || s.ShippedTo != 55 || s.LogError != "" || taken.Load() != 4 {
			t.Errorf("the status after %d backups is %+v", taken.Load(), s)
		}
	})
}

// The backup that is under way when a gap needs one may fail.
func TestAGapDoesNotRelyOnABackupUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		c.hangAt("/state")
		ended := make(chan error, 1)
		go func() {
			_, err := r.Take(t.Context(), nil)
			ended <- err
		}()
		synctest.Wait()
		c.write(20)
		c.compact(15)
		time.Sleep(time.Minute)
		c.hangAt("")
		if err := <-ended; agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("the backup under way: %v", err)
		}
		time.Sleep(10 * time.Minute)
		if s := r.Status(); s.Gaps != 1 || s.ShippedTo != 25 || s.LogError != "" || time.Until(time.UnixMilli(s.Next)) < 40*time.Minute {
			t.Errorf("the status is %+v", s)
		}
	})
}

// A backup is listed only after it was restored from the destination.
func TestABackupThatCannotBeRestoredIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		c.spoil = func(name string, content []byte) []byte {
			if strings.HasSuffix(name, "/state") {
				content[0] ^= 1
			}
			return content
		}
		r := c.run(t, "n1", func(o *schedule.Options) { o.LogEvery = 0 })
		c.lead("n1")
		time.Sleep(30 * time.Second)
		if s := r.Status(); !strings.Contains(s.LastError, "SHA-256 does not match") || s.LastName != "" || len(c.names()) != 0 {
			t.Errorf("the status is %+v, and there are %v", s, c.names())
		}
		c.mu.Lock()
		c.spoil = nil
		c.mu.Unlock()
		time.Sleep(20 * time.Minute) // it is tried again
		if s := r.Status(); s.LastIndex != 5 || len(c.contents(t).Backups) != 1 {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestADestinationThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		c.fail = errors.New("the bucket is gone")
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Hour)
		if s := r.Status(); !strings.Contains(s.LastError, "the bucket is gone") || !strings.Contains(s.LogError, "the bucket is gone") {
			t.Errorf("the status is %+v", s)
		}
		if _, err := r.Take(t.Context(), nil); agent.CodeOf(err) != agent.CodeUnavailable || !strings.Contains(err.Error(), "the bucket is gone") {
			t.Errorf("a backup on demand: %v", err)
		}
		c.memory.mu.Lock()
		c.fail = nil
		c.memory.mu.Unlock()
		time.Sleep(20 * time.Minute)
		if s := r.Status(); s.LastIndex != 5 || s.ShippedTo != 5 || s.LogError != "" {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestOldBackupsAndWhatWasInterruptedAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(1)
		const interrupted = "c-1/backups/00000000000000000001-19990101T000000Z-0001/state"
		c.objects[interrupted] = []byte("half of a state")
		c.run(t, "n1")
		c.lead("n1")
		for range 20 {
			time.Sleep(30 * time.Minute)
			c.write(3)
		}
		time.Sleep(time.Minute) // until the backup of this hour is whole
		all := c.contents(t)
		if n := len(all.Backups); n != 3 || slices.Contains(c.names(), interrupted) { // two, and the one before the last 90 minutes
			t.Errorf("there are %d backups, and %v", n, all.Unfinished)
		}
		for _, s := range all.Segments {
			if s.To <= all.Backups[0].Index {
				t.Errorf("segment %+v is from before the oldest backup, %d", s, all.Backups[0].Index)
			}
		}
	})
}

func TestABackupOnDemandReportsItsProgressAndExcludesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		c.memory.mu.Lock()
		c.spoil = func(_ string, content []byte) []byte { // the backup is under way
			if _, err := r.Take(t.Context(), nil); agent.CodeOf(err) != agent.CodeConflict {
				t.Errorf("two backups at once: %v", err)
			}
			return content
		}
		c.memory.mu.Unlock()
		var phases []string
		b, err := r.Take(t.Context(), func(p layout.BackupProgress) { phases = append(phases, p.Phase) })
		if err != nil || b.Index != 5 || b.VerifiedAt == 0 {
			t.Errorf("%+v, %v", b, err)
		}
		if phases = slices.Compact(phases); !slices.Equal(phases, []string{layout.BackupWrites, layout.BackupVerifies}) {
			t.Errorf("the phases are %v", phases)
		}
		all, err := r.List(t.Context())
		if err != nil || len(all.Backups) != 2 || all.Backups[0].Name != b.Name && all.Backups[1].Name != b.Name {
			t.Errorf("%+v, %v", all.Backups, err)
		}
	})
}

// A caller that takes no reports does not hold up the backup.
func TestABackupDoesNotWaitForItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		released, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := r.Take(t.Context(), func(layout.BackupProgress) { <-released })
			ended <- err
		}()
		time.Sleep(time.Minute)
		if _, err := r.Take(t.Context(), nil); err != nil {
			t.Errorf("the next backup: %v", err)
		}
		close(released)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A damaged manifest stops the removal of old backups: one of them may be needed.
func TestNothingIsRemovedWhileAManifestIsDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(1)
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Minute)
		for _, name := range c.names() {
			if strings.HasSuffix(name, "manifest.json") {
				c.objects[name][20] ^= 1
			}
		}
		for range 10 {
			c.write(1)
			time.Sleep(time.Hour)
		}
		all, err := r.List(t.Context())
		if err != nil || len(all.Backups) < 9 || len(all.Damages) != 1 || !strings.Contains(all.Status.LastError, "manifests are damaged") {
			t.Errorf("%d backups, %v, %+v, %v", len(all.Backups), all.Damages, all.Status, err)
		}
	})
}

// A node that cannot read how far the log was shipped does not begin behind a later backup.
func TestTheLogHasNoHoleAfterAHeadThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.ledBefore(t, "n1")
		c.write(10)
		one := c.run(t, "n2", func(o *schedule.Options) { o.LogEvery = 0 })
		c.lead("n2")
		synctest.Wait()
		if _, err := one.Take(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		c.write(5)
		c.compact(5) // the log continues the head, and the newest backup
		c.loseAt("head.json")
		two := c.run(t, "n3")
		c.lead("n3")
		time.Sleep(time.Minute)
		if s := two.Status(); s.ShippedTo != 0 || !strings.Contains(s.LogError, "does not answer") {
			t.Errorf("without the head the status is %+v", s)
		}
		c.loseAt("")
		time.Sleep(2 * time.Minute)
		after := uint64(5)
		for _, s := range c.contents(t).Segments {
			if s.From > after+1 {
				t.Errorf("the segment after entry %d begins at %d", after, s.From)
			}
			after = s.To
		}
		if s := two.Status(); s.ShippedTo != 20 || after != 20 || s.Gaps != 0 || s.LogError != "" {
			t.Errorf("the status is %+v, and the segments reach to %d", s, after)
		}
	})
}

// Entries at the destination that are not of this log, as a restored disk could have, count as a gap.
func TestALogThatDoesNotContinueIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.ledBefore(t, "n1")
		c.mu.Lock()
		for i := range c.chains {
			c.chains[i] ^= 1
		}
		c.mu.Unlock()
		two := c.run(t, "n2")
		c.lead("n2")
		c.write(5)
		time.Sleep(5 * time.Minute)
		c.write(5)
		time.Sleep(time.Minute)
		if s := two.Status(); s.Gaps != 1 || s.ShippedTo != 15 || s.LogError != "" || len(c.contents(t).Backups) != 2 {
			t.Errorf("the status is %+v, and there are %d backups", s, len(c.contents(t).Backups))
		}
	})
}

// The backup that mends a gap may be at the entry whose chain was wrong.
func TestAGapAtAnEntryIsMendedByABackupOfItsIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.ledBefore(t, "n1")
		c.mu.Lock()
		c.chains[4] ^= 1
		c.mu.Unlock()
		two := c.run(t, "n2")
		c.lead("n2")
		time.Sleep(time.Minute) // the backup has the same five entries, with another chain
		c.write(5)
		time.Sleep(time.Minute)
		if s := two.Status(); s.Gaps != 1 || s.LastIndex != 5 || s.ShippedTo != 10 || s.LogError != "" {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestADestinationThatHangsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		c.hang = "/"
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(31 * time.Minute)
		if s := r.Status(); !strings.Contains(s.LastError, "no progress for 30m") {
			t.Errorf("the status is %+v", s)
		}
		c.hangAt("")
		time.Sleep(time.Hour)
		if s := r.Status(); s.LastIndex != 5 || s.ShippedTo != 5 || s.LogError != "" {
			t.Errorf("the status is %+v", s)
		}
		c.memory.mu.Lock()
		c.hang = "/"
		c.memory.mu.Unlock()
		c.write(1)
		time.Sleep(3 * time.Minute)
		if s := r.Status(); !strings.Contains(s.LogError, "deadline") {
			t.Errorf("the status is %+v", s)
		}
	})
}

// A destination that accepts calls and does not answer is an error, and does not stop the schedule.
func TestADestinationThatDoesNotAnswerIsTriedAgain(t *testing.T) {
	for _, call := range []string{"list", "get", "read", "delete"} {
		t.Run(call, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.write(5)
				r := c.run(t, "n1")
				c.lead("n1")
				time.Sleep(3*time.Hour + 30*time.Minute) // some backups are there to be removed
				c.silence(call)
				c.lead("") // a leader that is new lists what there is
				time.Sleep(time.Second)
				c.lead("n1")
				c.write(1)
				time.Sleep(time.Hour)
				s := r.Status()
				if !strings.Contains(s.LastError, "has not answered for 5m") || time.Since(time.UnixMilli(s.LastErrorAt)) > time.Hour {
					t.Errorf("the status is %+v", s)
				}
				if call != "delete" && !strings.Contains(s.LogError, "has not answered for 5m") {
					t.Errorf("the status of the log is %+v", s)
				}
				c.silence("")
				time.Sleep(time.Hour)
				if s := r.Status(); s.LastIndex != 6 || s.ShippedTo != 6 || s.LogError != "" {
					t.Errorf("after it answers the status is %+v", s)
				}
			})
		})
	}
}
