package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/cmd/dormctl/kit"
)

// dormctl backup verify runs dormoused with the flags that it got, and passes its outcome on.
func TestVerifyRunsTheDaemon(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"whole":   `echo "$@" >&2; echo '{"cluster_id":"c-1","backup":"b1","index":7,"segments":2,"entries":5,"state_hash":"abc","backups":3,"checked":["b1"]}'`,
		"damaged": `echo "it is damaged" >&2; exit 1`,
		"stopped": `trap 'exit 1' INT; echo $$ >"$0.pid"; while :; do sleep 0.05; done`,
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
	if code != 1 || !strings.Contains(said, "it is damaged") || !strings.Contains(said, "not verified") {
		t.Errorf("exit code %d, %s", code, said)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for !exists(filepath.Join(dir, "stopped.pid")) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		interrupt()
	}()
	var errs bytes.Buffer
	a := &kit.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Getenv: func(string) string { return "" }}
	if code := run(ctx, a, append(flags, "--dormoused", filepath.Join(dir, "stopped"))); code != 1 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("interrupted: exit code %d, %s", code, &errs)
	}
	if _, said, code = newConsole().run("", append(flags, "--dormoused", filepath.Join(dir, "none"))...); code != 1 || !strings.Contains(said, "--dormoused") {
		t.Errorf("exit code %d, %s", code, said)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
