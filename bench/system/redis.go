package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"dormouse/internal/freeport"
)

// startRedis starts a server that flushes its append-only file before it answers.
// Snapshots, which would only slow it down, are disabled.
func startRedis(ctx context.Context, s *System, o Options) error {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return &AbsentError{s.Name, "install the package redis-server"}
	}
	version, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask redis-server for its version: %w", err)
	}
	s.Version = redisVersion(string(version))
	data := filepath.Join(o.Dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return fmt.Errorf("make Redis's directory: %w", err)
	}
	ports, err := freeport.Ports(1)
	if err != nil {
		return err
	}
	p, err := launch(spec{
		command: []string{
			binary, "--bind", "127.0.0.1", "--port", strconv.Itoa(ports[0]), "--dir", data,
			"--appendonly", "yes", "--appendfsync", "always", "--save", "",
		},
		dir: data, log: filepath.Join(o.Dir, "log"),
	})
	if err != nil {
		return err
	}
	s.Nodes, s.Endpoints = []*Process{p}, []string{freeport.Addr(ports[0])}
	return s.Await(ctx, func(ctx context.Context) error { return answers(ctx, s.Endpoints[0]) })
}

// redisVersion extracts the number from "Redis server v=7.0.15 sha=…".
func redisVersion(said string) string {
	for word := range strings.FieldsSeq(said) {
		if number, ok := strings.CutPrefix(word, "v="); ok {
			return number
		}
	}
	return strings.TrimSpace(said)
}
