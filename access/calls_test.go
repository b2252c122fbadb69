package access_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
)

// reached counts the calls that were let pass, of instances and of an operator.
type reached struct{ n int }

func (r *reached) Start(context.Context, agent.InstanceRef, agent.StartInstance) (agent.Instance, error) {
	r.n++
	return agent.Instance{}, nil
}

func (r *reached) Lookup(context.Context, agent.InstanceRef) (agent.Instance, error) {
	r.n++
	return agent.Instance{}, nil
}

func (r *reached) Stop(context.Context, agent.InstanceRef) error {
	r.n++
	return nil
}

func (r *reached) Hibernate(context.Context, agent.InstanceRef) error {
	r.n++
	return nil
}

func (r *reached) Attach(context.Context, agent.InstanceRef, agent.Attach) (agent.Attached, error) {
	r.n++
	return agent.Attached{}, nil
}

func (r *reached) Detach(context.Context, agent.InstanceRef, string) error {
	r.n++
	return nil
}

func (r *reached) Touch(context.Context, agent.InstanceRef, string) error {
	r.n++
	return nil
}

func (r *reached) Signal(context.Context, agent.InstanceRef, agent.Signal) (agent.Reply, error) {
	r.n++
	return agent.Reply{}, nil
}

func (r *reached) Stats(context.Context, string, string) (agent.ManagerStats, error) {
	r.n++
	return agent.ManagerStats{}, nil
}

func (r *reached) Watch(context.Context, agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	r.n++
	return func(yield func(agent.InstanceEvent, error) bool) {
		for yield(agent.InstanceEvent{}, nil) {
		}
	}
}

func (r *reached) Status(context.Context) (layout.ClusterStatus, error) {
	r.n++
	return layout.ClusterStatus{}, nil
}

func (r *reached) Change(context.Context, layout.Change, string) (string, error) {
	r.n++
	return "", nil
}

func (r *reached) PinPartition(context.Context, int, string) error {
	r.n++
	return nil
}

func (r *reached) JoinToken(context.Context, time.Duration) (layout.JoinToken, error) {
	r.n++
	return layout.JoinToken{}, nil
}

func (r *reached) Backup(context.Context, io.Writer) error {
	r.n++
	return nil
}

func (r *reached) Backups(context.Context) (layout.Backups, error) {
	r.n++
	return layout.Backups{}, nil
}

func (r *reached) TakeBackup(context.Context, func(layout.BackupProgress)) (layout.BackupInfo, error) {
	r.n++
	return layout.BackupInfo{}, nil
}

func (r *reached) ExportScope(context.Context, string, func(agent.ScopePart) error) error {
	r.n++
	return nil
}

func (r *reached) Placement(context.Context, layout.PlacementQuery) (layout.Placement, error) {
	r.n++
	return layout.Placement{}, nil
}

// call is a call of instances or of an operator, and the verb that the documentation says it needs.
type call struct {
	name string
	verb agent.Verb
	make func(ctx context.Context, i agent.Instances, o layout.Operator, scope string) error
}

// first returns the error of a watch that begins with one.
func first[E any](events iter.Seq2[E, error]) error {
	for _, err := range events {
		return err
	}
	return nil
}

func instanceCalls() []call {
	ref := func(scope string) agent.InstanceRef { return agent.InstanceRef{Scope: scope, Manager: "m", Key: "k"} }
	return []call{
		{"start", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			_, err := i.Start(ctx, ref(s), agent.StartInstance{})
			return err
		}},
		{"lookup", agent.VerbRead, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			_, err := i.Lookup(ctx, ref(s))
			return err
		}},
		{"stop", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			return i.Stop(ctx, ref(s))
		}},
		{"hibernate", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			return i.Hibernate(ctx, ref(s))
		}},
		{"attach", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			_, err := i.Attach(ctx, ref(s), agent.Attach{})
			return err
		}},
		{"detach", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			return i.Detach(ctx, ref(s), "a")
		}},
		{"touch", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			return i.Touch(ctx, ref(s), "a")
		}},
		{"signal", agent.VerbRun, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			_, err := i.Signal(ctx, ref(s), agent.Signal{})
			return err
		}},
		{"stats", agent.VerbRead, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			_, err := i.Stats(ctx, s, "m")
			return err
		}},
		{"stats of all", agent.VerbClusterRead, func(ctx context.Context, i agent.Instances, _ layout.Operator, _ string) error {
			_, err := i.Stats(ctx, "", "")
			return err
		}},
		{"watch instances", agent.VerbRead, func(ctx context.Context, i agent.Instances, _ layout.Operator, s string) error {
			return first(i.Watch(ctx, agent.InstanceWatch{Scope: s, Manager: "m"}))
		}},
	}
}

func operatorCalls() []call {
	return []call{
		{"status", agent.VerbClusterRead, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.Status(ctx)
			return err
		}},
		{"placement", agent.VerbClusterRead, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.Placement(ctx, layout.PlacementQuery{})
			return err
		}},
		{"change", agent.VerbClusterChange, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.Change(ctx, layout.ChangeLeave, "n")
			return err
		}},
		{"pin", agent.VerbClusterChange, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			return o.PinPartition(ctx, 1, "n")
		}},
		{"join token", agent.VerbClusterChange, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.JoinToken(ctx, time.Hour)
			return err
		}},
		{"backup", agent.VerbClusterBackup, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			return o.Backup(ctx, io.Discard)
		}},
		{"backups", agent.VerbClusterBackup, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.Backups(ctx)
			return err
		}},
		{"take a backup", agent.VerbClusterBackup, func(ctx context.Context, _ agent.Instances, o layout.Operator, _ string) error {
			_, err := o.TakeBackup(ctx, nil)
			return err
		}},
		{"export", agent.VerbAdmin, func(ctx context.Context, _ agent.Instances, o layout.Operator, s string) error {
			return o.ExportScope(ctx, s, nil)
		}},
	}
}

// without returns grants of all verbs but one, in all scopes.
func without(verb agent.Verb) (grants []agent.Grant) {
	for _, v := range append(agent.ScopeVerbs(), agent.ClusterVerbs()...) {
		if v != verb {
			grants = append(grants, on("*", v))
		}
	}
	return grants
}

// Each call of instances and of an operator needs its verb in its scope, which is the default scope if it names none, and
// credentials that are valid now.
func TestEachCallNeedsItsVerbInItsScope(t *testing.T) {
	inner := &reached{}
	tokens := live{"tok": true}
	instances, operator := access.NewInstances(inner, tokens), access.NewOperator(inner, tokens)
	calls := append(instanceCalls(), operatorCalls()...)
	for _, c := range calls {
		attempt := func(p *access.Principal, scope string, want agent.Code) {
			t.Helper()
			ctx, before := t.Context(), inner.n
			if p != nil {
				ctx = access.With(ctx, p)
			}
			if err := c.make(ctx, instances, operator, scope); agent.CodeOf(err) != want || (inner.n > before) != (want == "") {
				t.Errorf("%s in scope %q as %+v: %v (%d calls), want %q", c.name, scope, p, err, inner.n-before, want)
			}
		}
		attempt(nil, "s", agent.CodeUnauthenticated)
		attempt(&access.Principal{Grants: []agent.Grant{on("s", c.verb)}}, "s", "")
		attempt(&access.Principal{Grants: without(c.verb)}, "s", agent.CodeForbidden)
		if !c.verb.OfCluster() {
			attempt(&access.Principal{Grants: []agent.Grant{on("s", c.verb)}}, "other", agent.CodeForbidden)
			attempt(&access.Principal{Grants: []agent.Grant{on("s", c.verb)}}, "", agent.CodeForbidden)
			attempt(&access.Principal{Grants: []agent.Grant{on(agent.DefaultScope, c.verb)}}, "", "")
		}
		attempt(&access.Principal{Grants: agent.Everything(), Until: time.Unix(1, 0)}, "s", agent.CodeUnauthenticated)
		attempt(&access.Principal{Grants: agent.Everything(), TokenID: "revoked"}, "s", agent.CodeUnauthenticated)
		attempt(&access.Principal{Grants: agent.Everything(), TokenID: "tok"}, "s", "")
	}
}

// late are the tokens of a node that learns of a revocation, or that it cannot, at its barrier.
type late struct {
	live
	err error
}

func (l late) Barrier(context.Context) error {
	delete(l.live, "tok")
	return l.err
}

// An operator's call that changes or hands out something asks for revocations first. One that reads the status does
// not: a node without a leader answers it.
func TestAnOperatorsCallAsksForRevocations(t *testing.T) {
	for _, c := range operatorCalls() {
		looks := slices.Contains([]string{"status", "placement", "backups"}, c.name)
		for tokens, want := range map[*late]agent.Code{
			{live: live{"tok": true}}:                               agent.CodeUnauthenticated,
			{live: live{"tok": true}, err: errors.New("no leader")}: agent.CodeUnavailable,
		} {
			if looks {
				want = ""
			}
			inner := &reached{}
			ctx := access.With(t.Context(), &access.Principal{Grants: agent.Everything(), TokenID: "tok"})
			if err := c.make(ctx, nil, access.NewOperator(inner, tokens), "s"); agent.CodeOf(err) != want || (inner.n > 0) != looks {
				t.Errorf("%s with a token that was revoked, barrier %v: %v (%d calls), want %q", c.name, tokens.err, err, inner.n, want)
			}
			certificate := access.With(t.Context(), &access.Principal{Grants: agent.Everything()})
			if err := c.make(certificate, nil, access.NewOperator(inner, tokens), "s"); err != nil {
				t.Errorf("%s with a certificate: %v", c.name, err)
			}
		}
	}
}

// A watch of instances ends with the token.
func TestARevokedTokenWatchesNoInstances(t *testing.T) {
	tokens := live{"tok": true}
	seen := 0
	for _, err := range access.NewInstances(&reached{}, tokens).Watch(principal("tok", on("*", agent.VerbRead)), agent.InstanceWatch{Manager: "m"}) {
		if err != nil {
			if agent.CodeOf(err) != agent.CodeUnauthenticated || seen != 1 {
				t.Errorf("after %d events: %v", seen, err)
			}
			return
		}
		if seen++; seen > 1 {
			t.Fatal("the watch goes on")
		}
		delete(tokens, "tok")
	}
	t.Error("the watch ended without an error")
}

// A call without a scope is one in the default scope, also for the rights that it needs.
func TestACallWithoutAScopeIsInTheDefaultScope(t *testing.T) {
	s := memstore.New()
	if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: make([]agent.Draft, 1)}}}); err != nil {
		t.Fatal(err)
	}
	g := access.NewGuard(s, live{})
	for scope, want := range map[string]agent.Code{agent.DefaultScope: "", "other": agent.CodeForbidden} {
		ctx := principal("", on(scope, agent.VerbRead, agent.VerbWrite))
		_, commit := g.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
		_, read := g.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.ListValues{}}})
		for what, err := range map[string]error{"commit": commit, "read": read, "watch": first(g.Watch(ctx, agent.Watch{Thread: "t"}))} {
			if agent.CodeOf(err) != want {
				t.Errorf("a %s with grants in scope %q: %v, want %q", what, scope, err, want)
			}
		}
	}
}
