package eino_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dormouse/adapters/go/eino"
	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// dial returns a client of the first node of DORMOUSE_ENDPOINTS only, which
// internal/withcluster makes a follower.
func dial(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{Scope: "eino-" + uuid.NewString(), Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestACheckpointIsKeptUntilItIsDeleted(t *testing.T) {
	s, ctx := eino.New(dial(t).Scope, eino.Options{}), t.Context()
	if _, ok, err := s.Get(ctx, "run"); ok || err != nil {
		t.Fatalf("before: %v, %v", ok, err)
	}
	for _, want := range [][]byte{{0, 1, 255}, {}, bytes.Repeat([]byte("x"), agent.ValueBytesMax)} {
		if err := s.Set(ctx, "run", want); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Get(ctx, "run"); !ok || err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of %d, %v, %v", len(got), len(want), ok, err)
		}
	}
	if err := s.Set(ctx, "run", make([]byte, agent.ValueBytesMax+1)); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("a byte more than the limit: %v", err)
	}
	for range 2 { // deleting what does not exist succeeds
		if err := s.Delete(ctx, "run"); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := s.Get(ctx, "run"); ok || err != nil {
		t.Errorf("after: %v, %v", ok, err)
	}
}

func TestTheSecondOfTwoRunsIsRefused(t *testing.T) {
	s := eino.New(dial(t).Scope, eino.Options{})
	if err := s.Set(t.Context(), "run", []byte("0")); err != nil {
		t.Fatal(err)
	}
	first, second, third := eino.Once(t.Context()), eino.Once(t.Context()), eino.Once(t.Context())
	for _, run := range []context.Context{first, second, third} {
		if _, _, err := s.Get(run, "run"); err != nil {
			t.Fatal(err)
		}
	}
	for _, checkpoint := range []string{"1", "2"} { // a run may write more than once
		if err := s.Set(first, "run", []byte(checkpoint)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set(second, "run", []byte("lost")); !errors.Is(err, eino.ErrChanged) || agent.OutcomeOf(err) != agent.Refused {
		t.Errorf("a stale write: %v", err)
	}
	if err := s.Delete(first, "run"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(second, "run", []byte("lost")); !errors.Is(err, eino.ErrChanged) {
		t.Errorf("a stale write after the delete: %v", err)
	}
	if err := s.Set(t.Context(), "run", []byte("of another run")); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(third, "run"); !errors.Is(err, eino.ErrChanged) {
		t.Errorf("a stale delete: %v", err)
	}
	if err := s.Set(first, "run", []byte("lost")); !errors.Is(err, eino.ErrChanged) {
		t.Errorf("a write after another run's: %v", err)
	}
	if got, _, err := s.Get(t.Context(), "run"); err != nil || string(got) != "of another run" {
		t.Errorf("%q, %v", got, err)
	}
}

// losing is a service whose next commit has an unknown outcome.
type losing struct {
	agent.Service
	lose, apply bool // apply: the lost commit is applied
}

func (l *losing) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if !l.lose {
		return l.Service.Commit(ctx, commit)
	}
	l.lose = false
	if l.apply {
		if _, err := l.Service.Commit(ctx, commit); err != nil {
			return agent.Result{}, err
		}
	}
	return agent.Result{}, agent.ErrUnknown
}

// A run goes on after a write of unknown outcome, whether it was applied or not, unless another run
// has written.
func TestARunGoesOnAfterAnUnknownOutcome(t *testing.T) {
	for _, applied := range []bool{true, false} {
		c := dial(t)
		l := &losing{Service: c, apply: applied}
		s := eino.New(client.In(l, "eino-"+uuid.NewString()), eino.Options{})
		run, other := eino.Once(t.Context()), eino.Once(t.Context())
		read := func(ctx context.Context, want string) {
			t.Helper()
			if got, ok, err := s.Get(ctx, "run"); err != nil || string(got) != want || ok != (want != "") {
				t.Errorf("applied %t: %q, %t, %v; want %q", applied, got, ok, err, want)
			}
		}
		write := func(ctx context.Context, checkpoint string, want error) {
			t.Helper()
			do := func() error { return s.Delete(ctx, "run") }
			if checkpoint != "" {
				do = func() error { return s.Set(ctx, "run", []byte(checkpoint)) }
			}
			if err := do(); !errors.Is(err, want) {
				t.Errorf("applied %t, %q: %v, want %v", applied, checkpoint, err, want)
			}
		}
		read(run, "")
		for _, checkpoint := range []string{"1", "2", "", "3"} {
			l.lose = true
			write(run, checkpoint, agent.ErrUnknown)
			write(run, checkpoint, nil)
			read(run, checkpoint)
		}
		l.lose = true
		write(run, "4", agent.ErrUnknown)
		read(run, "4") // a read sends it again too
		read(other, "4")
		l.lose = true
		write(run, "5", agent.ErrUnknown)
		if applied {
			write(other, "5", eino.ErrChanged)
			write(run, "6", nil)
		} else {
			write(other, "5", nil) // the bytes that the run wrote, too
			write(run, "6", eino.ErrChanged)
			read(run, "5")
			write(run, "6", nil)
		}
		read(t.Context(), "6")
	}
}

func TestAStoreUnderALostClaimWritesNothing(t *testing.T) {
	c, ctx := dial(t), t.Context()
	mine, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: "runner", Holder: "a", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s := eino.New(c.Under(mine), eino.Options{})
	if err := s.Set(ctx, "run", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: "runner", Holder: "a", Epoch: mine.Epoch}); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(ctx, "run", []byte("2")); agent.CodeOf(err) != agent.CodeFenced {
		t.Errorf("a write under a lost claim: %v", err)
	}
}

func TestACheckpointExpires(t *testing.T) {
	s, ctx := eino.New(dial(t).Scope, eino.Options{TTL: time.Second, Prefix: "short/"}), t.Context()
	if err := s.Set(ctx, "run", []byte("1")); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, ok, err := s.Get(ctx, "run")
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the checkpoint does not expire")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestAnIDOfAnotherFormIsRefused(t *testing.T) {
	s := eino.New(dial(t).Scope, eino.Options{})
	if err := s.Set(t.Context(), strings.Repeat("x", agent.IDBytesMax), nil); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("a long id: %v", err)
	}
}
