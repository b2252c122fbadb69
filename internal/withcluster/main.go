// Command withcluster runs a command beside a cluster of real processes on loopback. Test suites in
// other languages use it.
//
// It sets these variables in the environment of the command, and ends the cluster when the command
// ends:
//
//	DORMOUSE_URLS       the base URLs of the nodes, separated by commas
//	DORMOUSE_FOLLOWER   the base URL of a node that did not lead when the command started
//	DORMOUSE_ENDPOINTS  the gRPC addresses of the nodes, that follower's first: the Go client's variable
//	DORMOUSE_REDIS      the addresses of the nodes for clients of Redis, that follower's first
//	DORMOUSE_TOKEN      a token that may do everything; only with -tokens or -tls
//	DORMOUSE_CA         the file of the CA of the servers with TLS; only with -tokens or -tls
//	DORMOUSE_POSTGRES   the URL of a PostgreSQL server with durable writes beside the cluster; only with -postgres
//	DORMOUSE_CONTROL    a base URL: GET /leader returns the name of the leader, and POST /leader/kill
//	                    kills it with SIGKILL and starts it again after two seconds
//
// It exits with the status of the command.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"dormouse/bench/system"
	"dormouse/cluster/keys"
	"dormouse/internal/modpath"
)

func main() {
	nodes := flag.Int("nodes", system.NodesDefault, "number of nodes")
	tokens := flag.Bool("tokens", false, "ask for tokens, and serve gRPC over TLS")
	https := flag.Bool("tls", false, "as -tokens, and serve HTTP over TLS too")
	postgres := flag.Bool("postgres", false, "start a PostgreSQL server too")
	backups := flag.Bool("backups", false, "let the cluster take backups, into a directory that ends with it")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "Usage: withcluster [flags] -- COMMAND [ARGUMENT]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, options{nodes: *nodes, tokens: *tokens || *https, https: *https, postgres: *postgres, backups: *backups}, flag.Args())
	stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(exit.ExitCode(), 1))
	case err != nil:
		fmt.Fprintln(os.Stderr, "withcluster:", err)
		os.Exit(1)
	}
}

// options say what runs beside the command.
type options struct {
	nodes                            int
	tokens, https, postgres, backups bool
}

// run starts the cluster, runs the command and ends the cluster.
func run(ctx context.Context, o options, command []string) (err error) {
	dir, err := os.MkdirTemp("", "dormouse-withcluster-")
	if err != nil {
		return fmt.Errorf("make a directory for the nodes: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "dormoused"), modpath.Path+"/cmd/node")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build dormoused: %w", err)
	}
	if o.backups {
		if err := os.Setenv("DORMOUSE_BACKUP__URL", "file://"+filepath.Join(dir, "backups")); err != nil { // the nodes inherit it
			return fmt.Errorf("set the destination of backups: %w", err)
		}
	}
	name := system.Dormouse
	if o.tokens {
		name = system.DormouseSecured
	}
	s, err := system.Start(ctx, name, system.Options{Dir: filepath.Join(dir, "nodes"), Bin: dir, Nodes: o.nodes, Redis: true, HTTPS: o.https})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := newControl(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	environ, err := environment(ctx, s)
	if err != nil {
		return err
	}
	if o.postgres {
		if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL does not run as root
			return fmt.Errorf("open the directory of the nodes to other users: %w", err)
		}
		peer, err := system.Start(ctx, system.Postgres, system.Options{Dir: filepath.Join(dir, "postgres"), Bin: dir})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, peer.Close()) }()
		environ = append(environ, "DORMOUSE_POSTGRES=postgres://postgres@"+peer.Endpoints[0]+"/postgres")
	}
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(append(os.Environ(), environ...), "DORMOUSE_CONTROL="+c.url())
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	if err := child.Run(); err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}

// environment returns the variables that tell the command about the cluster.
func environment(ctx context.Context, s *system.System) ([]string, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	follower := (leader + 1) % len(s.HTTP)
	environ := []string{
		"DORMOUSE_URLS=" + strings.Join(s.HTTP, ","),
		"DORMOUSE_FOLLOWER=" + s.HTTP[follower],
		"DORMOUSE_ENDPOINTS=" + strings.Join(from(s.GRPC, follower), ","),
		"DORMOUSE_REDIS=" + strings.Join(from(s.Redis, follower), ","),
	}
	if s.TokenFile == "" {
		return environ, nil
	}
	token, err := keys.ReadFile(s.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("read the root token: %w", err)
	}
	return append(environ, "DORMOUSE_TOKEN="+strings.TrimSpace(token), "DORMOUSE_CA="+s.CAFile), nil
}

// from returns a list that begins with its i-th member.
func from(list []string, i int) []string {
	return append(append([]string(nil), list[i:]...), list[:i]...)
}
