package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dormctl backup verify runs dormoused with the flags that it got, and passes its outcome on.
func TestVerifyRunsTheDaemon(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"whole":   `echo "$@" >&2; echo '{"cluster_id":"c-1","backup":"b1","index":7,"segments":2,"entries":5,"state_hash":"abc","backups":3,"checked":["b1"]}'`,
		"damaged": `echo "it is damaged" >&2; exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	flags := []string{"backup", "verify", "b1", "--from", "file:///backups", "--public-key", "k1", "--identity", "a.key", "--identity", "b.key"}
	out, said, code := newConsole().run("", append(flags, "--dormoused", filepath.Join(dir, "whole"))...)
	if code != 0 || !strings.Contains(out, "entry 7") || !strings.Contains(said, "verify -o json --from file:///backups --name b1 --public-key k1 --identity a.key --identity b.key") {
		t.Errorf("exit code %d, %s, %s", code, out, said)
	}
	_, said, code = newConsole().run("", append(flags, "--dormoused", filepath.Join(dir, "damaged"))...)
	if code != 1 || !strings.Contains(said, "it is damaged") || !strings.Contains(said, "not whole") {
		t.Errorf("exit code %d, %s", code, said)
	}
	if _, said, code = newConsole().run("", append(flags, "--dormoused", filepath.Join(dir, "none"))...); code != 1 || !strings.Contains(said, "--dormoused") {
		t.Errorf("exit code %d, %s", code, said)
	}
}
