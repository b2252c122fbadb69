package testbed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/jepsen/testbed"
)

func TestHowAProcessEndedIsTold(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for _, test := range []struct {
		script, detail string
		code           int
	}{
		{"echo working", "exit code 0", 0},
		{"echo working; echo the disk is full; exit 8", "exit code 8: the disk is full", 8},
		{"echo a; echo panic: a bug; echo 'goroutine 1:'; exit 2", "exit code 2: panic: a bug", 2},
		{"echo before panic: in the middle; exit 1", "exit code 1: before panic: in the middle", 1},
		{"echo dormoused: a is wrong; echo 'dormoused: see dormoused --help; more'; exit 2", "exit code 2: dormoused: a is wrong", 2},
		{"exit 3", "exit code 3", 3},
		{"kill -9 $$", "killed", -1},
		{"echo oh; kill -6 $$", "ended by a signal: aborted: oh", -1},
	} {
		code, detail, err := testbed.RunToEnd(log, "sh", "-c", test.script)
		if err != nil {
			t.Fatal(err)
		}
		if code != test.code || detail != test.detail {
			t.Errorf("%s: code %d, %q; want %d, %q", test.script, code, detail, test.code, test.detail)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "=== "); n != 16 {
		t.Errorf("%d lines of the log tell of 8 starts and 8 ends:\n%s", n, text)
	}
}

func TestABinaryThatIsNotThereIsToldOf(t *testing.T) {
	if _, _, err := testbed.RunToEnd(filepath.Join(t.TempDir(), "log"), "/nowhere/dormoused"); err == nil {
		t.Error("started it")
	}
}

func TestMetricsAreRead(t *testing.T) {
	page := "# HELP go_goroutines Number.\ngo_goroutines 50\nx{a=\"b\"} 3\nraft_rpc_installSnapshot_count 2\nnone NaN\nbad\n"
	m := testbed.ReadMetrics(page)
	if m["go_goroutines"] != 50 || m["raft_rpc_installSnapshot_count"] != 2 || m["bad"] != 0 {
		t.Errorf("read %v", m)
	}
}

func TestWishesThatCannotBeAreRefused(t *testing.T) {
	for want, o := range map[string]testbed.Options{
		"no directory is given":  {Nodes: 3},
		"0 nodes: use 1 to 7":    {Dir: "x"},
		"8 nodes: use 1 to 7":    {Dir: "x", Nodes: 8},
		"unknown kind of disk 4": {Dir: "x", Nodes: 1, Disk: 4},
		"no dormoused to run:":   {Dir: t.TempDir(), Nodes: 1, Binary: "/nowhere/dormoused"},
	} {
		b, err := testbed.Open(t.Context(), o)
		if err == nil {
			_ = b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
