package main

import (
	"encoding/json"
	"strings"
	"testing"

	"dormouse/cmd/dormctl/kit"
)

// The main flow on a real node: a turn that waits for a person, is decided,
// taken up again and finished, while who held it before is refused.
func TestASessionsTurnsOnARealNode(t *testing.T) {
	n := newRealNode(t)
	claimed := func(args ...string) (lease string) {
		t.Helper()
		out, _ := n.run("", kit.ExitOK, append([]string{"sessions"}, append(args, "-o", "json")...)...)
		var doc struct {
			Lease struct {
				ID string `json:"lease_id"`
			} `json:"lease"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Lease.ID == "" {
			t.Fatalf("no lease: %v: %s", err, out)
		}
		return doc.Lease.ID
	}
	first := claimed("claim", "s", "--owner", "w1", "--request", "r1", "--input", `"hi"`)
	n.run("", kit.ExitConflict, "sessions", "claim", "s", "--owner", "w2", "--request", "r2")
	n.run("", kit.ExitOK, "sessions", "checkpoint", "s", "--lease", first, "--owner", "w1", "--snapshot", "n", "--phase", "before_effect")
	n.run(`[{"interrupt_id":"i","operation":"rm"}]`, kit.ExitOK, "sessions", "commit", "s", "--lease", first, "--owner", "w1", "--status", "waiting", "--reviews", "-")

	if out, _ := n.run("", kit.ExitOK, "reviews", "ls"); !strings.Contains(out, "review:i") {
		t.Errorf("what is pending: %s", out)
	}
	n.run("", kit.ExitOK, "reviews", "approve", "review:i", "--by", "ann")
	n.run("", kit.ExitConflict, "reviews", "deny", "review:i", "--by", "eve")
	second := claimed("resume", "s", "--owner", "w2")
	n.run("", kit.ExitConflict, "sessions", "commit", "s", "--lease", first, "--owner", "w1", "--status", "finished")
	n.run("", kit.ExitOK, "sessions", "commit", "s", "--lease", second, "--owner", "w2", "--status", "finished", "--result", `"done"`)
	if out, _ := n.run("", kit.ExitOK, "sessions", "get", "s"); !strings.Contains(out, "finished") {
		t.Errorf("the session: %s", out)
	}
	if out, _ := n.run("", kit.ExitOK, "sessions", "replay", "s"); !strings.Contains(out, "review:i") || !strings.Contains(out, "approve") {
		t.Errorf("the replay: %s", out)
	}
	n.run("", kit.ExitOK, "sessions", "rm", "s")
	n.run("", kit.ExitNotFound, "sessions", "get", "s")
}
