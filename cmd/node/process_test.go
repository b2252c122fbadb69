package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/config"
	"dormouse/node"
)

// system simulates the operating system.
type system struct {
	process
	out, errs bytes.Buffer
	signals   chan os.Signal
	exited    []int           // arguments of exit
	ran       []config.Config // arguments of run
	stops     int             // calls of stopping
}

func newSystem() *system {
	s := &system{signals: make(chan os.Signal, 2)}
	s.process = process{
		name: "bin/dormoused", stdout: &s.out, stderr: &s.errs, signals: s.signals,
		exit:     func(code int) { s.exited = append(s.exited, code) },
		stopping: func() { s.stops++ },
		run: func(_ context.Context, c config.Config) error {
			s.ran = append(s.ran, c)
			return nil
		},
		restore: func(context.Context, config.Config, string) (node.Restored, error) { return node.Restored{}, nil },
	}
	return s
}

// fault is an error like those of package node.
type fault struct{ code int }

func (f fault) Error() string { return fmt.Sprintf("fault %d", f.code) }
func (f fault) ExitCode() int { return f.code }

func TestEachFaultHasItsExitCodeAndSaysWhatToDo(t *testing.T) {
	for _, e := range exits[1:] {
		t.Run(e.meaning, func(t *testing.T) {
			s := newSystem()
			s.run = func(context.Context, config.Config) error {
				return fmt.Errorf("start n1: %w", fault{e.code})
			}
			if code := s.main(t.Context(), []string{"--node-id", "n1"}); code != e.code {
				t.Errorf("exit code %d, want %d", code, e.code)
			}
			if got := s.errs.String(); !strings.Contains(got, "start n1: fault") || !strings.Contains(got, e.hint) {
				t.Errorf("stderr %q lacks the error or %q", got, e.hint)
			}
		})
	}
}

func TestOtherErrorsExitWithOne(t *testing.T) {
	s := newSystem()
	s.run = func(context.Context, config.Config) error { return errors.New("surprise") }
	if code := s.main(t.Context(), []string{"--node-id", "n1"}); code != exitFailed {
		t.Fatalf("exit code %d", code)
	}
}

func TestWrongUsageExitsWithTwoAndRunsNothing(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"--no-such-flag"},
		{"argument"},
		{"--node-id", "n1", "--log-level", "loud"},
		{"--node-id", "n1", "--stop-timeout", "soon"},
		{"--config", "/no/such/file"},
		{"restore", "--data-dir", "x", "--node-id", "n1"},
		{"restore", "--backup", "b"},
		{"restore", "--backup", "b", "--node-id", "n1", "--ephemeral", "--bootstrap"},
	} {
		s := newSystem()
		if code := s.main(t.Context(), args); code != exitConfig {
			t.Errorf("%q: exit code %d, want %d; stderr %q", args, code, exitConfig, s.errs.String())
		}
		if len(s.ran) > 0 {
			t.Errorf("%q: ran a node", args)
		}
	}
}

func TestHelpHoldsTheTableOfExitCodes(t *testing.T) {
	s := newSystem()
	if code := s.main(t.Context(), []string{"--help"}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, e := range exits {
		if want := fmt.Sprintf("  %d  %s\n", e.code, e.meaning); !strings.Contains(s.out.String(), want) {
			t.Errorf("--help lacks %q", want)
		}
	}
}

func TestPrintConfigPrintsWhatAllSourcesComeTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dormouse.yaml")
	if err := os.WriteFile(file, []byte("raft:\n  log_store: bolt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSystem()
	s.environ = []string{"DORMOUSE_LOG__FORMAT=json"}
	if code := s.main(t.Context(), []string{"--dev", "--print-config", "--config", file}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
	for _, want := range []string{"  dev: true\n", "  log_store: bolt\n", "  format: json\n"} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, s.out.String())
		}
	}
	if len(s.ran) > 0 {
		t.Error("ran a node")
	}
}

func TestVersionIsPrinted(t *testing.T) {
	s := newSystem()
	if code := s.main(t.Context(), []string{"--version"}); code != exitOK || !strings.HasPrefix(s.out.String(), "dormoused ") {
		t.Fatalf("exit code %d, output %q", code, s.out.String())
	}
}

func TestRestoreHandsOverTheBackupAndTheSettings(t *testing.T) {
	s := newSystem()
	var got string
	s.restore = func(_ context.Context, c config.Config, backup string) (node.Restored, error) {
		got = c.Node.ID + " " + c.Node.DataDir + " " + backup
		return node.Restored{ClusterID: "old", Backup: backup, Index: 7, NewCluster: "new"}, nil
	}
	args := []string{"restore", "--backup", "b", "--data-dir", "d", "--node-id", "n9"}
	if code := s.main(t.Context(), args); code != exitOK || !strings.Contains(s.out.String(), "old ") || !strings.Contains(s.out.String(), " new") {
		t.Fatalf("exit code %d: %s%s", code, &s.out, &s.errs)
	}
	if got != "n9 d b" {
		t.Fatalf("restored %q", got)
	}
	s.out.Reset()
	var done node.Restored
	if code := s.main(t.Context(), append(args, "-o", "json")); code != exitOK || json.Unmarshal(s.out.Bytes(), &done) != nil || done.NewCluster != "new" || done.Index != 7 {
		t.Fatalf("exit code %d, the document is %s%s", code, &s.out, &s.errs)
	}
}

func TestTheFirstSignalStopsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem()
		s.run = func(ctx context.Context, _ config.Config) error {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // an orderly stop
			return ctx.Err()
		}
		s.signals <- syscall.SIGTERM
		if code := s.main(t.Context(), []string{"--node-id", "n1"}); code != exitOK || len(s.exited) > 0 || s.stops != 1 {
			t.Fatalf("exit code %d, ended at once with %v, told %d stops: %s", code, s.exited, s.stops, s.errs.String())
		}
	})
}

// A command that a signal has interrupted has not done its work.
func TestAnInterruptedCommandFails(t *testing.T) {
	program := filepath.Join(t.TempDir(), "dormblob") // never opens its store
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 3600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	archive := []string{"--from", "s3://backups", "--blob-program", program, "--any-signer"}
	self := []string{"--node-id", "n1", "--data-dir", t.TempDir()}
	for _, args := range [][]string{
		append([]string{"verify"}, archive...),
		append([]string{"restore", "--dry-run"}, archive...),
		append(append([]string{"restore"}, archive...), self...),
		append([]string{"restore", "--backup", "b"}, self...),
	} {
		s := newSystem()
		s.restore = func(ctx context.Context, _ config.Config, _ string) (node.Restored, error) {
			<-ctx.Done()
			return node.Restored{}, ctx.Err()
		}
		s.signals <- syscall.SIGTERM
		if code := s.main(t.Context(), args); code != 143 || s.out.Len() > 0 || !strings.Contains(s.errs.String(), "interrupted (terminated): ") {
			t.Errorf("%q: exit code %d, %s%s", args, code, &s.out, &s.errs)
		}
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem()
		s.run = func(ctx context.Context, _ config.Config) error {
			<-ctx.Done()
			time.Sleep(time.Hour)
			return nil
		}
		start := time.Now()
		go func() {
			s.signals <- syscall.SIGINT
			s.signals <- syscall.SIGINT // an echo of the first
			time.Sleep(time.Second)
			s.signals <- syscall.SIGINT
		}()
		s.main(t.Context(), []string{"--node-id", "n1"})
		if len(s.exited) != 1 || s.exited[0] != 130 || time.Since(start) != time.Second {
			t.Fatalf("ended with %v after %v, want 130 after 1s", s.exited, time.Since(start))
		}
		time.Sleep(time.Hour) // the process would have ended; let the bubble end
	})
}

func TestAStopThatTakesTooLongIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem()
		s.run = func(ctx context.Context, _ config.Config) error {
			<-ctx.Done()
			time.Sleep(time.Hour)
			return nil
		}
		start := time.Now()
		s.signals <- syscall.SIGTERM
		s.main(t.Context(), []string{"--node-id", "n1", "--stop-timeout", "10s"})
		if len(s.exited) != 1 || s.exited[0] != exitFailed || time.Since(start) != 10*time.Second+stopGrace {
			t.Fatalf("ended with %v after %v", s.exited, time.Since(start))
		}
		time.Sleep(time.Hour)
	})
}

func TestADevNodeSaysWhatToTryOnceItIsReady(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	addr := strings.TrimPrefix(server.URL, "http://")
	ctx, cancel := context.WithCancel(t.Context())
	s := newSystem()
	told := &notify{done: cancel}
	s.stdout = told
	s.run = func(context.Context, config.Config) error {
		<-ctx.Done() // ends when something was printed
		return nil
	}
	if code := s.main(t.Context(), []string{"--dev", "--ephemeral", "--http-addr", addr, "--grpc-addr", "127.0.0.1:9"}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, s.errs.String())
	}
	for _, want := range []string{"bin/dormctl --endpoints 127.0.0.1:9 status\n", "curl -s http://" + addr + "/v1/threads/chat-1/entries\n"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("told %q, which lacks %q", told.String(), want)
		}
	}
	if asked != 3 {
		t.Errorf("told after %d questions, want 3", asked)
	}
}

// notify calls done when it has been written to.
type notify struct {
	bytes.Buffer
	done func()
}

func (n *notify) Write(p []byte) (int, error) {
	defer n.done()
	return n.Buffer.Write(p)
}

func TestWhatToTryCanBePastedIntoAShell(t *testing.T) {
	c, err := config.Load(config.Sources{Environ: []string{"DORMOUSE_NODE__DEV=true"}})
	if err != nil {
		t.Fatal(err)
	}
	for daemon, want := range map[string]string{
		"dormoused":            "  dormctl status\n",
		"./dormoused":          "  ./dormctl status\n",
		"bin/dormoused":        "  bin/dormctl status\n",
		"/opt/my db/dormoused": "  '/opt/my db/dormctl' status\n",
	} {
		text := next(daemon, c)
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q lacks %q", daemon, text, want)
		}
		if console := "http://" + c.HTTP.Advertise + "/ui/"; !strings.Contains(text, console) {
			t.Errorf("%s: %q lacks %q", daemon, text, console)
		}
		for line := range strings.Lines(text) {
			if command, ok := strings.CutPrefix(line, "  "); ok {
				if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", command).CombinedOutput(); err != nil {
					t.Errorf("%s is no shell command: %s", command, out)
				}
			}
		}
	}
}
