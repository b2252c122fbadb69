package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// The main flow on a real node: a turn that waits for a person, is decided,
// taken up again and finished, while who held it before is refused.
func TestASessionsTurnsOnARealNode(t *testing.T) {
	n := newRealNode(t)
	claimed := func(args ...string) (lease string) {
		t.Helper()
		out, _ := n.run("", exitOK, append([]string{"sessions"}, append(args, "-o", "json")...)...)
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
	n.run("", exitConflict, "sessions", "claim", "s", "--owner", "w2", "--request", "r2")
	n.run("", exitOK, "sessions", "checkpoint", "s", "--lease", first, "--owner", "w1", "--snapshot", "n", "--phase", "before_effect")
	n.run(`[{"interrupt_id":"i","operation":"rm"}]`, exitOK, "sessions", "commit", "s", "--lease", first, "--owner", "w1", "--status", "waiting", "--reviews", "-")

	if out, _ := n.run("", exitOK, "reviews", "ls"); !strings.Contains(out, "review:i") {
		t.Errorf("what is pending: %s", out)
	}
	n.run("", exitOK, "reviews", "approve", "review:i", "--by", "ann")
	n.run("", exitConflict, "reviews", "deny", "review:i", "--by", "eve")
	second := claimed("resume", "s", "--owner", "w2")
	n.run("", exitConflict, "sessions", "commit", "s", "--lease", first, "--owner", "w1", "--status", "finished")
	n.run("", exitOK, "sessions", "commit", "s", "--lease", second, "--owner", "w2", "--status", "finished", "--result", `"done"`)
	if out, _ := n.run("", exitOK, "sessions", "get", "s"); !strings.Contains(out, "finished") {
		t.Errorf("the session: %s", out)
	}
	if out, _ := n.run("", exitOK, "sessions", "replay", "s"); !strings.Contains(out, "review:i") || !strings.Contains(out, "approve") {
		t.Errorf("the replay: %s", out)
	}
	n.run("", exitOK, "sessions", "rm", "s")
	n.run("", exitNotFound, "sessions", "get", "s")
}
