package store_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/internal/budget"
	"dormouse/store"
)

// pages returns reads of n pages.
func pages(n int) agent.Reads {
	var r agent.Reads
	for range n {
		r.Reads = append(r.Reads, &agent.ListReviews{})
	}
	return r
}

// Reads whose answers are not counted yet keep their room: another one waits for it, and fails with
// unavailable if it waits too long.
func TestReadsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		pool := budget.New(1 << 40)
		var held []*budget.Work
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			ctx, work := budget.WithWork(ctx, pool, "caller")
			_, err := s.Read(ctx, pages(agent.ReadsMax)) // as much as one request may have
			cancel()
			if err != nil {
				if agent.CodeOf(err) != agent.CodeUnavailable || len(held) == 0 {
					t.Errorf("with %d others: %v", len(held), err)
				}
				break
			}
			if held = append(held, work); len(held) > 1000 {
				t.Fatal("the reads have no bound")
			}
		}
		if answer := read(t, s, &agent.GetValue{Key: "k"}); answer.Err == nil || answer.Err.Code != agent.CodeNotFound {
			t.Errorf("a single row needs no room: %+v", answer)
		}
		for _, work := range held {
			work.Done()
		}
		if _, err := s.Read(t.Context(), pages(1)); err != nil {
			t.Errorf("after the others: %v", err)
		}
	})
}

// A read whose answer would not fit among those in flight is refused as overloaded, and may be repeated.
func TestAReadWithoutRoomForItsAnswerIsOverloaded(t *testing.T) {
	s, _ := open(t, store.Options{})
	pool := budget.New(1)
	pool.Force("another", 1)
	ctx, work := budget.WithWork(t.Context(), pool, "caller")
	defer work.Done()
	_, err := s.Read(ctx, pages(1))
	var e *agent.Error
	if !errors.As(err, &e) || e.Code != agent.CodeOverloaded || e.RetryAfterMS == 0 {
		t.Errorf("%+v", err)
	}
}

// The bytes of an answer are those of all its strings, also of those in lists and maps.
func TestASizeCountsEachString(t *testing.T) {
	text := string(bytes.Repeat([]byte("x"), 1000))
	for name, c := range map[string]struct {
		v     any
		least int
	}{
		"a list":          {&agent.Entries{Items: []agent.Entry{{Kind: text}, {Payload: agent.JSON(text)}}}, 2000},
		"numbers":         {struct{ Vector []float64 }{make([]float64, 1000)}, 8000},
		"values of a map": {struct{ M map[string]string }{map[string]string{text: text}}, 2000},
		"nothing":         {&agent.Entries{}, 0},
	} {
		if got := store.SizeOf(c.v); got < c.least || got > c.least+100 {
			t.Errorf("%s: %d bytes, want about %d", name, got, c.least)
		}
	}
}

// Metadata counts in the bound of answers, as the bytes of a value do.
func TestMetadataCountsAsAnAnswer(t *testing.T) {
	s, _ := open(t, store.Options{})
	commit(t, s, &agent.PutValue{
		Key: "k", Bytes: bytes.Repeat([]byte("x"), agent.ValueBytesMax), Metadata: agent.JSON(`{"m":"` + string(bytes.Repeat([]byte("x"), 4<<10)) + `"}`),
	})
	var r agent.Reads
	for range store.AnswerBytesMax / agent.ValueBytesMax {
		r.Reads = append(r.Reads, &agent.GetValue{Key: "k"})
	}
	if _, err := s.Read(t.Context(), r); !errors.Is(err, agent.ErrTooLarge) {
		t.Error(err)
	}
}
