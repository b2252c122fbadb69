package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dormouse/bench/system"
)

// A backend of PostgreSQL is in no process group of the benchmark, and a computing
// backend does not notice that its server was killed. So Close must make the server
// end it.
func TestNothingOfABusyPostgresIsLeftBehind(t *testing.T) {
	s, dir := startPeer(t, system.Postgres)
	d, err := dialPostgres(t.Context(), s.Endpoints[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // it was only read
	conn, err := d.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pid := int(conn.Conn().PgConn().PID())
	ended := make(chan error, 1)
	go func() {
		defer conn.Release()
		_, err := conn.Exec(context.Background(), `DO $$ BEGIN LOOP NULL; END LOOP; END $$`)
		ended <- err
	}()
	busy := func(ctx context.Context) error {
		var n int
		err := d.pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active'`, pid).Scan(&n)
		if err == nil && n == 0 {
			err = errors.New("the backend is idle")
		}
		return err
	}
	if err := s.Await(t.Context(), busy); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the backend has outlived its server: %v", err)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it does not end by itself
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is still there: %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("a statement without an end has ended well")
	}
}

// An interrupt may come while a server is being set up: initdb runs servers too.
func TestAnInterruptOfInitdbLeavesNothingBehind(t *testing.T) {
	dir := freshDir(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	over := make(chan struct{})
	go func() { // once initdb runs a server
		defer close(over)
		for t.Context().Err() == nil && ctx.Err() == nil {
			if len(within(filepath.Join(dir, "data"))) > 0 {
				interrupt()
			}
		}
	}()
	s, err := system.Start(ctx, system.Postgres, system.Options{Dir: dir})
	interrupt()
	<-over
	var absent *system.AbsentError
	if errors.As(err, &absent) {
		t.Skip(err)
	}
	if err == nil {
		t.Error("it has started all the same", s.Close())
	}
	if left := within(dir); len(left) > 0 {
		t.Errorf("these still run: %v", left)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is still there: %v", err)
	}
}

// within returns the processes whose working directory is dir or below it.
func within(dir string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}
