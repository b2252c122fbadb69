package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/node/nodetest"
)

// realNode runs dormctl on a real node.
type realNode struct {
	*testing.T
	node     *nodetest.Node
	terminal bool
}

// keptOpen keeps the node's client open when a run closes it.
type keptOpen struct{ kit.Store }

func (keptOpen) Close() error { return nil }

func (n *realNode) run(stdin string, code int, args ...string) (stdout, stderr string) {
	n.Helper()
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Terminal: n.terminal, Getenv: func(string) string { return "" },
		Dial: func(kit.Target) (kit.Store, error) { return keptOpen{n.node.Client}, nil },
	}
	if got := run(n.Context(), a, args); got != code {
		n.Fatalf("dormctl %s ends with %d, want %d: %s", strings.Join(args, " "), got, code, errs.String())
	}
	return out.String(), errs.String()
}

func newRealNode(t *testing.T) *realNode {
	t.Helper()
	n := &realNode{T: t, node: nodetest.Start(t)}
	n.run(`{"ops":[
		{"op":"append_thread","thread":"t","entries":[{"id":"x"},{"id":"y"}]},
		{"op":"put_checkpoint","key":"a","state":{"n":1},"thread":{"id":"t","rev":1}},
		{"op":"put_checkpoint","key":"a","state":{"n":2},"thread":{"id":"t","rev":2}},
		{"op":"write_memory","agent_id":"a","id":"m","content":"tea"},
		{"op":"put_session","session":"s","agent_id":"a","thread":"t"}]}`, kit.ExitOK, "commit", "-f", "-")
	return n
}

func TestAnAgentIsForkedAndErasedFromTheCommandLine(t *testing.T) {
	n := newRealNode(t)
	out, _ := n.run("", kit.ExitOK, "agents", "fork", "a", "b", "--thread", "u", "--revision", "1", "--session", "s", "--new-session", "r", "-o", "json")
	var forked document.ForkedAgent
	if err := json.Unmarshal([]byte(out), &forked); err != nil || forked.Thread.Rev != 1 || forked.Session.AgentID != "b" || forked.Memories != 1 {
		t.Fatalf("forked: %v: %s", err, out)
	}
	n.run("", kit.ExitConflict, "agents", "fork", "a", "b")
	if out, _ = n.run("", kit.ExitOK, "agents", "thaw", "a", "--revision", "1"); !strings.Contains(out, `{"n":1}`) {
		t.Errorf("thawed at revision 1: %s", out)
	}
	if _, errs := n.run("", kit.ExitNotFound, "agents", "thaw", "a", "--revision", "9"); !strings.Contains(errs, "1 to 2 are") {
		t.Errorf("thawed at a revision that is not kept: %s", errs)
	}

	// It asks first, and takes nothing but yes for yes.
	n.run("yes\n", kit.ExitUsage, "agents", "erase", "a")
	n.terminal = true
	for _, answer := range []string{"", "y\n", "no\n"} {
		n.run(answer, kit.ExitUsage, "agents", "erase", "a")
	}
	n.run("", kit.ExitNotFound, "agents", "erase", "a", "--receipt")
	n.run("", kit.ExitOK, "agents", "thaw", "a")
	n.run("yes\n", kit.ExitConflict, "agents", "erase", "a", "--if-revision", "1")
	out, errs := n.run("yes\n", kit.ExitOK, "agents", "erase", "a", "-o", "json")
	var receipt document.Erasure
	if err := json.Unmarshal([]byte(out), &receipt); err != nil || !receipt.Complete || receipt.Sessions != 1 || receipt.Revisions != 2 || receipt.Memories != 1 || len(receipt.Hash) != 64 {
		t.Fatalf("erased: %v: %s", err, out)
	}
	if !strings.Contains(errs, `erase agent "a"`) {
		t.Errorf("it asked %q", errs)
	}
	n.run("", kit.ExitNotFound, "agents", "thaw", "a")
	n.run("", kit.ExitNotFound, "sessions", "get", "s")
	if again, _ := n.run("", kit.ExitOK, "agents", "erase", "a", "--receipt", "-o", "json"); again != out {
		t.Errorf("the receipt again: %s", again)
	}
	n.run("", kit.ExitOK, "checkpoints", "put", "c", "{}", "--scope", "acme")
	if _, errs := n.run("no\n", kit.ExitUsage, "scopes", "rm", "acme"); !strings.Contains(errs, `delete scope "acme" with 1 key of`) {
		t.Errorf("it asked %q", errs)
	}
	n.run("yes\n", kit.ExitOK, "scopes", "rm", "acme")
	n.run("", kit.ExitNotFound, "checkpoints", "get", "c", "--scope", "acme")
	n.terminal = false
	n.run("", kit.ExitOK, "agents", "erase", "b", "--yes")
}

func TestConversationsAreListedAndErasedWithTheirAgentFromTheCommandLine(t *testing.T) {
	n := newRealNode(t)
	n.run(`{"ops":[
		{"op":"pend_message","conversation_id":"c1","agent_id":"a","owner_id":"u","message":{}},
		{"op":"pend_message","conversation_id":"c2","agent_id":"a","message":{}},
		{"op":"pend_message","conversation_id":"c3","agent_id":"b","owner_id":"u","message":{}}]}`, kit.ExitOK, "commit", "-f", "-")
	for {
		answers, err := n.node.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.ListConversations{Agent: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		if answers.Answers[0].Err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond) // until the cluster knows that its only node can
	}
	list := func(flags ...string) string {
		t.Helper()
		out, _ := n.run("", kit.ExitOK, append([]string{"conversations", "ls", "-o", "json"}, flags...)...)
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(out), &page); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var ids []string
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := []string{list("--agent", "a"), list("--owner", "u"), list("--agent", "a", "--limit", "1", "--after", "c1")}; !slices.Equal(got, []string{"c1 c2", "c1 c3", "c2"}) {
		t.Errorf("listed: %q", got)
	}
	n.run("", kit.ExitUsage, "conversations", "ls", "--agent", "a", "--owner", "u")
	if out, _ := n.run("", kit.ExitOK, "agents", "erase", "a", "--yes"); !regexp.MustCompile(`(?m)^conversations +2$`).MatchString(out) {
		t.Errorf("the receipt: %s", out)
	}
	if got := list(); got != "c3" {
		t.Errorf("left: %q", got)
	}
}

func TestASnapshotIsSignedVerifiedAndShown(t *testing.T) {
	n := newRealNode(t)
	dir := t.TempDir()
	key := func(id, secret string) string {
		path := filepath.Join(dir, id)
		if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return id + "=" + path
	}
	first, second := key("k1", strings.Repeat("s", 32)), key("k2", strings.Repeat("t", 32))
	n.run("", kit.ExitNotFound, "sessions", "snapshot", "sign", "s", "--signing-key", first)
	lease, _ := n.run("", kit.ExitOK, "sessions", "claim", "s", "--owner", "w", "--request", "r", "--input", `"hi"`, "-o", "json")
	var turn struct {
		Lease struct {
			ID string `json:"lease_id"`
		} `json:"lease"`
	}
	if err := json.Unmarshal([]byte(lease), &turn); err != nil || turn.Lease.ID == "" {
		t.Fatalf("claimed: %v: %s", err, lease)
	}
	n.run("", kit.ExitOK, "sessions", "checkpoint", "s", "--lease", turn.Lease.ID, "--owner", "w", "--snapshot", "n1", "--phase", "after_prompt", "--turn-state", `{"step":1}`, "--metadata", `{"by":"ada"}`)
	signed, _ := n.run("", kit.ExitOK, "sessions", "snapshot", "sign", "s", "--signing-key", first)
	signed = strings.TrimSpace(signed)
	if !strings.HasPrefix(signed, "dormouse:snapshot:v1:") {
		t.Fatalf("signed: %q", signed)
	}
	n.run("", kit.ExitOK, "sessions", "snapshot", "verify", signed, "--signing-key", second, "--signing-key", first)
	if out, _ := n.run(signed, kit.ExitOK, "sessions", "snapshot", "show", "-", "--signing-key", first); !strings.Contains(out, `{"step":1}`) || !strings.Contains(out, `{"by":"ada"}`) || !strings.Contains(out, "n1") {
		t.Errorf("shown: %s", out)
	}
	if out, _ := n.run("", kit.ExitOK, "sessions", "snapshot", "show", signed, "--signing-key", first, "-o", "json"); !strings.Contains(out, `"turn_state":{"step":1},"metadata":{"by":"ada"}`) {
		t.Errorf("shown as JSON: %s", out)
	}
	if _, errs := n.run("", kit.ExitFailed, "sessions", "snapshot", "verify", signed[:len(signed)-1]+"!", "--signing-key", first); !strings.Contains(errs, "invalid_snapshot_signature") {
		t.Errorf("a string that was changed: %s", errs)
	}
	n.run("", kit.ExitFailed, "sessions", "snapshot", "verify", signed, "--signing-key", second)
	n.run("", kit.ExitUsage, "sessions", "snapshot", "verify", signed)
	n.run("", kit.ExitUsage, "sessions", "snapshot", "verify", signed, "--signing-key", "k1")
	if _, errs := n.run("", kit.ExitFailed, "sessions", "snapshot", "sign", "s", "--signing-key", key("k3", "short")); !strings.Contains(errs, "at least 32") {
		t.Errorf("a short secret: %s", errs)
	}
}
