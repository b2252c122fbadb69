package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"dormouse/internal/freeport"
)

// startEtcd starts processes that embed etcd with default settings (bench/etcd).
func startEtcd(ctx context.Context, s *System, o Options) error {
	binary := filepath.Join(o.Bin, "dormbench-etcd")
	if _, err := os.Stat(binary); err != nil {
		return &AbsentError{s.Name, "missing " + binary + ": run make bench-build"}
	}
	version, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	s.Version = strings.TrimSpace(string(version))
	ports, err := freeport.Ports(2 * o.Nodes)
	if err != nil {
		return err
	}
	var cluster []string
	for n := range o.Nodes {
		cluster = append(cluster, fmt.Sprintf("n%d=http://%s", n+1, freeport.Addr(ports[2*n+1])))
	}
	for n := range o.Nodes {
		name := fmt.Sprintf("n%d", n+1)
		p, err := launch(spec{
			command: []string{
				binary, "--name", name, "--data-dir", filepath.Join(o.Dir, name),
				"--client", freeport.Addr(ports[2*n]), "--peer", freeport.Addr(ports[2*n+1]), "--cluster", strings.Join(cluster, ","),
			},
			dir: filepath.Join(o.Dir, name), log: filepath.Join(o.Dir, name+".log"),
		})
		if err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, p)
		s.Endpoints = append(s.Endpoints, freeport.Addr(ports[2*n]))
	}
	return s.Await(ctx, func(ctx context.Context) error {
		for _, endpoint := range s.Endpoints {
			if _, err := get(ctx, "http://"+endpoint+"/health", ""); err != nil {
				return err
			}
		}
		return nil
	})
}
