package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/cmd/dormctl/transfer"
	"dormouse/importer"
	"dormouse/node/nodetest"
)

// raised waits until a new node has raised the feature level, which it does in
// one step: scopes move between clusters of one level only.
func raised(t *testing.T, n *nodetest.Node) *nodetest.Node {
	t.Helper()
	for {
		status, err := n.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.FeatureLevel > 0 {
			return n
		}
		time.Sleep(time.Millisecond)
	}
}

// fillScope writes what the exports of before lost: sessions, memories,
// conversations, files, managers, timers and a policy.
func fillScope(n *realNode, scope string) {
	n.Helper()
	for _, args := range [][]string{
		{
			"scopes", "set", scope, "--history", "7", "--agents-max", "10", "--threads-max", "20", "--entries-max", "30", "--timers-max", "40",
			"--requests-per-second", "500", "--bytes-per-second", "60000", "--watches-max", "70", "--awake-max", "80",
		},
		{"scopes", "index", scope, "env"},
		{"managers", "put", "notes", "--handler", "document"},
		{"timers", "set", "notes", "anna", "nightly", "--cron", "@daily"},
		{"files", "put", "/a.txt", "hello"},
		{"values", "put", "v", "bytes"},
	} {
		n.run("", kit.ExitOK, append(args, "--scope", scope)...)
	}
	n.run(`{"ops":[
		{"op":"append_thread","thread":"t","entries":[{"id":"x"},{"id":"y"}]},
		{"op":"put_checkpoint","key":"a","state":{"n":1},"thread":{"id":"t","rev":1}},
		{"op":"write_memory","agent_id":"a","id":"m","content":"tea"},
		{"op":"put_session","session":"s","agent_id":"a","thread":"t"},
		{"op":"pend_message","conversation_id":"c","message":{"text":"hi"}}]}`, kit.ExitOK, "commit", "-f", "-", "--scope", scope)
}

func TestAScopeMovesWholeBetweenClusters(t *testing.T) {
	source := newRealNode(t)
	raised(t, source.node)
	target := &realNode{T: t, node: raised(t, nodetest.Start(t))}
	fillScope(source, "acme")
	path := filepath.Join(t.TempDir(), "acme.scope")
	if _, errs := source.run("", kit.ExitNotFound, "export", path, "--scope", "nowhere"); strings.Contains(errs, "again") {
		t.Errorf("the export of a scope that does not exist says %q", errs)
	}
	out, _ := source.run("", kit.ExitOK, "export", path, "--scope", "acme", "-o", "json")
	var exported transfer.ScopeFileDoc
	if err := json.Unmarshal([]byte(out), &exported); err != nil || exported.Rows == 0 || exported.Digest == "" {
		t.Fatalf("%v: %s", err, out)
	}
	target.run("", kit.ExitNotFound, "import", "--raw", "--verify", path, "--scope", "acme")
	out, _ = target.run("", kit.ExitOK, "import", "--raw", path, "--scope", "moved", "-o", "json")
	var imported transfer.ScopeFileDoc
	if err := json.Unmarshal([]byte(out), &imported); err != nil || imported.Scope != "moved" || imported.Digest != exported.Digest {
		t.Fatalf("%v: %s", err, out)
	}
	target.run("", kit.ExitOK, "import", "--raw", "--verify", path, "--scope", "moved")
	target.run("", kit.ExitOK, "import", "--raw", path, "--scope", "moved") // once more: it is there

	again := filepath.Join(t.TempDir(), "again.scope")
	if out, _ = target.run("", kit.ExitOK, "export", again, "--scope", "moved", "-o", "json"); !strings.Contains(out, exported.Digest) {
		t.Errorf("the digest of a second export differs: %s", out)
	}
	for _, args := range [][]string{
		{"scopes", "ls"},
		{"scopes", "get"},
		{"sessions", "get", "s"},
		{"memory", "ls", "a"},
		{"managers", "show", "notes"},
		{"timers", "ls", "notes", "anna"},
		{"files", "cat", "/a.txt"},
		{"threads", "get", "t"},
		{"conversations", "show", "c"},
	} {
		if args[0] == "scopes" && args[1] == "get" {
			want, got := builtScope(source, "acme"), builtScope(target, "moved")
			if got = strings.Replace(got, `"moved"`, `"acme"`, 1); got != want {
				t.Errorf("the scope is\n%swant\n%s", got, want)
			}
			continue
		}
		if args[0] == "scopes" {
			if out, _ := target.run("", kit.ExitOK, args...); !strings.Contains(out, "moved") || !strings.Contains(out, "7") {
				t.Errorf("the policy did not move: %s", out)
			}
			continue
		}
		want, _ := source.run("", kit.ExitOK, append(args, "--scope", "acme", "-o", "json")...)
		if got, _ := target.run("", kit.ExitOK, append(args, "--scope", "moved", "-o", "json")...); got != want {
			t.Errorf("%s answers\n%swant\n%s", strings.Join(args, " "), got, want)
		}
	}

	target.run("", kit.ExitOK, "values", "put", "v", "other", "--scope", "moved")
	if _, errs := target.run("", kit.ExitFailed, "import", "--raw", "--verify", path, "--scope", "moved"); !strings.Contains(errs, `row "0v\x00" differs`) {
		t.Errorf("the verification does not name the row: %s", errs)
	}
}

// builtScope returns a scope as JSON once the index of its metadata is complete.
func builtScope(n *realNode, scope string) string {
	n.Helper()
	for {
		out, _ := n.run("", kit.ExitOK, "scopes", "get", scope, "-o", "json")
		if !strings.Contains(out, "metadata_building") {
			return out
		}
		time.Sleep(time.Millisecond)
	}
}

// breaking is a store whose exports end after their first rows, as they do when the node goes away that reads them.
type breaking struct {
	kit.Store
	left *int // exports that still break
}

func (b breaking) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	if *b.left--; *b.left < 0 {
		return b.Store.ExportScope(ctx, scope, write)
	}
	return b.Store.ExportScope(ctx, scope, func(part agent.ScopePart) error {
		if err := write(part); err != nil || part.Header != nil {
			return err
		}
		return agent.Errorf(agent.CodeUnavailable, "the node goes away here")
	})
}

func TestAnExportBeginsAgainOrLeavesNoFile(t *testing.T) {
	n := newRealNode(t)
	raised(t, n.node)
	for _, c := range []struct {
		name    string
		to      string
		breaks  int
		code    int
		says    string
		earlier bool // the file is that of before
	}{
		{"a node stops", "FILE", 1, kit.ExitOK, "begins again with another node", false},
		{"every node stops", "FILE", 100, kit.ExitUnavailable, "run the same command again", true},
		{"a node stops in an export to stdout", "-", 1, kit.ExitUnavailable, "run the same command again", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "default.scope")
			if err := os.WriteFile(path, []byte("an earlier export"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			a := &kit.App{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
				Dial: func(kit.Target) (kit.Store, error) { return breaking{keptOpen{n.node.Client}, &c.breaks}, nil },
			}
			if code := run(t.Context(), a, []string{"export", strings.Replace(c.to, "FILE", path, 1)}); code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("it ends with %d: %s", code, &errs)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 {
				t.Errorf("the directory has %v, %v", files, err)
			}
			raw, err := os.ReadFile(path)
			if earlier := string(raw) == "an earlier export"; err != nil || earlier != c.earlier {
				t.Errorf("the file is the earlier one: %t, %v", earlier, err)
			}
			if _, err := importer.CheckScopeFile(func() (io.ReadCloser, error) { return os.Open(path) }); (err != nil) != c.earlier {
				t.Error(err)
			}
		})
	}
}

// dying is a store whose commits fail after a number of them.
type dying struct {
	kit.Store
	left int
}

func (d *dying) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if d.left--; d.left < 0 {
		return agent.Result{}, agent.Errorf(agent.CodeForbidden, "the process dies here")
	}
	return d.Store.Commit(ctx, c)
}

func TestAnImportGoesOnWhereItWasInterrupted(t *testing.T) {
	source := newRealNode(t)
	raised(t, source.node)
	for _, key := range []string{"a", "b", "c", "d"} {
		if _, err := source.node.Commit(t.Context(), agent.Commit{
			Scope: "big", Ops: []agent.Op{&agent.PutValue{Key: key, Bytes: make([]byte, 1<<20)}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "big.scope")
	source.run("", kit.ExitOK, "export", path, "--scope", "big")
	n := raised(t, nodetest.Start(t))
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	o := importer.ScopeOptions{Scope: "big"}
	_, err := importer.ImportScope(t.Context(), &dying{keptOpen{n.Client}, 3}, open, o)
	if agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatalf("the first run ends with %v", err)
	}
	_, err = n.Commit(t.Context(), agent.Commit{Scope: "big", Ops: []agent.Op{&agent.PutValue{Key: "v"}}})
	if !errors.Is(err, agent.ErrConflict) || !strings.Contains(err.Error(), "is being imported") {
		t.Fatalf("a write in between: %v", err)
	}
	second, err := importer.ImportScope(t.Context(), keptOpen{n.Client}, open, o)
	if err != nil || second.Resumed != 2 || second.Differences.Count > 0 {
		t.Fatalf("the second run: %+v, %v", second, err)
	}
}
