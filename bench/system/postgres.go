package system

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dormouse/internal/freeport"
)

// startPostgres starts a server with default settings, which include
// synchronous_commit. It listens only on loopback, without authentication.
func startPostgres(ctx context.Context, s *System, o Options) error {
	bin, err := postgresBin()
	if err != nil {
		return &AbsentError{s.Name, err.Error()}
	}
	as, err := unprivileged()
	if err != nil {
		return &AbsentError{s.Name, err.Error()}
	}
	version, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return fmt.Errorf("ask postgres for its version: %w", err)
	}
	s.Version = strings.TrimSpace(strings.TrimPrefix(string(version), "postgres (PostgreSQL) "))
	data := filepath.Join(o.Dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return fmt.Errorf("make PostgreSQL's directory: %w", err)
	}
	if as != nil {
		if err := os.Chown(data, int(as.Uid), int(as.Gid)); err != nil {
			return fmt.Errorf("change the owner of PostgreSQL's directory: %w", err)
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"-D", data, "-U", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	initdb.Cancel = func() error { return syscall.Kill(-initdb.Process.Pid, syscall.SIGKILL) } // with the server that initdb runs
	if out, err := initdb.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb: %w: %s", err, out), awaitGroup(initdb.Process))
	}
	ports, err := freeport.Ports(1)
	if err != nil {
		return err
	}
	p, err := launch(spec{
		command: []string{
			filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(ports[0]),
			"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		},
		dir: data, log: filepath.Join(o.Dir, "log"), as: as,
		// Each backend has its own session, so a signal to the process group does not
		// reach it. On SIGQUIT the server ends the backends and waits for them. Unlike
		// SIGINT, SIGQUIT makes no checkpoint, which is not needed because the data is
		// not read again.
		stop: syscall.SIGQUIT, heirs: true,
	})
	if err != nil {
		return err
	}
	s.Nodes, s.Endpoints = []*Process{p}, []string{freeport.Addr(ports[0])}
	return s.Await(ctx, func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-h", "127.0.0.1", "-p", strconv.Itoa(ports[0])).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
}

// awaitGroup waits until a killed process group has ended: the processes that its leader has started
// end a moment after the leader.
func awaitGroup(leader *os.Process) error {
	if leader == nil {
		return nil // it never started
	}
	for began := time.Now(); time.Since(began) < stopMax; time.Sleep(time.Millisecond) {
		if err := syscall.Kill(-leader.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return nil
		}
	}
	return fmt.Errorf("the process group %d has not ended within %v", leader.Pid, stopMax)
}

// postgresBin returns the directory of the newest server, which Debian does not put on
// the PATH.
func postgresBin() (string, error) {
	const newestDigits = 3
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(found) > 0 {
		version := func(path string) string { // sorts like a number
			return fmt.Sprintf("%*s", newestDigits, filepath.Base(filepath.Dir(filepath.Dir(path))))
		}
		slices.SortFunc(found, func(a, b string) int { return strings.Compare(version(a), version(b)) })
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("install the package postgresql")
	}
	return filepath.Dir(path), nil
}

// overflowUID is the uid of the unprivileged user of Linux.
const overflowUID = "65534"

// unprivileged returns the user that PostgreSQL runs as, because it refuses to run as
// root. nil means the current user.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil means the current user
	}
	for _, lookup := range []func() (*user.User, error){
		func() (*user.User, error) { return user.Lookup("postgres") },
		func() (*user.User, error) { return user.LookupId(overflowUID) },
	} {
		u, err := lookup()
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor one with uid " + overflowUID)
}

// answers returns nil if a server listens at an address.
func answers(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
