package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/cluster/keys"
	"dormouse/cmd/dormctl/kit"
)

func TestAClusterKeyIsWrittenOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.key")
	c := newConsole()
	var first string
	for _, want := range []string{"wrote", "unchanged"} {
		out, errs, code := c.run("", "cluster-key", "--file", file)
		if code != kit.ExitOK || !strings.Contains(out, want) {
			t.Fatalf("exit %d: %s%s; want %q", code, out, errs, want)
		}
		ring, err := keys.ReadRing(file) // which refuses a file for others
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = ring.Encode()
		}
		if ring.Encode() != first {
			t.Error("the second call replaced the key")
		}
		if strings.Contains(out, "dorm") && strings.Contains(out, strings.TrimSpace(first)) {
			t.Error("the key is printed too")
		}
	}
	if _, _, code := c.run("", "cluster-key", "--file", filepath.Join(file, "below")); code == kit.ExitOK {
		t.Error("a path below a file is accepted")
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
