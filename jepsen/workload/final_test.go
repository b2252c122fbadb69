package workload

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func TestFinalReadsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		var read []string
		failures := 3
		err := FinalReads(t.Context(), []string{"a", "b"}, func(key string) error {
			if failures--; failures >= 0 {
				return away
			}
			read = append(read, key)
			return nil
		})
		if err != nil || !slices.Equal(read, []string{"a", "b"}) {
			t.Errorf("read %v, %v", read, err)
		}
		tries := 0
		never := func(string) error { tries++; return away }
		if err := FinalReads(t.Context(), []string{"a"}, never); !errors.Is(err, away) || tries != FinalTries {
			t.Errorf("%d tries, %v", tries, err)
		}
		read = nil
		err = FinalReads(t.Context(), []string{"a", "b"}, func(key string) error {
			read = append(read, key)
			if key == "a" {
				return away
			}
			return nil
		})
		if !errors.Is(err, away) || len(read) != FinalTries+1 || read[FinalTries] != "b" {
			t.Errorf("a key that cannot be read: read %v, %v", read, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tries = 0
		if err := FinalReads(ctx, []string{"a", "b"}, never); !errors.Is(err, away) || tries != 1 {
			t.Errorf("%d tries after the end, %v", tries, err)
		}
	})
}
