package node_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/audit"
	"dormouse/cluster/clustertest"
)

// auditOf returns the records of a node's audit log, which must be whole and have its macs.
func auditOf(t *testing.T, w *simCluster, node string) (all []audit.Record) {
	t.Helper()
	dir := filepath.Join(w.dir, node, "audit")
	key := clustertest.Keys.Current()
	report, err := audit.Verify(dir, audit.Keys{key.ID(): key.Audit()})
	if err != nil || report.Fault != nil || len(report.Notes) > 0 {
		t.Fatalf("the log of %s: %v, %+v", node, err, report)
	}
	f := audit.NewFollower(dir, 1)
	defer f.Close() //nolint:errcheck // it was only read
	for {
		line, err := f.Next()
		if err != nil {
			return all
		}
		if line.Kind != audit.KindFile && line.Kind != audit.KindStart {
			all = append(all, line.Record)
		}
	}
}

// find returns the last record of an action with an outcome.
func find(t *testing.T, all []audit.Record, action, outcome string) audit.Record {
	t.Helper()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Action == action && all[i].Outcome == outcome {
			return all[i]
		}
	}
	t.Errorf("no record of %s with outcome %q in %+v", action, outcome, all)
	return audit.Record{}
}

// The principal travels with a commit that a follower forwards, into the feed of changes on each node.
func TestTheChangeFeedNamesThePrincipalSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, root := newGuardedCluster(t, 3)
		follower := w.follower().name
		result, err := w.dialWith(t, root, true, follower).Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"n1", "n2", "n3"} {
			var seen []agent.Changed
			for e, err := range w.dialWith(t, root, true, n).Watch(t.Context(), agent.Watch{Scope: "s", Changes: true, From: result.Index}) {
				if err != nil {
					t.Fatal(err)
				}
				if seen = append(seen, e.Changes...); len(seen) > 0 {
					break
				}
			}
			if len(seen) != 1 || seen[0].Key != "k" || seen[0].Principal != "root" {
				t.Errorf("on %s: %+v", n, seen)
			}
		}
	})
}

// Each node records the calls and the refusals of its own callers. A restart continues the chain.
func TestTheAuditLogTellsWhoDidWhatSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, root := newGuardedCluster(t, 3)
		admin := w.dialWith(t, root, true, "n2")
		token, secret, err := admin.CreateToken(t.Context(), agent.PutToken{
			Principal: "reader", Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		reader := w.dialWith(t, secret, true, "n2")
		if code := putWith(t, reader); code != agent.CodeForbidden {
			t.Fatal(code)
		}
		if code := putWith(t, w.dialWith(t, access.NewSecret(), true, "n2")); code != agent.CodeUnauthenticated {
			t.Fatal(code)
		}
		result, err := admin.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutScope{Policy: agent.Policy{ChangesMax: 1000}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := admin.Backup(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.Change(t.Context(), layout.ChangeLeave, "n9"); agent.CodeOf(err) != agent.CodeNotFound {
			t.Fatal(err)
		}
		w.sleep("n2")
		w.start("n2")
		w.await("n2 to serve", func() bool { return w.awake["n2"].Ready() == nil })
		if err := w.dialWith(t, root, true, "n2").Backup(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		all := auditOf(t, w, "n2")
		if r := find(t, all, "put_token", "ok"); r.Principal != "root" || r.Token == "" || r.Object[0] != token.ID || r.Kind != audit.KindToken || r.Index == 0 || !strings.HasPrefix(r.Method, "/dormouse.api.v1.Store/") || r.Address == "" {
			t.Errorf("%+v", r)
		}
		if r := find(t, all, "put_value", "forbidden"); r.Principal != "reader" || r.Token != token.ID || r.Kind != audit.KindDenial || r.Scope != "s" {
			t.Errorf("%+v", r)
		}
		if r := find(t, all, "", "unauthenticated"); r.Kind != audit.KindDenial || r.Principal != "" || r.Address == "" {
			t.Errorf("%+v", r)
		}
		if r := find(t, all, "put_scope", "ok"); r.Index != result.Index || r.Kind != audit.KindPolicy {
			t.Errorf("%+v", r)
		}
		if r := find(t, all, "leave_node", "not_found"); r.Object[0] != "n9" || r.Begin == 0 {
			t.Errorf("%+v", r)
		}
		if r := find(t, all, "backup", "ok"); r.Bytes == 0 || r.Kind != audit.KindBackup {
			t.Errorf("%+v", r)
		}
		if r := find(t, auditOf(t, w, "n1"), "member_joined", "ok"); r.Kind != audit.KindAdmin || r.Detail == "" || r.Index == 0 {
			t.Errorf("%+v", r)
		}
		for _, r := range auditOf(t, w, "n1") {
			if r.Action != "feature_level" && r.Action != "member_joined" {
				t.Errorf("a node recorded a call that it did not get: %+v", r)
			}
		}
	})
}

// A client over the rate of its scope, or with invalid commits, must not push older lines out of the log.
func TestCommitsOverARateAndInvalidOnesHaveNoAuditRecordsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, root := newGuardedCluster(t, 1)
		c := w.dialWith(t, root, true, "n1")
		if _, err := c.In("s").PutScope(t.Context(), agent.Policy{RequestsPerSecond: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // the limiter has the policy, and a full bucket
		deletes := make([]agent.Op, agent.CommitOpsMax)
		for i := range deletes {
			deletes[i] = &agent.DeleteValue{Key: fmt.Sprint(i)}
		}
		invalid := append(slices.Clone(deletes[1:]), &agent.DeleteValue{})
		served := 0
		for _, ops := range [][]agent.Op{invalid, deletes, deletes, invalid, deletes, deletes} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // the client would wait for the rate
			if _, err := c.Commit(ctx, agent.Commit{Scope: "s", Ops: ops}); err == nil {
				served++
			}
			cancel()
		}
		time.Sleep(2 * time.Second) // the log is synced within a second
		lines := 0
		for _, r := range auditOf(t, w, "n1") {
			if r.Action == "delete_value" {
				lines++
			}
		}
		if served == 0 || served > 2 || lines != served*agent.CommitOpsMax {
			t.Errorf("%d commits were served, and the log has %d lines of deletes", served, lines)
		}
	})
}
