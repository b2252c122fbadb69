package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/cli"
	"dormouse/internal/hostcheck"
)

// The checks of each node's own machine and settings.

func checkClocks(f *facts, found *findings) {
	const do = "check the time synchronization of both machines (chrony or systemd-timesyncd)"
	for _, n := range f.Nodes {
		if off := n.Clock.Abs() - n.ClockBound; n.ClockBound > 0 && off > clockWarning {
			found.add(warning, "clocks", n.Member.ID, do, "its clock and that of this machine differ by %v (±%v)", n.Clock.Abs().Round(time.Millisecond), n.ClockBound.Round(time.Millisecond))
		}
		steps, _ := n.Metrics.value("dormouse_cluster_wall_steps_total")
		before, _ := n.Before.value("dormouse_cluster_wall_steps_total")
		if steps > before {
			found.add(warning, "clocks", n.Member.ID, do, "its clock has jumped while doctor looked")
		}
	}
}

func checkDisks(f *facts, found *findings) {
	for _, n := range f.Nodes {
		if v, _ := n.Metrics.value("dormouse_cluster_read_only"); v > 0 {
			found.add(problem, "disks", n.Member.ID, "free disk space, or add some", "its disk is nearly full: it accepts no writes")
			continue
		}
		free, ok := n.Metrics.value("dormouse_cluster_disk_free_bytes")
		used, _ := n.Metrics.value("dormouse_engine_disk_bytes")
		if ok && free < diskWarning && free < used {
			found.add(warning, "disks", n.Member.ID, "add disk space: a compaction or a snapshot may need as much as the data", "%s are free, and the data takes %s", sizeOf(int64(free)), sizeOf(int64(used)))
		}
	}
}

// fsyncs are the metrics of the time in which a leader and a follower store log entries, which ends
// with a flush of the disk.
var fsyncs = []string{"raft_leader_dispatchLog", "raft_rpc_appendEntries_storeLogs"}

func checkFsync(f *facts, found *findings) {
	for _, n := range f.Nodes {
		for _, name := range fsyncs {
			least, most, count := n.Metrics.quantile(name, 0.99, n.Before)
			if count < fsyncSamplesMin { // no writes while doctor looked: since the node has started
				least, most, count = n.Metrics.quantile(name, 0.99, nil)
			}
			const do = "use a disk with a fast flush, and share it with nothing that writes much"
			switch {
			case count < fsyncSamplesMin:
			case least >= fsyncProblemMS:
				found.add(problem, "fsync", n.Member.ID, do, "1 %% of %d writes to its log took more than %.0f ms", count, least)
			case most > fsyncWarningMS:
				found.add(warning, "fsync", n.Member.ID, do, "the slowest 1 %% of %d writes to its log took %.0f to %.0f ms, or longer", count, least, most)
			}
		}
	}
}

func checkCompaction(f *facts, found *findings) {
	for _, n := range f.Nodes {
		debt, _ := n.Metrics.value("dormouse_engine_compaction_debt_bytes")
		data, _ := n.Metrics.value("dormouse_engine_disk_bytes")
		if debt > debtWarning && debt > data/4 {
			found.add(warning, "compaction", n.Member.ID, "the disk or the cores do not keep up with the writes: lower their rate, or use a faster disk", "%s wait for compactions", sizeOf(int64(debt)))
		}
		now, _ := n.Metrics.value("dormouse_engine_stalls_total")
		before, _ := n.Before.value("dormouse_engine_stalls_total")
		if now > before {
			found.add(warning, "compaction", n.Member.ID, "use a faster disk, or lower the rate of the writes", "%.0f writes waited for flushes or compactions while doctor looked", now-before)
		}
	}
}

func checkCertificates(f *facts, found *findings) {
	for _, n := range f.Nodes {
		for _, c := range n.Expires {
			left := c.NotAfter.Sub(f.At)
			var s severity
			switch {
			case left < expiryProblem:
				s = problem
			case left < expiryWarning:
				s = warning
			default:
				continue
			}
			found.add(s, "certificates", n.Member.ID, "renew it (docs/keys.md); the node reads the new files by itself", "the certificate at %s ends %s", c.Addr, cli.When(c.NotAfter.UnixMilli()))
		}
	}
}

func checkBackups(f *facts, found *findings) {
	const check = "backups"
	b := f.Cluster.Backup
	switch {
	case b != nil:
	case setting(f, "backup.url") == "":
		found.add(note, check, "", "set backup.url (docs/backups.md)", "no backups are taken")
		return
	default:
		found.add(warning, check, "", "run doctor again; if it stays so, the log of the leader says more", "the leader did not tell of its backups")
		return
	}
	if b.Next > 0 && f.At.Sub(time.UnixMilli(b.Next)) > backupLate {
		found.add(problem, check, "", "the log of the leader says why", "a backup has been due since %s", cli.When(b.Next))
	}
	if b.LastError != "" && b.LastErrorAt > b.LastSuccessAt {
		found.add(warning, check, "", "the log of the leader says more", "the last backup failed: %s", b.LastError)
	}
	if b.LogError != "" {
		found.add(warning, check, "", "the log of the leader says more", "the log is not shipped: %s", b.LogError)
	}
	if b.LastSuccessAt == 0 && b.LastErrorAt == 0 {
		found.add(note, check, "", "run doctor again in a minute; \"dormctl backup now\" takes one", "the leader knows of no backup yet")
	}
	every, err := time.ParseDuration(setting(f, "backup.every"))
	if err == nil && every > 0 && b.LastSuccessAt > 0 && setting(f, "backup.cron") == "" {
		if age := f.At.Sub(time.UnixMilli(b.LastSuccessAt)); age > backupSlack*every {
			found.add(problem, check, "", "the log of the leader says why", "the last backup is %v old, and one is due every %v", age.Round(time.Minute), every)
		}
	}
}

func checkAudit(f *facts, found *findings) {
	for _, n := range f.Nodes {
		if v, _ := n.Metrics.value("dormouse_audit_failing"); v > 0 {
			found.add(problem, "audit", n.Member.ID, "free disk space, or repair audit.dir; administrative calls are refused meanwhile", "its audit log cannot be written")
		}
		if v, _ := n.Metrics.value("dormouse_audit_lost_total"); v > 0 {
			found.add(warning, "audit", n.Member.ID, "check the disk of audit.dir", "%.0f audit records were lost since it started", v)
		}
	}
}

// setting returns a setting of the first node that told its own.
func setting(f *facts, name string) string {
	for _, n := range f.Nodes {
		if s, ok := n.Settings[name]; ok {
			return s.Value
		}
	}
	return ""
}

// same are the settings that should be equal on all nodes.
var same = []string{"auth.mode", "cluster.timing", "cluster.voters", "cluster.dead_after", "placement.lease", "raft.log_store", "backup.url", "backup.every", "audit.enabled"}

func checkSettings(f *facts, found *findings) {
	for _, name := range same {
		values := map[string][]string{}
		for _, n := range f.Nodes {
			if s, ok := n.Settings[name]; ok {
				values[s.Value] = append(values[s.Value], n.Member.ID)
			}
		}
		if len(values) > 1 {
			var all []string
			for value, nodes := range values {
				all = append(all, strings.Join(nodes, ", ")+": "+cli.OrDash(value))
			}
			slices.Sort(all)
			found.add(warning, "settings", "", "use one value on all nodes", "%s differs: %s", name, strings.Join(all, "; "))
		}
	}
	for _, n := range f.Nodes {
		if n.Status == nil {
			continue
		}
		if n.Status.Auth == layout.AuthOff && !hostcheck.Loopback(n.Member.GRPCAddr) {
			found.add(problem, "settings", n.Member.ID, "set auth.mode to tokens (docs/security.md)", "it asks for no credentials at %s: everyone who reaches it may do everything", n.Member.GRPCAddr)
		} else if n.Status.Insecure {
			found.add(warning, "settings", n.Member.ID, "start it without --insecure (docs/security.md)", "it was started with --insecure")
		}
		if s, ok := n.Settings["node.ephemeral"]; ok && s.Value == "true" {
			found.add(problem, "settings", n.Member.ID, "start it with a data directory", "it keeps nothing on disk: its data is lost when it stops")
		}
		if s, ok := n.Settings["raft.accept_damage"]; ok && s.Value == "true" {
			found.add(problem, "settings", n.Member.ID, "set raft.accept_damage to false once it has started", "it would start with a log that lost acknowledged entries")
		}
	}
}

// sizeOf returns a number of bytes for people.
func sizeOf(bytes int64) string {
	const unit = 1024
	if bytes < unit*unit {
		return fmt.Sprintf("%d KiB", bytes/unit)
	}
	if bytes < unit*unit*unit {
		return fmt.Sprintf("%d MiB", bytes/unit/unit)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/unit/unit/unit)
}
