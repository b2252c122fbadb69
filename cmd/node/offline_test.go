package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/cluster/keys"
	"dormouse/config"
	"dormouse/node"
)

func TestRecoverShowsAndReplacesADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n1")
	flags := append([]string{"--node-id", "n1", "--data-dir", dir}, freeAddrs(t)...)
	runUntilReady(t, append(flags, "--bootstrap"))
	before, err := keys.ReadRing(filepath.Join(dir, "cluster.key"))
	if err != nil {
		t.Fatal(err)
	}

	shown := survivorsOf(t, dir)
	if len(shown) != 1 || shown[0].Node != "n1" || shown[0].ClusterID == "" || shown[0].LastIndex == 0 || shown[0].LastTerm == 0 || shown[0].Missing != 0 {
		t.Fatalf("the directory holds %+v", shown)
	}
	table := newSystem()
	if code := table.main(t.Context(), []string{"recover", dir}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, table.errs.String())
	}
	for _, want := range []string{"LAST INDEX", "MISSING", dir, shown[0].ClusterID} {
		if !strings.Contains(table.out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.out.String())
		}
	}

	backup := filepath.Join(t.TempDir(), "backup")
	s := newSystem()
	if code := s.main(t.Context(), []string{"backup", "--data-dir", dir, "--out", backup}); code != exitOK || !strings.Contains(s.errs.String(), shown[0].ClusterID) {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup is %+v, %v", info, err)
	}

	s = newSystem()
	if code := s.main(t.Context(), append([]string{"recover", "--force-new-cluster", "-o", "json"}, flags...)); code != exitOK {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
	var done node.Recovered
	if err := json.Unmarshal(s.out.Bytes(), &done); err != nil {
		t.Fatal(err)
	}
	after, err := keys.ReadRing(filepath.Join(dir, "cluster.key"))
	if err != nil {
		t.Fatal(err)
	}
	if after.Current().ID() == before.Current().ID() || after.Current().ID() != done.Key {
		t.Errorf("the key was %s and is %s; %s was told", before.Current(), after.Current(), done.Key)
	}
	if old, err := keys.ReadRing(filepath.Join(done.Replaced, "cluster.key")); err != nil || old.Current().ID() != before.Current().ID() {
		t.Errorf("the old data in %s has no key: %v", done.Replaced, err)
	}
	runUntilReady(t, flags) // it needs neither --bootstrap nor another node
	if now := survivorsOf(t, dir); now[0].ClusterID != done.NewClusterID || now[0].LastIndex <= shown[0].LastIndex {
		t.Errorf("the directory held %+v, and holds %+v", shown, now)
	}
}

func TestWrongUsageOfRecoverAndBackupExitsWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{"recover", "--output", "xml", "x"},
		{"recover", "--force-new-cluster"},
		{"recover", "--force-new-cluster", "--node-id", "n1", "--ephemeral", "--bootstrap"},
		{"backup", "--out", "x"},
		{"backup", "--data-dir", "x"},
	} {
		s := newSystem()
		if code := s.main(t.Context(), args); code != exitConfig {
			t.Errorf("%q: exit code %d, %s", args, code, s.errs.String())
		}
	}
	s := newSystem()
	empty := filepath.Join(t.TempDir(), "none")
	if code := s.main(t.Context(), []string{"recover", empty}); code != exitForeignData {
		t.Errorf("a directory that is not there: exit code %d, %s", code, s.errs.String())
	}
	if _, err := os.Stat(empty); err == nil {
		t.Error("showing a directory has made it")
	}
}

func survivorsOf(t *testing.T, dir string) (all []node.Survivor) {
	t.Helper()
	s := newSystem()
	if code := s.main(t.Context(), []string{"recover", "-o", "json", dir}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
	if err := json.Unmarshal(s.out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// freeAddrs returns flags with free addresses of all servers.
func freeAddrs(t *testing.T) (flags []string) {
	t.Helper()
	for _, server := range []string{"http", "grpc", "raft", "gossip"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // after all have an address of their own
		flags = append(flags, "--"+server+"-addr", l.Addr().String())
	}
	return flags
}

// runUntilReady runs a real node until it serves, and stops it.
func runUntilReady(t *testing.T, flags []string) {
	t.Helper()
	s := newSystem()
	s.run = func(_ context.Context, c config.Config) error {
		n, err := node.Open(t.Context(), node.Options{Config: c})
		if err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		go func() {
			for ctx.Err() == nil && n.Ready() != nil {
				time.Sleep(time.Millisecond)
			}
			if ctx.Err() != nil {
				t.Error("the node does not serve")
			}
			stop()
		}()
		return n.Run(ctx)
	}
	if code := s.main(t.Context(), flags); code != exitOK {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
}
