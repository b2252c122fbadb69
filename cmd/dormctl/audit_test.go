package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/audit"
	"dormouse/cluster/keys"
	"dormouse/cmd/dormctl/kit"
)

// newAuditLog returns the directory of an audit log with two records, and the file of its cluster key.
func newAuditLog(t *testing.T) (dir, keyFile string) {
	t.Helper()
	dir, keyFile = filepath.Join(t.TempDir(), "audit"), filepath.Join(t.TempDir(), "cluster.key")
	key := keys.New()
	if err := os.WriteFile(keyFile, []byte(key.Encode()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(audit.Options{Dir: dir, Node: "n1", Key: key.Audit(), KeyID: key.ID()})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- l.Run() }()
	r := audit.NewRecorder(l, false)
	r.Note(audit.KindAdmin, "leave_node", "the first", 7)
	r.Note(audit.KindAdmin, "feature_level", "from 7\nto 8", 8)
	if err := l.Close(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	return dir, keyFile
}

func TestAnAuditLogIsShownAndVerified(t *testing.T) {
	dir, keyFile := newAuditLog(t)
	c := newConsole()
	out, errs, code := c.run("", "audit", "tail", dir, "-n", "2")
	if code != kit.ExitOK || strings.Count(out, "\n") != 2 || !strings.Contains(out, `admin leave_node ok detail="the first" index=7`) || !strings.Contains(out, `detail="from 7\nto 8"`) {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if out, _, code := c.run("", "audit", "tail", dir, "-o", "json", "-n", "1"); code != kit.ExitOK || !strings.Contains(out, `"action":"feature_level"`) || !strings.Contains(out, `"hash":"`) {
		t.Errorf("%q %d", out, code)
	}
	if out, errs, code := c.run("", "audit", "verify", dir, "--cluster-key-file", keyFile); code != kit.ExitOK || !strings.Contains(out, "4 (1 to 4)") || !strings.Contains(out, "macs checked   yes") {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if out, errs, code := c.run("", "audit", "verify", dir, "-o", "json"); code != kit.ExitOK || !strings.Contains(out, `"lines":4`) || !strings.Contains(out, `"keyed":false`) {
		t.Errorf("%q %q %d", out, errs, code)
	}
	all, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	raw, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(all[0], []byte(strings.Replace(string(raw), "the first", "the worst", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, all[0]} {
		if out, errs, code := c.run("", "audit", "verify", path); code != kit.ExitFailed || !strings.Contains(out, "line 3") || !strings.Contains(errs, "not whole") {
			t.Errorf("%q %q %d", out, errs, code)
		}
		if out, _, code := c.run("", "audit", "verify", path, "-o", "json"); code != kit.ExitFailed || !strings.Contains(out, `"line":3`) {
			t.Errorf("%q %d", out, code)
		}
	}
	if _, errs, code := c.run("", "audit", "verify", filepath.Join(dir, "none")); code != kit.ExitNotFound {
		t.Errorf("%q %d", errs, code)
	}
	if _, errs, code := c.run("", "audit", "tail", t.TempDir()); code != kit.ExitFailed || !strings.Contains(errs, "holds no audit log") {
		t.Errorf("%q %d", errs, code)
	}
	if _, errs, code := c.run("", "audit", "verify", dir, "--cluster-key-file", all[0]); code != kit.ExitFailed || !strings.Contains(errs, "cluster key") {
		t.Errorf("%q %d", errs, code)
	}
}
