package node_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/config"
	"dormouse/node"
)

// newBackedUp returns an empty cluster whose nodes ship backups to a directory that they share.
func newBackedUp(t *testing.T) *simCluster {
	t.Helper()
	w := newSimCluster(t, 0)
	w.backup = config.Default().Backup
	w.backup.URL = "file://" + filepath.Join(w.dir, "backups")
	return w
}

// moment is the state of a cluster at an entry.
type moment struct {
	index uint64
	time  int64
	hash  string
}

// now returns the state that a node has applied.
func now(t *testing.T, n *testNode) moment {
	t.Helper()
	view := n.Machine().View()
	defer view.Close()
	hash, err := view.StateHash(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, wall := n.Machine().Stamps()
	return moment{view.Index(), wall, hash}
}

// Any node takes calls about backups, and the leader answers them. A new leader goes on without a gap.
// The state at each entry can be built again, with the same hash.
func TestTheStateAtEachEntryIsBuiltAgainSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newBackedUp(t)
		w.found(3)
		var moments []moment
		write := func(n int) {
			for i := range n {
				if err := put(t.Context(), w.leader().Service(), "k", i); err != nil {
					t.Fatal(err)
				}
				moments = append(moments, now(t, w.leader()))
				time.Sleep(time.Second)
			}
		}
		write(5)
		w.await("the first backup", func() bool { return backupStatus(t, w.follower()).LastName != "" })
		moments = nil // some may be from before the backup
		time.Sleep(time.Second)
		write(5)
		phases := map[string]bool{}
		taken, err := w.follower().Operator().TakeBackup(t.Context(), func(p layout.BackupProgress) { phases[p.Phase] = true })
		if err != nil || taken.Node != w.leader().name || !phases[layout.BackupWrites] || !phases[layout.BackupVerifies] {
			t.Errorf("a follower's call: %+v, %v, phases %v", taken, err, phases)
		}
		write(5)
		w.crash(w.leader().name)
		write(10)
		last := moments[len(moments)-1]
		w.await("the shipped log", func() bool { s := backupStatus(t, w.follower()); return s.ShippedTo >= last.index && s.Gaps == 0 })
		all, err := w.follower().Operator().Backups(t.Context())
		if err != nil || len(all.Backups) != 2 || !all.Status.Leads {
			t.Errorf("there are %+v, %v", all, err)
		}
		archive := node.Archive{URL: w.backup.URL, PublicKeys: []string{all.Status.PublicKey}}
		for i, m := range moments {
			if i%4 > 0 && i < len(moments)-1 { // some of them
				continue
			}
			point, err := node.NewPoint(archive, "")
			if err != nil {
				t.Fatal(err)
			}
			point.Target.Index = m.index
			done, err := node.RehearsePoint(t.Context(), point, w.dir)
			if err != nil || done.StateHash != m.hash || done.Index > m.index {
				t.Errorf("at entry %d: %+v, %v, want hash %s", m.index, done, err, m.hash)
			}
			if i == len(moments)-1 { // the entries of its millisecond may go on
				continue
			}
			point.Target.Index, point.Target.Time = 0, m.time
			if done, err := node.RehearsePoint(t.Context(), point, w.dir); err != nil || done.Time != m.time {
				t.Errorf("at %d: %+v, %v", m.time, done, err)
			}
		}
		if _, err := node.VerifyArchive(t.Context(), node.Point{Archive: archive}, "", true, w.dir); err != nil {
			t.Errorf("verify: %v", err)
		}
		for i := range 4 { // further segments, and a backup after the first of them
			write(1)
			last := moments[len(moments)-1]
			w.await("the shipped log", func() bool { return backupStatus(t, w.follower()).ShippedTo >= last.index })
			if i == 0 {
				takeBackup(t, w.follower())
			}
		}
		verifiesWithoutSegments(t, w, archive)
	})
}

func takeBackup(t *testing.T, n *testNode) {
	t.Helper()
	if _, err := n.Operator().TakeBackup(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// verifiesWithoutSegments verifies three backups after retention has removed the segments before the last one, and
// after damage has removed a later segment.
func verifiesWithoutSegments(t *testing.T, w *simCluster, archive node.Archive) {
	t.Helper()
	store, err := blob.Open(t.Context(), archive.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // a directory
	clusters, err := backup.Clusters(t.Context(), store)
	if err != nil || len(clusters) != 1 {
		t.Fatal(clusters, err)
	}
	c := &backup.Catalog{Store: store, Cluster: clusters[0], Trust: backup.Trust{Anyone: true}}
	all, err := c.List(t.Context())
	if err != nil || len(all.Backups) != 3 {
		t.Fatal(all, err)
	}
	remove := func(which func(backup.SegmentRef) bool) {
		for _, s := range all.Segments {
			if which(s) {
				if err := c.DeleteSegment(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	base := all.Backups[2]
	verify := func() (node.Restored, error) {
		return node.VerifyArchive(t.Context(), node.Point{Archive: archive}, "", true, w.dir)
	}
	remove(func(s backup.SegmentRef) bool { return s.To <= base.Index })
	done, err := verify()
	if err != nil || done.Backup != base.Name || len(done.Checked) != 3 || done.Index != done.ShippedTo {
		t.Errorf("without the log that retention removes: %+v, %v", done, err)
	}
	kept := slices.DeleteFunc(slices.Clone(all.Segments), func(s backup.SegmentRef) bool { return s.From <= base.Index+1 })
	if len(kept) < 2 {
		t.Fatalf("too few segments: %+v", all.Segments)
	}
	remove(func(s backup.SegmentRef) bool { return s.From > base.Index+1 && s.From <= kept[0].From })
	if _, err := verify(); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("without a segment in the middle: %v", err)
	}
}

func backupStatus(t *testing.T, n *testNode) layout.BackupStatus {
	t.Helper()
	s, err := n.Operator().Status(t.Context())
	if err != nil || s.Backup == nil {
		return layout.BackupStatus{}
	}
	return *s.Backup
}

// A cluster without a destination says what to set, and its status shows no backups.
func TestACopyWithoutADestinationIsRefusedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 1)
		o := w.leader().Operator()
		if _, err := o.Backups(t.Context()); agent.CodeOf(err) != agent.CodeConflict {
			t.Errorf("list: %v", err)
		}
		if _, err := o.TakeBackup(t.Context(), nil); agent.CodeOf(err) != agent.CodeConflict || !bytes.Contains([]byte(err.Error()), []byte("backup.url")) {
			t.Errorf("take: %v", err)
		}
		if s, err := o.Status(t.Context()); err != nil || s.Backup != nil {
			t.Errorf("status: %+v, %v", s.Backup, err)
		}
	})
}

// Settings that no backup can be taken with are refused at the start, not at the first backup.
func TestSettingsOfBackupsAreCheckedAtTheStart(t *testing.T) {
	for name, change := range map[string]func(b *config.Backup){
		"the URL":          func(b *config.Backup) { b.URL = "ftp://host/backups" },
		"the recipients":   func(b *config.Backup) { b.Recipients = []string{"bob"} },
		"the trusted keys": func(b *config.Backup) { b.TrustedKeys = []string{"bob"} },
	} {
		c := config.Default()
		c.Node.Dev, c.Node.Ephemeral, c.Log.Level = true, true, "error"
		c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0"
		c.Backup.URL = "file://" + filepath.Join(t.TempDir(), "backups")
		change(&c.Backup)
		if n, err := node.Open(t.Context(), node.Options{Config: c, Headless: true}); exitCode(err) != 2 {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
}

// A destination on the device of the data is lost with it, or is a mount point without its file system.
func TestADestinationOnTheDeviceOfTheDataHasAWarning(t *testing.T) {
	dir := t.TempDir()
	data := config.Node{DataDir: dir}
	ephemeral := data
	ephemeral.Ephemeral = true
	for name, c := range map[string]struct {
		url   string
		data  config.Node
		warns bool
	}{
		"beside the data": {"file://" + t.TempDir(), data, true},
		"another device":  {"file:///dev", data, false},
		"a bucket":        {"s3://bucket", data, false},
		"no data":         {"file://" + t.TempDir(), ephemeral, false},
		"not there":       {"file://" + filepath.Join(dir, "none"), data, false},
	} {
		if got := node.SharedDevice(c.url, c.data); (got != "") != c.warns || c.warns && !strings.Contains(got, c.url+" is on the device") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// An archive that cannot be reached, or has no backups, is a failure. One that is named wrongly is a usage error.
func TestAnArchiveThatIsNotThereFails(t *testing.T) {
	dir := t.TempDir()
	at := func(path string) string { return "file://" + path }
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	two := filepath.Join(dir, "two")
	for _, cluster := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(two, cluster, "log"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(two, cluster, "log", "head.json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		archive node.Archive
		code    int
	}{
		"no directory":      {node.Archive{URL: at(filepath.Join(dir, "nowhere")), AnySigner: true}, 1},
		"no backups":        {node.Archive{URL: at(empty), AnySigner: true}, 1},
		"none of a cluster": {node.Archive{URL: at(two), Cluster: "a", AnySigner: true}, 1},
		"no program":        {node.Archive{URL: "s3://bucket", Program: filepath.Join(dir, "dormblob"), AnySigner: true}, 1},
		"two clusters":      {node.Archive{URL: at(two), AnySigner: true}, 2},
		"no signer trusted": {node.Archive{URL: at(empty)}, 2},
		"no URL":            {node.Archive{URL: "tape://1", AnySigner: true}, 2},
		"no key":            {node.Archive{URL: at(empty), PublicKeys: []string{"x"}}, 2},
	} {
		_, err := node.VerifyArchive(t.Context(), node.Point{Archive: c.archive}, "", true, dir)
		if exitCode(err) != c.code || strings.Contains(err.Error(), "  ") {
			t.Errorf("verify with %s: exit code %d, want %d: %v", what, exitCode(err), c.code, err)
		}
		_, err = node.RehearsePoint(t.Context(), node.Point{Archive: c.archive}, dir)
		if exitCode(err) != c.code {
			t.Errorf("rehearse with %s: exit code %d, want %d: %v", what, exitCode(err), c.code, err)
		}
	}
}
