package audit_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/audit"
)

// Each refused call of instances and of an operator is a denial, with the verb that the guard asked for.
func TestEachRefusedCallOfInstancesAndOperatorsIsADenial(t *testing.T) {
	s := newScene(t, false)
	guarded := s.recorder.InstanceDenials(access.NewInstances(nil, live{}))
	ctx, ref := as(t, agent.VerbDecide), agent.InstanceRef{Scope: "s", Manager: "m", Key: "k"}
	watched := func() (err error) {
		for _, err = range guarded.Watch(ctx, agent.InstanceWatch{Scope: "s", Manager: "m", Key: "k"}) {
			break
		}
		return err
	}
	second := func(_ any, err error) error { return err }
	calls := []struct {
		want string
		err  error
	}{
		{"start_instance run s [m k]", second(guarded.Start(ctx, ref, agent.StartInstance{}))},
		{"get_instance read s [m k]", second(guarded.Lookup(ctx, ref))},
		{"stop_instance run s [m k]", guarded.Stop(ctx, ref)},
		{"hibernate_instance run s [m k]", guarded.Hibernate(ctx, ref)},
		{"attach_instance run s [m k]", second(guarded.Attach(ctx, ref, agent.Attach{}))},
		{"detach_instance run s [m k]", guarded.Detach(ctx, ref, "a")},
		{"touch_instance run s [m k]", guarded.Touch(ctx, ref, "a")},
		{"signal_instance run s [m k]", second(guarded.Signal(ctx, ref, agent.Signal{}))},
		{"count_instances read s [m]", second(guarded.Stats(ctx, "s", "m"))},
		{"count_instances cluster:read  []", second(guarded.Stats(ctx, "", ""))},
		{"watch_instances read s [m k]", watched()},
		{"status cluster:read  []", second(s.operator.Status(ctx))},
		{"leave_node cluster:change  [n2]", second(s.operator.Change(ctx, layout.ChangeLeave, "n2"))},
		{"pin_partition cluster:change  [partition:7 n2]", s.operator.PinPartition(ctx, 7, "n2")},
		{"unpin_partition cluster:change  [partition:7]", s.operator.PinPartition(ctx, 7, "")},
		{"create_join_token cluster:change  []", second(s.operator.JoinToken(ctx, time.Hour))},
		{"backup cluster:backup  []", s.operator.Backup(ctx, io.Discard)},
		{"backups cluster:backup  []", second(s.operator.Backups(ctx))},
		{"take_backup cluster:backup  []", second(s.operator.TakeBackup(ctx, nil))},
		{"export_scope admin s []", s.operator.ExportScope(ctx, "s", nil)},
		{"placement cluster:read  []", second(s.operator.Placement(ctx, layout.PlacementQuery{}))},
	}
	recs := s.recs()
	for i, c := range calls {
		if agent.CodeOf(c.err) != agent.CodeForbidden {
			t.Errorf("%s: %v", c.want, c.err)
		}
		if i >= len(recs) {
			t.Errorf("%s has no record", c.want)
			continue
		}
		rec := recs[i]
		if got := fmt.Sprintf("%s %s %s %v", rec.Action, rec.Verb, rec.Scope, rec.Object); got != c.want || rec.Kind != audit.KindDenial || rec.Outcome != "forbidden" || rec.Principal != "anna" {
			t.Errorf("%s, want %s: %+v", got, c.want, rec)
		}
	}
	if len(recs) != len(calls) {
		t.Errorf("%d records of %d calls", len(recs), len(calls))
	}
}

// A call that stops waiting for its record is not made, and gives the places of its records back.
func TestACallThatStopsWaitingGivesItsPlacesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(options(dir)) // it writes nothing yet
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	service := audit.NewRecorder(l, false).Service(store)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const calls = 100
	for range calls {
		if _, err := service.Commit(ended, commitOf(&agent.PutScope{})); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Fatal(err)
		}
	}
	if l.Reserve(audit.QueueMax - 2*calls + 1) {
		t.Error("the calls have no places")
	}
	go func() { _ = l.Run() }()
	late := time.Now().Add(10 * time.Second)
	for !l.Reserve(audit.QueueMax) { // until the last record is written
		if time.Now().After(late) {
			t.Fatal("places are lost")
		}
		time.Sleep(time.Millisecond)
	}
	if err := l.Close(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, rec := range records(t, dir) {
		if rec.Kind == audit.KindPolicy {
			n++
		}
	}
	if n != 2*calls || store.Index() != 0 {
		t.Errorf("%d lines of %d calls, which reached index %d", n, calls, store.Index())
	}
}

// What cannot be undone, and what changes rights, has a record on disk before it is made.
func TestWhatCannotBeUndoneIsRecordedBefore(t *testing.T) {
	for _, op := range []agent.Op{
		&agent.DeleteScope{}, &agent.EraseAgent{Agent: "a"}, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "p"}, &agent.PutScope{},
		&agent.IndexMetadata{Keys: []string{"k"}}, &agent.RevokeToken{ID: "x"}, &agent.DecideReview{Review: "r", Decision: "approve", By: "b"},
	} {
		s := newScene(t, false)
		_, err := s.service.Commit(as(t, append(agent.ScopeVerbs(), agent.ClusterVerbs()...)...), commitOf(op))
		recs := s.recs()
		if len(recs) != 2 || recs[0].Phase != audit.PhaseBegin || recs[1].Phase != audit.PhaseEnd || recs[1].Begin != recs[0].Seq || recs[1].Outcome == "" {
			t.Errorf("%T (%v): %+v", op, err, recs)
		}
	}
}
