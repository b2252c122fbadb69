package eraser_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/eraser"
)

// world simulates an Eraser's source, owners and log.
type world struct {
	agent.Instances

	mu    sync.Mutex
	list  []agent.Ending
	ended map[agent.Ending]bool // :: → whether it was awake
	leads bool
	led   chan struct{}
	news  chan struct{}
	stop  func(ctx context.Context, key string) error // the owner's answer
	stops int
	fails int // number of reads of the list that will fail
	reads int // number of reads of the list
}

// run starts an Eraser in a world, until the test ends.
func run(t *testing.T, w *world) {
	t.Helper()
	w.ended, w.led, w.news = map[agent.Ending]bool{}, make(chan struct{}), make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- eraser.New(eraser.Options{Source: w, Leader: w, Instances: w, Log: w}).Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (w *world) Endings(from string, limit int) ([]agent.Ending, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads++; w.fails > 0 {
		w.fails--
		return nil, "", agent.Errorf(agent.CodeInternal, "the disk does not answer")
	}
	at := slices.IndexFunc(w.list, func(e agent.Ending) bool { return e.Key >= from })
	if at < 0 {
		return nil, "", nil
	}
	rest := w.list[at:]
	if len(rest) > limit {
		return slices.Clone(rest[:limit]), rest[limit].Key, nil
	}
	return slices.Clone(rest), "", nil
}

func (w *world) WatchEndings() (<-chan struct{}, func()) { return w.news, func() {} }

// Owned returns true for all instances but "free".
func (w *world) Owned(ref agent.InstanceRef) bool { return ref.Key != "free" }

func (w *world) IsLeader() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leads
}

func (w *world) LeaderChanged() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.led
}

// lead sets whether the node leads.
func (w *world) lead(leads bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leads = leads
	close(w.led)
	w.led = make(chan struct{})
}

// add adds instances to the list.
func (w *world) add(index uint64, keys ...string) {
	w.mu.Lock()
	for _, key := range keys {
		w.list = append(w.list, agent.Ending{InstanceRef: agent.InstanceRef{Scope: "s", Manager: "m", Key: key}, Index: index})
	}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *world) Stop(ctx context.Context, ref agent.InstanceRef) error {
	w.mu.Lock()
	w.stops++
	stop := w.stop
	w.mu.Unlock()
	if !agent.OnlyErased(ctx) {
		return agent.Errorf(agent.CodeInternal, "the stop would end an instance that began after the erasure")
	}
	return stop(ctx, ref.Key)
}

func (w *world) EndInstance(_ context.Context, e agent.Ending, awake bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, twice := w.ended[e]; twice {
		return agent.Errorf(agent.CodeInternal, "%+v ended twice", e)
	}
	w.ended[e] = awake
	w.list = slices.DeleteFunc(w.list, func(o agent.Ending) bool { return o == e })
	return nil
}

func (w *world) awake(index uint64, key string) (awake, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	awake, ended = w.ended[agent.Ending{InstanceRef: agent.InstanceRef{Scope: "s", Manager: "m", Key: key}, Index: index}]
	return awake, ended
}

func TestTheLeaderEndsWhatIsOnTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{stop: func(_ context.Context, key string) error {
			switch key {
			case "asleep":
				return agent.Errorf(agent.CodeNotFound, "it is not awake")
			case "free":
				t.Error("nobody owns it, and somebody was asked")
			}
			return nil
		}}
		run(t, w)
		w.add(1, "asleep", "awake", "free")
		if time.Sleep(time.Minute); len(w.ended) != 0 {
			t.Fatal("a node that does not lead ended something")
		}
		w.lead(true)
		synctest.Wait()
		for key, want := range map[string]bool{"asleep": false, "awake": true, "free": false} {
			if awake, ended := w.awake(1, key); !ended || awake != want {
				t.Errorf("%s: ended %v, awake %v", key, ended, awake)
			}
		}
		w.add(2, "awake")
		synctest.Wait()
		if _, ended := w.awake(2, "awake"); !ended {
			t.Error("what came later was not ended")
		}
	})
}

// An owner that hangs is called again and again, and does not delay other instances.
func TestAnOwnerThatHangsHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Minute)
		w := &world{stop: func(ctx context.Context, key string) error {
			if key != "hung" || time.Now().After(until) {
				return nil
			}
			<-ctx.Done()
			return agent.Errorf(agent.CodeUnavailable, "it does not answer")
		}}
		run(t, w)
		w.lead(true)
		w.add(1, "hung")
		synctest.Wait()
		w.add(2, "other")
		synctest.Wait()
		if _, ended := w.awake(2, "other"); !ended {
			t.Error("the other one waits")
		}
		if _, ended := w.awake(1, "hung"); ended {
			t.Error("it ended though its owner did not answer")
		}
		time.Sleep(2 * time.Minute)
		if _, ended := w.awake(1, "hung"); !ended || w.stops > 20 {
			t.Errorf("ended %v, after it was asked %d times", ended, w.stops)
		}
	})
}

// A list that cannot be read is read again after a pause, from where it stopped.
func TestAListThatCannotBeReadIsReadAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{stop: func(context.Context, string) error { return nil }, fails: 20}
		run(t, w)
		w.add(1, "awake")
		w.lead(true)
		time.Sleep(5 * time.Second)
		w.mu.Lock()
		reads := w.reads
		w.mu.Unlock()
		if reads < 2 || reads > 20 {
			t.Errorf("the list was read %d times in 5 s", reads)
		}
		time.Sleep(time.Minute)
		if _, ended := w.awake(1, "awake"); !ended {
			t.Error("it has not ended though the list can be read again")
		}
	})
}

// A node that loses leadership leaves pending work to the next leader.
func TestWhoLeadsNoMoreEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{stop: func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		run(t, w)
		w.lead(true)
		w.add(1, "a")
		synctest.Wait()
		w.lead(false)
		if time.Sleep(time.Minute); w.stops != 1 || len(w.ended) != 0 {
			t.Errorf("asked %d times, ended %v", w.stops, w.ended)
		}
	})
}

// An instance may be awake at an owner that cannot be reached.
func TestAnInstanceHasNotEndedWhileItsOwnerCannotBeReached(t *testing.T) {
	for _, code := range []agent.Code{agent.CodeUnavailable, agent.CodeUnknown, agent.CodeNotOwner, agent.CodeOverloaded} {
		synctest.Test(t, func(t *testing.T) {
			until := time.Now().Add(time.Minute)
			w := &world{stop: func(context.Context, string) error {
				if time.Now().Before(until) {
					return agent.Errorf(code, "the owner did not end it")
				}
				return nil
			}}
			run(t, w)
			w.lead(true)
			w.add(1, "a")
			time.Sleep(50 * time.Second)
			if _, ended := w.awake(1, "a"); ended {
				t.Errorf("%s: it counts as ended", code)
			}
			time.Sleep(20 * time.Second)
			if awake, ended := w.awake(1, "a"); !ended || !awake {
				t.Errorf("%s: ended %v, awake %v, after its owner has ended it", code, ended, awake)
			}
		})
	}
}

// A node that leads again ends what waited for its turn when it led before.
func TestANodeThatLeadsAgainEndsWhatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		hangs.Store(true)
		w := &world{stop: func(ctx context.Context, _ string) error {
			if hangs.Load() {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}}
		run(t, w)
		w.lead(true)
		var keys []string
		for i := range 40 {
			keys = append(keys, fmt.Sprintf("%02d", i))
		}
		w.add(1, keys...)
		synctest.Wait()
		w.lead(false)
		time.Sleep(time.Minute)
		hangs.Store(false)
		w.lead(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(w.ended) != len(keys) {
			t.Errorf("%d of %d instances have ended", len(w.ended), len(keys))
		}
	})
}
