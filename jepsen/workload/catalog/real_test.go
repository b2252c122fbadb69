package catalog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dormouse/client"
	"dormouse/cluster/keys"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// TestReal runs workloads against real nodes on loopback, and judges them. It
// is for those who write workloads, and is asked for by environment:
//
//	DORMJEPSEN_REAL=1            or it is skipped
//	DORMJEPSEN_BIN=FILE          dormoused
//	DORMJEPSEN_WORKLOADS=a,b     default all
//	DORMJEPSEN_SECONDS=10        of calls, each workload
//	DORMJEPSEN_NODES=3           default 1
//	DORMJEPSEN_KILL=1            kill -9 a node every few seconds, and start it again
func TestReal(t *testing.T) {
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("runs real nodes: set DORMJEPSEN_REAL=1 and DORMJEPSEN_BIN")
	}
	names := Names()
	if list := os.Getenv("DORMJEPSEN_WORKLOADS"); list != "" {
		names = strings.Split(list, ",")
	}
	nodes := startNodes(t, setting("DORMJEPSEN_NODES", 1))
	for _, name := range names {
		t.Run(name, func(t *testing.T) { runReal(t, nodes, name) })
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func runReal(t *testing.T, nodes *realNodes, name string) {
	t.Helper()
	const processes = 12
	w, err := New(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history")
	record, err := history.Create(path, history.Header{Workloads: []string{name}, Nodes: len(nodes.grpc)})
	if err != nil {
		t.Fatal(err)
	}
	scope := fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
	process := func(id int) *workload.Process {
		p := &workload.Process{ID: id, Rand: rand.New(rand.NewPCG(uint64(id), 9)), Scope: scope, Workload: name, Record: record}
		o := client.Options{Endpoints: nodes.grpc}
		if id%2 == 0 {
			at := id / 2 % len(nodes.grpc)
			p.Node, o.Endpoints, o.Fixed = fmt.Sprintf("n%d", at+1), nodes.grpc[at:at+1], true
		}
		c, err := client.Dial(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		p.Client = workload.GoClient{Client: c}
		return p
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(setting("DORMJEPSEN_SECONDS", 5))*time.Second)
	defer cancel()
	var running sync.WaitGroup
	for id := range processes {
		p := process(id)
		running.Go(func() { w.Run(ctx, p) })
	}
	if os.Getenv("DORMJEPSEN_KILL") != "" {
		nodes.killSome(ctx, t, record)
	}
	running.Wait()
	if err := w.Final(t.Context(), process(processes+1)); err != nil {
		t.Errorf("final calls: %v", err)
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	judgeReal(t, name, path)
}

func judgeReal(t *testing.T, name, path string) {
	t.Helper()
	h, err := history.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(name) // as one that judges an old history
	if err != nil {
		t.Fatal(err)
	}
	r := w.Check(t.Context(), h)
	t.Logf("%s: %d calls judged in %v: %v", r.Verdict, r.Ops, r.Took, r.Counts)
	if r.Verdict != check.OK {
		t.Errorf("%s %s", r.Verdict, r.Why)
		for _, f := range r.Findings {
			t.Errorf("%s: key %s: %s", f.Rule, f.Key, f.Detail)
			for _, op := range f.Ops {
				t.Logf("  %d p%d %s in %s out %s %v..%v %s %s %s", op.ID, op.Process, op.Call, op.In, op.Out, op.Invoke, op.Return, op.Outcome, op.Code, op.Detail)
			}
		}
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("dormjepsen-%s-%d.history", name, time.Now().Unix()))
		if raw, err := os.ReadFile(path); err == nil && os.WriteFile(kept, raw, 0o644) == nil {
			t.Logf("the history is kept in %s", kept)
		}
	}
}

// realNodes are the processes of a cluster.
type realNodes struct {
	args    [][]string
	grpc    []string
	running []*exec.Cmd
	log     *os.File
}

func startNodes(t *testing.T, n int) *realNodes {
	t.Helper()
	nodes := &realNodes{running: make([]*exec.Cmd, n)}
	dir := t.TempDir()
	var err error
	if nodes.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nodes.log.Close() })
	keyFile := filepath.Join(dir, "cluster.key")
	if err := keys.WriteFile(keyFile, keys.New().Encode()); err != nil {
		t.Fatal(err)
	}
	var raft []string
	var held []net.Listener // the ports, until all are chosen
	for i := range n {
		var addrs [4]string
		for j := range addrs {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			addrs[j] = l.Addr().String()
			held = append(held, l)
		}
		how := "--bootstrap"
		if i > 0 {
			how = "--join=" + raft[0]
		}
		raft, nodes.grpc = append(raft, addrs[2]), append(nodes.grpc, addrs[1])
		id := fmt.Sprintf("n%d", i+1)
		nodes.args = append(nodes.args, []string{
			"--node-id", id, "--data-dir", filepath.Join(dir, id), how, "--cluster-key-file", keyFile, "--log-level", "warn",
			"--http-addr", addrs[0], "--grpc-addr", addrs[1], "--raft-addr", addrs[2], "--gossip-addr", addrs[3],
		})
	}
	for _, l := range held {
		_ = l.Close()
	}
	t.Cleanup(func() {
		for i := range nodes.running {
			nodes.kill(i)
		}
	})
	return nodes.founded(t)
}

// founded starts all nodes and waits until all of them vote.
func (n *realNodes) founded(t *testing.T) *realNodes {
	t.Helper()
	for i := range n.args {
		n.start(t, i)
	}
	c, err := client.Dial(client.Options{Endpoints: n.grpc})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // a test's
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		voters := 0
		status, err := c.Status(t.Context())
		for _, m := range status.Members {
			if m.Voter {
				voters++
			}
		}
		if voters == len(n.args) {
			return n
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d nodes vote: %v", voters, err)
		}
	}
}

func (n *realNodes) start(t *testing.T, i int) {
	t.Helper()
	bin := os.Getenv("DORMJEPSEN_BIN")
	n.running[i] = exec.Command(bin, n.args[i]...)
	n.running[i].Stderr = n.log
	n.running[i].SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.running[i].Start(); err != nil {
		t.Errorf("start %s: %v", bin, err)
		n.running[i] = nil
	}
}

func (n *realNodes) kill(i int) {
	if cmd := n.running[i]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		n.running[i] = nil
	}
}

// killSome kills a random node now and then, until ctx ends. All run when it
// returns.
func (n *realNodes) killSome(ctx context.Context, t *testing.T, record *history.Recorder) {
	t.Helper()
	wait := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	for step := 1; ctx.Err() == nil; step++ {
		wait(2 * time.Second)
		at := rand.IntN(len(n.args))
		record.Event(history.Event{Kind: history.EventFault, Name: "kill", Step: step})
		n.kill(at)
		wait(time.Duration(rand.IntN(3000)) * time.Millisecond)
		n.start(t, at)
		record.Event(history.Event{Kind: history.EventHeal, Name: "kill", Step: step})
	}
}
