package store_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/store"
)

var errNoMajority = agent.Errorf(agent.CodeUnavailable, "no majority")

// A read sees what was committed before it: it waits for its index, for the caller's, or for both.
func TestAReadWaitsForItsIndex(t *testing.T) {
	for name, r := range map[string]agent.Reads{
		"linearizable":              {},
		"stale, at a minimum index": {Stale: true, MinIndex: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, g := open(t, store.Options{Node: "n1", UpToDate: time.Now})
				g.barrier = func() (uint64, error) { return 2, nil }
				r.Reads = []agent.Read{&agent.GetValue{Key: "k"}}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if answers, err := s.Read(ctx, r); agent.CodeOf(err) != agent.CodeUnavailable {
					t.Errorf("at entry %d: %+v, %v", s.Applied(), answers, err)
				}
				answered := make(chan agent.Answers, 1)
				go func() {
					answers, err := s.Read(t.Context(), r)
					if err != nil {
						t.Error(err)
					}
					answered <- answers
				}()
				synctest.Wait()
				commit(t, s, &agent.PutValue{Key: "k", Bytes: []byte("v")})
				answers := <-answered
				if v, ok := answers.Answers[0].Found.(*agent.Value); !ok || string(v.Bytes) != "v" || answers.Index != 2 || answers.Node != "n1" {
					t.Errorf("%+v", answers)
				}
			})
		})
	}
}

func TestAReadWithoutABarrierFails(t *testing.T) {
	s, g := open(t, store.Options{})
	g.barrier = func() (uint64, error) { return 0, errNoMajority }
	if answers, err := s.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); !errors.Is(err, errNoMajority) {
		t.Errorf("%+v, %v", answers, err)
	}
	if answers, err := s.Read(t.Context(), agent.Reads{}); err == nil || errors.Is(err, errNoMajority) {
		t.Errorf("no reads: %+v, %v", answers, err)
	}
}

// A stale read of a node that replays its log would go back behind what the node has answered before
// it was restarted.
func TestAStaleReadWaitsUntilTheLogIsReplayed(t *testing.T) {
	s, g := open(t, store.Options{UpToDate: time.Now})
	g.replayed = errNoMajority
	reads := []agent.Read{&agent.GetValue{Key: "k"}}
	if answers, err := s.Read(t.Context(), agent.Reads{Reads: reads, Stale: true}); !errors.Is(err, errNoMajority) {
		t.Errorf("a stale read: %+v, %v", answers, err)
	}
	if _, err := s.Read(t.Context(), agent.Reads{Reads: reads}); err != nil {
		t.Errorf("a linearizable read: %v", err)
	}
}

func TestAStaleReadSaysHowOldItMayBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at time.Time
		s, _ := open(t, store.Options{UpToDate: func() time.Time { return at }})
		age := func(stale bool) int64 {
			answers, err := s.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}, Stale: stale})
			if err != nil {
				t.Fatal(err)
			}
			return answers.AgeMS
		}
		if got := age(true); got != -1 {
			t.Errorf("if it is not known: %d ms", got)
		}
		at = time.Now().Add(-5 * time.Second)
		if got := age(true); got != 5000 {
			t.Errorf("5 s after that: %d ms", got)
		}
		if got := age(false); got != 0 {
			t.Errorf("a linearizable read: %d ms", got)
		}
		at = time.Now().Add(time.Second)
		if got := age(true); got != 0 {
			t.Errorf("at a time that the clock says is to come: %d ms", got)
		}
	})
}

// The answers of one request are bounded together, at exactly AnswerBytesMax.
func TestAnswersThatAreTooLargeTogetherAreRefused(t *testing.T) {
	s, _ := open(t, store.Options{})
	value := bytes.Repeat([]byte("x"), agent.ValueBytesMax)
	commit(t, s, &agent.PutValue{Key: "whole", Bytes: value})
	commit(t, s, &agent.PutValue{Key: "one more", Bytes: []byte("y")})
	var reads []agent.Read
	for range store.AnswerBytesMax / agent.ValueBytesMax {
		reads = append(reads, &agent.GetValue{Key: "whole"})
	}
	if _, err := s.Read(t.Context(), agent.Reads{Reads: reads}); err != nil {
		t.Errorf("answers of %d bytes: %v", store.AnswerBytesMax, err)
	}
	_, err := s.Read(t.Context(), agent.Reads{Reads: append(reads, &agent.GetValue{Key: "one more"})})
	if !errors.Is(err, agent.ErrTooLarge) {
		t.Errorf("answers with one byte more: %v", err)
	}
}

// Reads of pages take room at the gate, and give it back: here more of them, one after the other, than
// the gate has room for.
func TestAReadGivesItsRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		for range 64 {
			if answer := read(t, s, &agent.ListReviews{}); answer.Err != nil {
				t.Fatal(answer.Err)
			}
		}
	})
}

// A refusal names the read that was refused.
func TestARefusalNamesItsRead(t *testing.T) {
	s, _ := open(t, store.Options{})
	missing := &agent.GetCheckpoint{Key: "missing"}
	answers, err := s.Read(t.Context(), agent.Reads{Reads: []agent.Read{missing, missing}})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers.Answers {
		if a.Err == nil || a.Err.Code != agent.CodeNotFound || a.Err.Op != i {
			t.Errorf("read %d: %+v", i, a.Err)
		}
	}
}
