package testbed_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/testbed"
)

// real skips the test unless the environment enables runs of real processes.
func real(t *testing.T) {
	t.Helper()
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("set DORMJEPSEN_REAL=1 to run real nodes")
	}
}

func open(t *testing.T, o testbed.Options) *testbed.Bed {
	t.Helper()
	o.Dir, o.Logf = t.TempDir(), t.Logf
	if o.Binary == "" {
		o.Binary = os.Getenv("DORMJEPSEN_BINARY")
	}
	o.Env = map[string]string{"DORMOUSE_CLUSTER__TIMING": "lan"}
	b, err := testbed.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(o.Dir, "*.log"))
			for _, path := range logs {
				text, _ := os.ReadFile(path)
				t.Logf("%s:\n%s", path, text)
			}
		}
	})
	return b
}

// leads waits until a host other than not leads, and returns its name.
func leads(t *testing.T, b *testbed.Bed, not string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		leader, err := b.Leader(ctx)
		if err == nil && leader != not {
			return leader
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody but %s leads: %v", not, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestNodesAreKilledPausedAndStartedAgain(t *testing.T) {
	real(t)
	exits := make(chan string, 10)
	b := open(t, testbed.Options{Nodes: 3, OnExit: func(host, detail string) { exits <- host + " " + detail }})
	leader := leads(t, b, "")
	h := b.Host(leader)
	for _, other := range b.Hosts() {
		if says := testbed.Leads(t.Context(), other); says != (other == h) {
			t.Errorf("%s leads, and %s says that it leads: %t", leader, other.Name(), says)
		}
	}
	if err := h.Kill(); err != nil {
		t.Fatal(err)
	}
	if code, ok := h.Exit(); !ok || code != -1 || h.Running() {
		t.Errorf("after the kill: exit %d %v, running %v", code, ok, h.Running())
	}
	if got := <-exits; got != leader+" killed" {
		t.Errorf("told %q", got)
	}
	second := leads(t, b, leader)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Host(second).Pause(); err != nil {
		t.Fatal(err)
	}
	third := leads(t, b, second)
	if err := b.Host(second).Resume(); err != nil {
		t.Fatal(err)
	}
	sample, err := b.Sample(t.Context(), third)
	if err != nil {
		t.Fatal(err)
	}
	if sample.Goroutines == 0 || sample.Descriptors == 0 || sample.RSS == 0 || sample.Applied == 0 || sample.Term == 0 || sample.Chain == 0 {
		t.Errorf("%+v", sample)
	}
	if err := b.Host(third).Terminate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code, ok := b.Host(third).Exit(); !ok || code != 0 {
		t.Errorf("after an orderly stop: exit %d %v", code, ok)
	}
	log, err := os.ReadFile(h.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	if starts := strings.Count(string(log), " --node-id "+leader+" "); starts != 2 || strings.Count(string(log), " killed\n") != 1 {
		t.Errorf("the log of %s tells of %d starts, want 2, and one kill", leader, starts)
	}
}

func TestTheNetworkFailsAndHeals(t *testing.T) {
	real(t)
	b := open(t, testbed.Options{Nodes: 3, Net: true})
	net := b.Net()
	if net == nil {
		t.Skip(b.Missing())
	}
	leader := leads(t, b, "")
	for _, h := range b.Hosts() {
		if h.Name() != leader {
			net.Set(leader, h.Name(), testbed.AllPorts, testbed.Link{Cut: true})
		}
	}
	second := leads(t, b, leader)
	if status, err := b.Status(t.Context(), leader); err == nil && status.Leader == leader {
		t.Errorf("%s still leads, although nobody hears it", leader)
	}
	net.HealAll()
	for { // until the node that was cut off follows the others
		status, err := b.Status(t.Context(), leader)
		if err == nil && status.Leader == second {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	net.Set(testbed.Clients, second, testbed.ClientPorts, testbed.Link{Cut: true})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if conn, err := b.Dial(ctx, b.Host(second).GRPC()); err == nil {
		t.Error("connected through a cut")
		_ = conn.Close()
	}
	if _, err := b.Status(t.Context(), second); err != nil {
		t.Errorf("a cut between clients and nodes blinds the harness: %v", err)
	}
	net.HealAll()
	conn, err := b.Dial(t.Context(), b.Host(second).GRPC())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestDisksAndClocksFail(t *testing.T) {
	real(t)
	b := open(t, testbed.Options{Nodes: 1, Net: true, Disk: testbed.Faulty | testbed.Powered, Clock: true})
	if len(b.Missing()) > 0 {
		t.Log(b.Missing())
	}
	h := b.Hosts()[0]
	if b.Can(testbed.CanPower) {
		if err := h.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := h.Disk().PowerCut(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if b.Can(testbed.CanClock) != (h.Clock() != nil) {
		t.Error("a clock without the capability, or the other way round")
	}
	if b.Can(testbed.CanDisk) { // the process that hangs in the disk can still be killed
		h.Disk().Hang(true)
		if err := h.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}
