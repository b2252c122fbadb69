package store_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/command"
	"dormouse/store"
)

func TestACommitHasTheOutcomeOfTheLog(t *testing.T) {
	s, g := open(t, store.Options{})
	commit(t, s, &agent.PutValue{Key: "k"})
	one := uint64(1)
	append1 := &agent.AppendThread{Thread: "t", ExpectedRev: &one, Entries: []agent.Draft{{Kind: agent.KindNote}}}
	_, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}, append1}})
	var refusal *agent.Error
	if !errors.As(err, &refusal) || !refusal.Final || refusal.Op != 1 || refusal.Code != agent.CodeConflict {
		t.Errorf("a refusal of the log: %v", err)
	}
	sent := len(g.sent)
	answered := make(chan error, 2)
	s.Submit(t.Context(), agent.Commit{}, func(_ agent.Result, err error) { answered <- err })
	if err := <-answered; agent.CodeOf(err) != agent.CodeInvalid || len(g.sent) != sent {
		t.Errorf("a commit without ops: %v, %d were sent", err, len(g.sent)-sent)
	}
}

// A request id counts from the time of the log, and for its own time or the default.
func TestARequestEndsAfterItsTTL(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Minute} {
		s, g := open(t, store.Options{})
		c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}, Request: agent.Request{Client: "c", Seq: 1, TTL: ttl}}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if ttl == 0 {
			ttl = agent.RequestTTLDefault
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		want, err := command.EncodeCommit(&c, tick+uint64(ttl.Milliseconds()))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(g.sent, func(sent []byte) bool { return bytes.Equal(sent, want) }) {
			t.Errorf("with a ttl of %s the log gets another commit than %x", ttl, want)
		}
	}
}

// A commit is measured as the log holds it: two values that are each allowed may be too much together.
func TestACommitThatIsTooLargeIsNotSent(t *testing.T) {
	s, g := open(t, store.Options{})
	sent := len(g.sent)
	value := bytes.Repeat([]byte("x"), agent.ValueBytesMax)
	_, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "a", Bytes: value}, &agent.PutValue{Key: "b", Bytes: value}}})
	if !errors.Is(err, agent.ErrTooLarge) || len(g.sent) != sent {
		t.Errorf("%v, %d were sent", err, len(g.sent)-sent)
	}
}

// A node of an earlier version would stop on a new op or decide otherwise, so the leader refuses it
// until all nodes support it.
func TestACommitThatNotAllNodesSupportIsNotSent(t *testing.T) {
	instance := agent.InstanceRef{Manager: "m", Key: "k"}
	for name, c := range map[string]struct {
		level  uint32
		commit agent.Commit
	}{
		"a token":                     {fsm.TokensLevel, agent.Commit{Token: "t", Ops: []agent.Op{&agent.PutValue{Key: "k"}}}},
		"a condition of a value":      {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", SkipExisting: true}}}},
		"a condition of a checkpoint": {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{}`), SkipExisting: true}}}},
		"an entry with bytes": {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.AppendThread{
			Thread: "t", Entries: []agent.Draft{{Kind: agent.KindNote, ContentType: "text/plain", Bytes: []byte("x")}},
		}}}},
		"an entry of more than 1 MiB": {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.AppendThread{
			Thread: "t", Entries: []agent.Draft{{Kind: agent.KindNote, Payload: agent.JSON(`{"x":"` + string(bytes.Repeat([]byte("x"), 1<<20)) + `"}`)}},
		}}}},
		"a quota of threads":               {fsm.TokensLevel, agent.Commit{Ops: []agent.Op{&agent.PutScope{Policy: agent.Policy{ThreadsMax: 7}}}}},
		"a condition of a policy":          {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.PutScope{IfPolicy: &agent.Policy{}}}}},
		"the erasure of a live instance":   {fsm.ImportLevel, agent.Commit{Ops: []agent.Op{&agent.EraseAgent{Agent: instance.Checkpoint()}}}},
		"an index of metadata":             {fsm.MetadataLevel, agent.Commit{Ops: []agent.Op{&agent.IndexMetadata{Keys: []string{"team"}}}}},
		"a prefix that is deleted at once": {fsm.ConditionsLevel, agent.Commit{Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "p"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, g := openAt(t, store.Options{})
			raise(g, c.level-1)
			sent := len(g.sent)
			_, err := s.Commit(t.Context(), c.commit)
			if agent.CodeOf(err) != agent.CodeUnavailable || len(g.sent) != sent {
				t.Errorf("at level %d: %v, %d were sent", c.level-1, err, len(g.sent)-sent)
			}
			raise(g, c.level)
			sent = len(g.sent)
			if _, err := s.Commit(context.WithoutCancel(t.Context()), c.commit); len(g.sent) != sent+1 {
				t.Errorf("at level %d it is not sent: %v", c.level, err)
			}
			if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}}); err != nil {
				t.Errorf("an op that all nodes support: %v", err)
			}
		})
	}
}
