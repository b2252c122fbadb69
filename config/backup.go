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
