package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"dormouse/bench/report"
	"dormouse/bench/system"
)

// The load of redis-benchmark.
const (
	redisTool     = "redis-benchmark"
	redisClients  = 64
	redisRequests = 60_000
	redisBytes    = 1024
	redisKeys     = 10_000
)

// redisPipelines are the numbers of commands that a client sends at once.
var redisPipelines = []int{1, 16}

// redisProtocol runs redis-benchmark against a node's server for clients of Redis, and against a
// Redis server that flushes its log before it answers.
func (st *stage) redisProtocol(ctx context.Context) ([]report.Trial, error) {
	if _, err := exec.LookPath(redisTool); err != nil {
		st.a.tell("skipped: install the package redis-tools")
		return nil, nil
	}
	ours, err := st.redisRates(ctx, system.Dormouse)
	if err != nil {
		return nil, err
	}
	theirs, err := st.redisRates(ctx, system.Redis)
	var absent *system.AbsentError
	if errors.As(err, &absent) {
		st.a.tell("skipped: %v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []report.Trial
	for i, r := range ours {
		if i >= len(theirs) || theirs[i].name != r.name || theirs[i].rate == 0 {
			return nil, fmt.Errorf("%s measured %q on one system only", redisTool, r.name)
		}
		found = append(found, report.Trial{
			Name: report.TrialRedis + " " + r.name, System: system.Dormouse, Value: r.rate / theirs[i].rate, Unit: "×",
			Note: fmt.Sprintf("%.0f/s, and %.0f/s of one Redis server with appendfsync always; %d clients, values of %d B", r.rate, theirs[i].rate, redisClients, redisBytes),
		})
	}
	return found, nil
}

// redisRate is how many commands of a kind a second were answered.
type redisRate struct {
	name string
	rate float64
}

// redisRates measures one system.
func (st *stage) redisRates(ctx context.Context, name string) (rates []redisRate, err error) {
	dir, err := st.home.fresh()
	if err != nil {
		return nil, err
	}
	s, err := system.Start(ctx, name, system.Options{Dir: dir, Bin: st.home.bin, Redis: true})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	address := s.Endpoints[0]
	if name == system.Dormouse {
		leader, err := s.Leader(ctx)
		if err != nil {
			return nil, err
		}
		address = s.Redis[leader]
	}
	for _, pipeline := range redisPipelines {
		more, err := redisBenchmark(ctx, address, pipeline)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", redisTool, name, err)
		}
		rates = append(rates, more...)
	}
	return rates, nil
}

// redisBenchmark runs redis-benchmark once.
func redisBenchmark(ctx context.Context, address string, pipeline int) ([]redisRate, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, redisTool, "-h", host, "-p", port, "-t", "set,get", "--csv",
		"-c", strconv.Itoa(redisClients), "-n", strconv.Itoa(redisRequests), "-d", strconv.Itoa(redisBytes),
		"-r", strconv.Itoa(redisKeys), "-P", strconv.Itoa(pipeline))
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	rates, err := readRedisRates(out)
	for i := range rates {
		if pipeline > 1 {
			rates[i].name += fmt.Sprintf(", %d at once", pipeline)
		}
	}
	return rates, err
}

// readRedisRates reads the CSV of redis-benchmark.
func readRedisRates(out []byte) (rates []redisRate, err error) {
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read its output: %w", err)
	}
	for _, row := range rows {
		if len(row) < 2 || row[0] == "test" {
			continue
		}
		rate, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			return nil, fmt.Errorf("read its output: %w", err)
		}
		rates = append(rates, redisRate{strings.ToUpper(row[0]), rate})
	}
	if len(rates) == 0 {
		return nil, errors.New("it measured nothing")
	}
	return rates, nil
}
