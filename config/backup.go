package config

import (
	"errors"
	"time"

	"dormouse/internal/cron"
)

// Bounds of the settings of backups.
const (
	backupEveryMin    = time.Minute
	backupEveryMax    = 30 * 24 * time.Hour
	backupLogEveryMin = time.Second
	backupLogEveryMax = time.Hour
	backupLogBytesMin = 64 << 10
	backupLogBytesMax = 64 << 20 // a segment is in memory while it is shipped
	backupKeepMax     = 10_000
	backupKeepLogMin  = time.Minute
	backupKeepLogMax  = 366 * 24 * time.Hour
	// backupSegmentsMax bounds the segments that are kept of the log, as each list of the backups returns them.
	backupSegmentsMax = 700_000
)

func (c Config) validateBackup(v *checks) {
	b := c.Backup
	if b.Cron == "" {
		durationBetween(v, "backup.every", b.Every, backupEveryMin, backupEveryMax)
	} else if _, err := cron.Parse(b.Cron, b.TimeZone); err != nil {
		key := "backup.cron"
		if wrong := (*cron.Error)(nil); errors.As(err, &wrong) {
			key = "backup." + wrong.Field
		}
		v.add("%s: %v", key, err)
	}
	if b.LogEvery != 0 {
		durationBetween(v, "backup.log_every", b.LogEvery, backupLogEveryMin, backupLogEveryMax)
	}
	if k := b.KeepLog; k != 0 && (k < backupKeepLogMin || k > backupKeepLogMax) {
		v.add("backup.keep_log is %v: use %v to %v, or 0 to keep the log after the newest backup only", k, backupKeepLogMin, backupKeepLogMax)
	}
	if period := b.KeepLog + b.interval(); b.LogEvery >= backupLogEveryMin && period/b.LogEvery > backupSegmentsMax {
		v.add("backup.log_every is %v: the log of keep_log and of one interval of the schedule (%v) may have %d segments: ship it less often, or keep it for less time, so that there are at most %d",
			b.LogEvery, period, period/b.LogEvery, backupSegmentsMax)
	}
	between(v, "backup.log_bytes", b.LogBytes, backupLogBytesMin, backupLogBytesMax)
	between(v, "backup.keep", int64(b.Keep), 1, backupKeepMax)
	between(v, "backup.keep_hourly", int64(b.KeepHourly), 0, backupKeepMax)
	between(v, "backup.keep_daily", int64(b.KeepDaily), 0, backupKeepMax)
	between(v, "backup.keep_weekly", int64(b.KeepWeekly), 0, backupKeepMax)
}

func durationBetween(v *checks, key string, value, low, high time.Duration) {
	if value < low || value > high {
		v.add("%s is %v: use %v to %v", key, value, low, high)
	}
}

// interval returns the longest time between two backups of the schedule.
func (b Backup) interval() time.Duration {
	const looks = 64 // of a schedule: more than a month of days
	longest, last := time.Duration(0), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range looks {
		next := b.Due(last)
		longest, last = max(longest, next.Sub(last)), next
	}
	return longest
}

// Due returns when the backup after one that began at last is due. The first one is due at once.
func (b Backup) Due(last time.Time) time.Time {
	if last.IsZero() {
		return last
	}
	if b.Cron == "" {
		return last.Add(b.Every)
	}
	schedule, err := cron.Parse(b.Cron, b.TimeZone)
	if err != nil { // Load has parsed it
		return last.Add(b.Every)
	}
	if next := schedule.Next(last); !next.IsZero() {
		return next
	}
	return last.Add(backupEveryMax)
}
