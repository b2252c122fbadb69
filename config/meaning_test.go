package config_test

import (
	"strings"
	"testing"
	"time"
)

// A value that would be converted to a number of another meaning is refused, with what to write.
func TestNumbersOfTheWrongKindAreRefused(t *testing.T) {
	const unit, whole = "write a number and a unit, such as 20s", "write plain digits"
	for yaml, want := range map[string]string{
		"backup: {keep_log: 604800}":                        "backup.keep_log: a number without a unit: " + unit,
		"backup: {keep_log: 0.5}":                           unit,
		"node: {stop_timeout: true}":                        unit,
		"cluster: {dead_after: false}":                      unit,
		"backup: {keep: 7.5}":                               "backup.keep: not a whole number: " + whole,
		"backup: {keep: true}":                              whole,
		"raft: {snapshot_bytes: 1000000.25}":                whole,
		"backup: {keep_log: 30s}":                           "backup.keep_log is 30s: use 1m0s to",
		"backup: {keep_log: '604800'}":                      "not a duration",
		"raft: {advertise: 'a:0'}":                          `raft.advertise "a:0" has port 0, which others cannot reach: write the port, such as 7602`,
		"storage: {memory: 128MiB, cache_bytes: 134217729}": "storage.cache_bytes is 134217729, more than storage.memory, which is 128 MiB",
	} {
		if _, err := load(t, sources{yaml: yaml + "\n", env: []string{"DORMOUSE_NODE__ID=n1"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", yaml, err, want)
		}
	}
}

func TestZeroIsADurationAndAWholeFractionANumber(t *testing.T) {
	c, err := load(t, sources{
		yaml: "node: {id: n1}\nbackup: {keep_log: 0, keep: 1e1}\nraft: {addr: '127.0.0.1:0', advertise: '127.0.0.1:0'}\nstorage: {memory: 128MiB, cache_bytes: 134217728}\n",
		env:  []string{"DORMOUSE_BACKUP__LOG_EVERY=0", "DORMOUSE_BACKUP__KEEP_DAILY=30"},
		args: []string{"--stop-timeout", "30s"},
	})
	if err != nil || c.Backup.KeepLog != 0 || c.Backup.Keep != 10 || c.Backup.LogEvery != 0 || c.Backup.KeepDaily != 30 || c.Node.StopTimeout != 30*time.Second {
		t.Errorf("%+v, %v", c.Backup, err)
	}
}
