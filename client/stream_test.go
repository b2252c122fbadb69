package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/client"
	apipb "dormouse/proto/api"
)

// answer returns a result for each call of a frame.
func answer(frame *apipb.Calls) *apipb.Replies {
	out := &apipb.Replies{}
	for _, call := range frame.Calls {
		c, err := convert.CommitFromProto(call.GetCommit())
		if err != nil {
			panic(err)
		}
		r := fine(c)
		out.Replies = append(out.Replies, &apipb.Reply{Id: call.Id, Reply: &apipb.Reply_Commit{Commit: convert.ResultToProto(&r)}})
	}
	return out
}

// Calls that wait for a connection are sent together once it is up; answers may come
// in any order.
func TestWaitingCallsShareFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 500
		w := newWires(t)
		var frames []int
		w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
			var held []*apipb.Replies
			total := 0
			for {
				frame, err := s.Recv()
				if err != nil {
					return err
				}
				frames = append(frames, len(frame.Calls))
				held = append(held, answer(frame))
				if total += len(frame.Calls); total == calls {
					for i := range held { // last first
						if err := s.Send(held[len(held)-1-i]); err != nil {
							return err
						}
					}
				}
			}
		})
		release := make(chan struct{})
		w.gate = release
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		var wg sync.WaitGroup
		for range calls {
			wg.Add(1)
			c.Submit(t.Context(), put("k"), func(_ agent.Result, err error) {
				if err != nil {
					t.Error(err)
				}
				wg.Done()
			})
		}
		close(release)
		wg.Wait()
		largest := 0
		for _, n := range frames {
			largest = max(largest, n)
		}
		if largest > convert.FrameCallsMax || largest == 1 {
			t.Errorf("frames of %v calls", frames)
		}
	})
}

// The calls of a connection share a timer. Each ends when its time is over, or up to 10 ms later: never
// before, and also if others end just before it.
func TestCallsThatShareATimerEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
			for { // it answers no call, but is heard of: a silent connection is closed at the first timeout
				if err := s.Send(&apipb.Replies{}); err != nil {
					return err
				}
				select {
				case <-time.After(50 * time.Millisecond):
				case <-s.Context().Done():
					return s.Context().Err()
				}
			}
		})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, Timeout: time.Second, Silence: time.Minute})
		var calls sync.WaitGroup
		for _, after := range []time.Duration{0, 0, time.Millisecond, 3 * time.Millisecond, 12 * time.Millisecond, 500 * time.Millisecond} {
			calls.Go(func() {
				time.Sleep(after)
				began := time.Now()
				_, err := c.Commit(context.Background(), put("k"))
				if took := time.Since(began); agent.CodeOf(err) != agent.CodeUnknown || took < time.Second || took > time.Second+10*time.Millisecond {
					t.Errorf("a call that began after %v ended after %v: %v", after, took, err)
				}
			})
		}
		calls.Wait()
	})
}

// Callers that are answered by one frame call again at once. Their calls are sent together, when all
// of the frame's replies are with their callers.
func TestCallersThatAreAnsweredTogetherShareAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 10
		w := newWires(t)
		var frames []int
		w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
			var held apipb.Replies
			for {
				frame, err := s.Recv()
				if err != nil {
					return err
				}
				frames = append(frames, len(frame.Calls))
				if held.Replies = append(held.Replies, answer(frame).Replies...); len(held.Replies) == callers {
					if err := s.Send(&held); err != nil {
						return err
					}
					held.Replies = nil
				}
			}
		})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		var wg sync.WaitGroup
		for range callers {
			wg.Add(1)
			c.Submit(t.Context(), put("k"), func(agent.Result, error) {
				c.Submit(t.Context(), put("k"), func(agent.Result, error) { wg.Done() })
				time.Sleep(time.Millisecond) // the writer could send this call alone
			})
		}
		wg.Wait()
		if last := frames[len(frames)-1]; last != callers {
			t.Errorf("frames of %v calls: the last one should have all %d", frames, callers)
		}
	})
}

// A stream that breaks during a commit leaves it undecided: it is retried on another
// node under the same id, and only the log settles it.
func TestABrokenStreamIsRetriedElsewhereUnderTheSameID(t *testing.T) {
	for name, tc := range map[string]struct {
		second []*agent.Error
		want   agent.Code
	}{
		"result":                {[]*agent.Error{nil}, ""},
		"refused in the log":    {[]*agent.Error{final(agent.CodeConflict)}, agent.CodeConflict},
		"refused ahead of it":   {[]*agent.Error{code(agent.CodeConflict)}, agent.CodeUnknown},
		"unavailable, a result": {[]*agent.Error{code(agent.CodeUnavailable), nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires(t)
				var first *apipb.Request
				w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
					frame, err := s.Recv()
					if err != nil {
						return err
					}
					first = frame.Calls[0].GetCommit().GetRequest()
					return errors.New("broken")
				})
				f := &fake{script: tc.second}
				w.serve("b", f, f)
				c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
				_, err := c.Commit(t.Context(), put("k"))
				if agent.CodeOf(err) != tc.want {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				for _, s := range f.seen() {
					if s.Request.Client != first.Client || s.Request.Seq != first.Seq {
						t.Errorf("first %+v, then %+v", first, s.Request)
					}
				}
			})
		})
	}
}

func TestACallWhoseContextEndsReportsWhetherItWasSent(t *testing.T) {
	type end func(context.Context) (context.Context, context.CancelFunc)
	deadline := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 2*time.Second)
	}
	cancelled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(2*time.Second, cancel)
		return ctx, cancel
	}
	for name, tc := range map[string]struct {
		up   bool
		end  end
		want agent.Code
		took time.Duration
	}{
		"never sent, deadline":  {false, deadline, agent.CodeUnavailable, 2 * time.Second},
		"never sent, cancelled": {false, cancelled, agent.CodeUnavailable, 2 * time.Second},
		"sent, deadline":        {true, deadline, agent.CodeUnknown, 2 * time.Second},
		"sent, cancelled":       {true, cancelled, agent.CodeUnknown, 2 * time.Second},
		"sent, default":         {true, nil, agent.CodeUnknown, 10 * time.Second},
		"never sent, default":   {false, nil, agent.CodeUnavailable, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires(t)
				if tc.up {
					w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
						<-s.Context().Done() // reads nothing, answers nothing
						return nil
					})
				}
				ctx := context.Background()
				if tc.end != nil {
					var cancel context.CancelFunc
					ctx, cancel = tc.end(ctx)
					defer cancel()
				}
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				began := time.Now()
				_, err := c.Commit(ctx, put("k"))
				if agent.CodeOf(err) != tc.want {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				_, err = c.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetScope{}}})
				if agent.CodeOf(err) != agent.CodeUnavailable {
					t.Errorf("a read: %v", err)
				}
			})
		})
	}
}

// A node that hangs is given up after one attempt, not after the whole timeout.
func TestASilentNodeIsLeftAfterOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
			<-s.Context().Done()
			return nil
		})
		f := &fake{}
		w.serve("b", f, f)
		c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, Attempt: time.Second})
		began := time.Now()
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Second || took > 1200*time.Millisecond {
			t.Errorf("took %v", took)
		}
		began = time.Now()
		if _, err := c.Commit(t.Context(), put("k")); err != nil || time.Since(began) != 0 {
			t.Errorf("the next one: %v after %v", err, time.Since(began))
		}
	})
}

func TestClosingSettlesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		f := &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			if c.Ops[0].(*agent.PutValue).Key == "resting" {
				busy := code(agent.CodeOverloaded)
				busy.RetryAfterMS = 5000
				done(agent.Result{}, busy)
			}
		}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		parked := w.client(client.Options{Endpoints: []string{"nowhere"}, Fixed: true})
		var mu sync.Mutex
		got := map[string]agent.Code{}
		submit := func(c *client.Client, key string) {
			c.Submit(context.Background(), put(key), func(_ agent.Result, err error) {
				mu.Lock()
				defer mu.Unlock()
				got[key] = agent.CodeOf(err)
			})
		}
		submit(c, "sent")
		submit(c, "resting")
		submit(parked, "parked")
		synctest.Wait()
		_, _ = c.Close(), parked.Close()
		submit(c, "late")
		want := map[string]agent.Code{
			"sent": agent.CodeUnknown, "resting": agent.CodeOverloaded,
			"parked": agent.CodeUnavailable, "late": agent.CodeUnavailable,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestAFullClientBlocksUntilThereIsRoomOrTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hold []func()
		w := newWires(t)
		f := &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			hold = append(hold, func() { done(fine(c), nil) })
		}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, InFlightMax: 2})
		settled := 0
		for range 2 {
			c.Submit(context.Background(), put("k"), func(agent.Result, error) { settled++ })
		}
		synctest.Wait()
		began := time.Now()
		if _, err := c.Commit(within(t, time.Second), put("k")); !errors.Is(err, agent.ErrUnavailable) || time.Since(began) != time.Second {
			t.Errorf("a third: %v after %v", err, time.Since(began))
		}
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d were sent", n)
		}
		time.AfterFunc(time.Second, hold[0])
		c.Submit(context.Background(), put("k"), func(agent.Result, error) { settled++ })
		synctest.Wait()
		hold[1]()
		hold[2]()
		synctest.Wait()
		if settled != 3 {
			t.Errorf("%d settled", settled)
		}
	})
}

// The cluster keeps a limited number of answers for one client. A slow commit holds
// the window although few commits are in flight, and the next ones are of another window.
func TestTheWindowOfRequestIDsIsNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow func()
		w := newWires(t)
		f := &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			if slow == nil {
				slow = func() { done(fine(c), nil) }
				return
			}
			done(fine(c), nil)
		}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, Attempt: time.Minute, Timeout: time.Minute})
		c.Submit(context.Background(), put("k"), func(agent.Result, error) {})
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for range (agent.RequestWindowMax - 1) / 64 {
					if _, err := c.Commit(context.Background(), put("k")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for range (agent.RequestWindowMax - 1) % 64 {
			if _, err := c.Commit(context.Background(), put("k")); err != nil {
				t.Error(err)
			}
		}
		if _, err := c.Commit(within(t, time.Second), put("k")); err != nil {
			t.Errorf("past the window: %v", err)
		}
		past := f.seen()[len(f.seen())-1].Request
		if past.Client == f.seen()[0].Request.Client || past.Seq != 1 {
			t.Errorf("past the window: %+v", past)
		}
		slow()
		synctest.Wait()
		if _, err := c.Commit(within(t, time.Second), put("k")); err != nil {
			t.Errorf("after it moved: %v", err)
		}
		for _, s := range f.seen() {
			if s.Request.Seq-s.Request.Low >= agent.RequestWindowMax {
				t.Fatalf("sent %+v", s.Request)
			}
		}
		last := f.seen()[len(f.seen())-1].Request
		if last.Low != last.Seq {
			t.Errorf("alone, and yet low is behind: %+v", last)
		}
	})
}

func TestTheLargestMessagesPassAndLargerOnesAreTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		size := agent.ReadBytesMax
		f.read = func(context.Context, agent.Reads) (agent.Answers, error) {
			return agent.Answers{Answers: []agent.Answer{{Found: &agent.Value{Bytes: make([]byte, size)}}}}, nil
		}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		half := agent.CommitBytesMax/2 - 16 // the keys count too
		largest := func() agent.Commit {
			return agent.Commit{Ops: []agent.Op{
				&agent.PutValue{Key: "k", Bytes: make([]byte, half)}, &agent.PutValue{Key: "l", Bytes: make([]byte, half)},
			}}
		}
		if _, err := c.Commit(t.Context(), largest()); err != nil {
			t.Errorf("%d bytes: %v", 2*half, err)
		}
		larger := largest()
		larger.Ops = append(larger.Ops, &agent.PutValue{Key: "m", Bytes: make([]byte, 64)})
		if _, err := c.Commit(t.Context(), larger); !errors.Is(err, agent.ErrTooLarge) {
			t.Errorf("%d bytes: %v", 2*half+64, err)
		}
		get := agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
		if answers, err := c.Read(t.Context(), get); err != nil || len(answers.Answers[0].Found.(*agent.Value).Bytes) != size {
			t.Errorf("an answer of %d bytes: %v", size, err)
		}
		size = convert.ReplyBytesMax
		if _, err := c.Read(t.Context(), get); !errors.Is(err, agent.ErrTooLarge) {
			t.Errorf("an answer of %d bytes: %v", size, err)
		}
		if n := len(f.seen()); n != 1 {
			t.Errorf("%d commits arrived", n)
		}
	})
}

// Replies without a call, or without a kind, are ignored.
func TestStrayRepliesAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		w.serveRaw("a", func(s apipb.Store_ExchangeServer) error {
			for {
				frame, err := s.Recv()
				if err != nil {
					return err
				}
				_ = s.Send(&apipb.Replies{Replies: []*apipb.Reply{{Id: 999}, {}}})
				_ = s.Send(answer(frame))
				_ = s.Send(answer(frame))
			}
		})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		for range 3 {
			if _, err := c.Commit(t.Context(), put("k")); err != nil {
				t.Error(err)
			}
		}
	})
}
