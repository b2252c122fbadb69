package router_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A request to a leader that never answers ends when another leads, and is sent to that one. While
// no leader is known, the read waits.
func TestAReadGoesToTheNextLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{leader: "first"}
		s.barrier = func(ctx context.Context) (uint64, error) {
			if _, addr := s.Leader(); addr == "second" {
				return 7, nil
			}
			<-ctx.Done()
			return 0, code(agent.CodeUnavailable)
		}
		r := newRouter(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		followed := make(chan error, 1)
		go func() { followed <- r.Follow(ctx) }()
		time.AfterFunc(time.Second, func() { s.elect("") })
		time.AfterFunc(3*time.Second, func() { s.elect("second") })
		began := time.Now()
		answers, err := r.Read(t.Context(), read())
		if took := time.Since(began); err != nil || answers.Index != 7 || took < 3*time.Second || took > 3500*time.Millisecond {
			t.Errorf("served at %d after %v, %v", answers.Index, took, err)
		}
		cancel()
		if err := <-followed; err != nil {
			t.Error(err)
		}
		if want := []string{"first", "second"}; !slices.Equal(s.told, want) {
			t.Errorf("the peers were told of %v, want %v", s.told, want)
		}
	})
}
