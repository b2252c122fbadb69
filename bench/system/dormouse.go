package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dormouse/cluster/keys"
	"dormouse/internal/freeport"
)

// startDormouse starts nodes with default settings but those of the options, and waits until all of them vote.
func startDormouse(ctx context.Context, s *System, o Options) error {
	binary := filepath.Join(o.Bin, "dormoused")
	if _, err := os.Stat(binary); err != nil {
		return &AbsentError{s.Name, "missing " + binary + ": run make build"}
	}
	version, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	s.Version = strings.TrimSpace(strings.TrimPrefix(string(version), "dormoused "))
	const each = 5 // HTTP, gRPC, Raft, gossip, Redis
	ports, err := freeport.Ports(each * o.Nodes)
	if err != nil {
		return err
	}
	key, keyFile := keys.New(), filepath.Join(o.Dir, "cluster.key")
	if err := keys.WriteFile(keyFile, key.Encode()); err != nil {
		return fmt.Errorf("write the cluster key: %w", err)
	}
	secured, access, err := s.secure(o, key)
	if err != nil {
		return err
	}
	scheme := "http://"
	if secured != nil && o.HTTPS {
		scheme = "https://"
	}
	join := []string{"--expect", strconv.Itoa(o.Nodes)}
	for n := range o.Nodes {
		join = append(join, "--join", freeport.Addr(ports[each*n+2]))
	}
	for n := range o.Nodes {
		name, mine := fmt.Sprintf("n%d", n+1), ports[each*n:]
		command := slices.Concat([]string{
			binary, "--node-id", name, "--data-dir", filepath.Join(o.Dir, name), "--log-level", "warn", "--cluster-key-file", keyFile,
			"--http-addr", freeport.Addr(mine[0]), "--grpc-addr", freeport.Addr(mine[1]), "--raft-addr", freeport.Addr(mine[2]), "--gossip-addr", freeport.Addr(mine[3]),
		}, access, join)
		if n < len(o.Profile) {
			command = append(command, "--pprof-addr", o.Profile[n])
		}
		if o.Redis {
			command = append(command, "--redis-addr", freeport.Addr(mine[4]))
			s.Redis = append(s.Redis, freeport.Addr(mine[4]))
		}
		environ, err := secured.environ(name)
		if err != nil {
			return err
		}
		if o.Memory != "" {
			environ = append(environ, "DORMOUSE_STORAGE__MEMORY="+o.Memory)
		}
		p, err := launch(spec{
			command: command, environ: environ, dir: filepath.Join(o.Dir, name), log: filepath.Join(o.Dir, name+".log"),
		})
		if err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, p)
		s.HTTP = append(s.HTTP, scheme+freeport.Addr(mine[0]))
		s.GRPC = append(s.GRPC, freeport.Addr(mine[1]))
	}
	s.Endpoints = slices.Clone(s.GRPC)
	if err := s.Await(ctx, func(ctx context.Context) error { return s.allVote(ctx, o.Nodes) }); err != nil {
		return err
	}
	return s.orderEndpoints(ctx)
}

// orderEndpoints sets the endpoints for the driver of one variant of Dormouse.
func (s *System) orderEndpoints(ctx context.Context) error {
	switch s.Name {
	case DormouseHTTP, DormouseHTTP2:
		for i, base := range s.HTTP {
			s.Endpoints[i] = strings.TrimPrefix(base, "http://")
		}
	case DormouseFollow: // the client uses only the first endpoint
		leader, err := s.Leader(ctx)
		if err != nil {
			return err
		}
		first, last := 0, len(s.Endpoints)-1
		if leader == first {
			s.Endpoints[first], s.Endpoints[last] = s.Endpoints[last], s.Endpoints[first]
		}
	}
	return nil
}

func (s *System) allVote(ctx context.Context, nodes int) error {
	for _, url := range s.HTTP {
		if err := Ready(ctx, url); err != nil {
			return err
		}
		status, err := s.look(ctx, url)
		if err != nil {
			return err
		}
		voters := 0
		for _, m := range status.Members {
			if m.Voter {
				voters++
			}
		}
		if status.Leader == "" || voters != nodes {
			return fmt.Errorf("%d of %d nodes vote, and %q leads", voters, nodes, status.Leader)
		}
	}
	return nil
}

// Leader returns the number of the leading node, from 0, according to the first node
// that answers.
func (s *System) Leader(ctx context.Context) (int, error) {
	err := errors.New("the system has no nodes")
	for _, url := range s.HTTP {
		var status Status
		if status, err = s.look(ctx, url); err != nil {
			continue
		}
		var n int
		if _, err = fmt.Sscanf(status.Leader, "n%d", &n); err == nil {
			return n - 1, nil
		}
	}
	return 0, fmt.Errorf("find the leader of %s: %w", s.Name, err)
}

// Status is the part of a node's cluster status that benchmarks use.
type Status struct {
	Leader       string `json:"leader"`
	AppliedIndex uint64 `json:"applied_index"`
	Members      []struct {
		ID    string `json:"id"`
		Voter bool   `json:"voter"`
	} `json:"members"`
}

// look returns the cluster status by the node at a base URL, with the system's token if
// it has one.
func (s *System) look(ctx context.Context, url string) (Status, error) {
	if s.TokenFile == "" {
		return Look(ctx, url)
	}
	token, err := keys.ReadFile(s.TokenFile)
	if err != nil {
		return Status{}, fmt.Errorf("read the root token: %w", err)
	}
	return look(ctx, url, strings.TrimSpace(token))
}

// Look returns the cluster status by the node at a base URL, which asks for no token.
func Look(ctx context.Context, url string) (Status, error) { return look(ctx, url, "") }

func look(ctx context.Context, url, token string) (Status, error) {
	var s Status
	raw, err := get(ctx, url+"/v1/cluster", token)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("status of %s: %w", url, err)
	}
	return s, nil
}

// Ready returns nil if the node at a base URL is ready.
func Ready(ctx context.Context, url string) error {
	_, err := get(ctx, url+"/readyz", "")
	return err
}

// Restores returns how many snapshots of other nodes have replaced the state of the
// node at a base URL since it started.
func Restores(ctx context.Context, url string) (int, error) {
	return metric(ctx, url, "dormouse_restores_total")
}

// Installs returns how many snapshots the node at a base URL has received from a
// leader and installed since it started.
func Installs(ctx context.Context, url string) (int, error) {
	return metric(ctx, url, "dormouse_cluster_snapshot_installs_total")
}

// LogBytes returns the size in bytes of the entries in the log of the node at a base
// URL.
func LogBytes(ctx context.Context, url string) (int, error) {
	return metric(ctx, url, "dormouse_cluster_log_bytes")
}

// Compacting returns how many compactions the engine of the node at a base URL runs
// now.
func Compacting(ctx context.Context, url string) (int, error) {
	return metric(ctx, url, "dormouse_engine_compacting")
}

// metric returns an integer metric of the node at a base URL.
func metric(ctx context.Context, url, name string) (int, error) {
	raw, err := get(ctx, url+"/metrics", "")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if n, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(n), 64) // large numbers have an exponent
			if err != nil {
				return 0, fmt.Errorf("metric %s of %s: %w", name, url, err)
			}
			return int(value), nil
		}
	}
	return 0, fmt.Errorf("the metrics of %s do not contain %s", url, name)
}

// get returns what a node answers; token is "" for none.
func get(ctx context.Context, url, token string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s: %s", url, response.Status)
	}
	return body, nil
}
