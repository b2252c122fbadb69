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
)

// startPostgres starts a server with its defaults, among them
// synchronous_commit. It listens on loopback alone and trusts who comes.
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
			return fmt.Errorf("hand PostgreSQL's directory over: %w", err)
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"-D", data, "-U", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	initdb.Cancel = func() error { return syscall.Kill(-initdb.Process.Pid, syscall.SIGKILL) } // with the server that it runs
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	p, err := launch(spec{
		command: []string{
			filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(ports[0]),
			"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		},
		dir: data, log: filepath.Join(o.Dir, "log"), as: as,
		// Each backend is a session of its own, which a signal to the group
		// misses. At SIGQUIT the server ends them, waits for them, and leaves
		// out the checkpoint of a SIGINT: nobody reads this data again.
		stop: syscall.SIGQUIT, heirs: true,
	})
	if err != nil {
		return err
	}
	s.Nodes, s.Endpoints = []*Process{p}, []string{local(ports[0])}
	return s.Await(ctx, func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-h", "127.0.0.1", "-p", strconv.Itoa(ports[0])).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
}

// postgresBin is the directory of the newest server: Debian keeps them off
// the PATH.
func postgresBin() (string, error) {
	const newestDigits = 3
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(found) > 0 {
		version := func(path string) string { // sorts like the number
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

// unprivileged is who PostgreSQL runs as, which refuses root; nil means us.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // us is an answer
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
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
	return nil, errors.New("it does not run as root, and there is neither a user postgres nor nobody")
}

// answers reports whether something listens at an address.
func answers(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
