package system

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatTheMachineDoesNotHaveIsAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, name := range []string{Dormouse, DormouseHTTP, DormouseHTTP2, Etcd, EtcdHTTP, Redis} {
		dir := filepath.Join(t.TempDir(), "data")
		_, err := Start(t.Context(), name, Options{Dir: dir, Bin: t.TempDir()})
		var absent *AbsentError
		if !errors.As(err, &absent) || absent.System != name || absent.Why == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s left its directory behind", name)
		}
	}
	if _, err := Start(t.Context(), "oracle", Options{Dir: t.TempDir()}); err == nil {
		t.Error("a system that nobody knows was started")
	}
	for _, name := range Names() {
		if What(name) == "" {
			t.Errorf("nothing says what %s is", name)
		}
	}
}

func TestAProcessIsStoppedKilledAndStartedAgain(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p, err := launch(spec{command: []string{"/bin/sh", "-c", "echo awake; exec sleep 600"}, log: log})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Running() {
		t.Error("it does not run")
	}
	if err := p.Stop(); err != nil || p.Running() {
		t.Errorf("it was not stopped: %v", err)
	}
	if p, err = p.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil || p.Running() {
		t.Errorf("it was not killed: %v", err)
	}
	if err := errors.Join(p.Kill(), p.Stop()); err != nil {
		t.Errorf("ending what has ended: %v", err)
	}
	if !strings.Contains("awake\nawake", p.LastWords()) {
		t.Errorf("its last words were %q", p.LastWords())
	}
}

func TestRedissVersionIsFound(t *testing.T) {
	if got := redisVersion("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1"); got != "7.0.15" {
		t.Errorf("it is %q", got)
	}
}
