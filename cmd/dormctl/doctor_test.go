package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/config"
	"dormouse/internal/freeport"
	"dormouse/node/nodetest"
)

// asked runs dormctl against a real node over its ports.
func asked(t *testing.T, n *nodetest.Node, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dial: kit.DialClient,
		Getenv: func(name string) string { return map[string]string{kit.TokenEnv: n.RootToken()}[name] },
	}
	code = run(t.Context(), a, append([]string{"--endpoints", n.GRPCAddr()}, args...))
	return code, out.String(), errs.String()
}

// doctor and support-bundle ask a real node with a token, over gRPC and HTTP.
func TestDoctorAsksARealNode(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Auth: true, Configure: func(c *config.Config) {
		c.Node.Ephemeral, c.Node.DataDir = false, t.TempDir()
		c.HTTP.Addr, c.GRPC.Addr = unused(t), unused(t) // doctor dials what the members advertise
		c.HTTP.Advertise, c.GRPC.Advertise = c.HTTP.Addr, c.GRPC.Addr
	}})
	code, stdout, stderr := asked(t, n, "doctor", "--watch", "10ms", "-o", "json")
	var r struct {
		Nodes    int
		Checks   []string
		Findings []struct{ Severity, Check, What string }
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, stdout, stderr)
	}
	if r.Nodes != 1 || len(r.Checks) < 10 {
		t.Errorf("%+v", r)
	}
	for _, one := range r.Findings {
		if one.Severity == "problem" || one.Check == "nodes" {
			t.Errorf("%+v", one)
		}
	}
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if code, _, stderr := asked(t, n, "support-bundle", "--cpu", "0", "-f", file); code != kit.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	found := unpacked(t, file)
	for _, name := range []string{"doctor.json", "n1/status.json", "n1/settings.json", "n1/metrics.txt", "n1/history.json", "n1/placement.json", "n1/log.txt", "n1/heap.pprof", "n1/goroutine.pprof"} {
		if _, ok := found["bundle/"+name]; !ok {
			t.Errorf("the archive has no %s", name)
		}
	}
	if text := string(found["bundle/errors.txt"]); text != "" {
		t.Errorf("errors: %s", text)
	}
	for name, body := range found {
		if bytes.Contains(body, []byte(n.RootToken())) {
			t.Errorf("%s has the token", name)
		}
	}
	if code, _, stderr := asked(t, n, "support-bundle", "--cpu", "0", "-f", filepath.Join(file, "x")); code != kit.ExitFailed || !strings.Contains(stderr, "create the archive") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// interrupting is a store that is asked for the status when the user interrupts the command.
type interrupting struct {
	kit.Store
	interrupt func()
}

func (i interrupting) Status(ctx context.Context) (layout.ClusterStatus, error) {
	defer i.interrupt()
	return i.Store.Status(ctx)
}

// An interrupted doctor has found nothing: the nodes were not asked.
func TestAnInterruptedDoctorFindsNothing(t *testing.T) {
	for _, args := range [][]string{{"doctor"}, {"support-bundle", "-f", filepath.Join(t.TempDir(), "bundle.tar.gz")}} {
		ctx, interrupt := context.WithCancel(t.Context())
		var out, errs bytes.Buffer
		a := &kit.App{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
			Dial: func(kit.Target) (kit.Store, error) { return interrupting{newConsole().store, interrupt}, nil },
		}
		if code := run(ctx, a, args); code != kit.ExitFailed || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%s: exit %d: %s%s", args, code, &out, &errs)
		}
	}
}

func unpacked(t *testing.T, file string) map[string][]byte {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	zipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// unused returns an address of this machine where nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	ports, err := freeport.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	return freeport.Addr(ports[0])
}
