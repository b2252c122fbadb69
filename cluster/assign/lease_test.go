package assign

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const leaseTTL = 3 * time.Second

func never() <-chan struct{} { return nil }

// keeping keeps a lease by what renew says, and tells how that ends.
func keeping(t *testing.T, l *Lease, renew func(context.Context) (bool, error)) (kept <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- l.Keep(t.Context(), leaseTTL, never, renew) }()
	synctest.Wait()
	return done
}

// A renewal that arrived after the end would begin the lease again.
func TestTheEndOfALeaseComesAfterItsRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := NewLease(), time.Now()
		under, renewals := false, 0
		kept := keeping(t, l, func(context.Context) (bool, error) {
			under = true
			time.Sleep(100 * time.Millisecond)
			under = false
			renewals++
			return true, nil
		})
		told := 0
		tell := func(context.Context) {
			if told++; under || renewals != 1 {
				t.Errorf("ended after %d renewals, under way: %v", renewals, under)
			}
		}
		l.End(t.Context(), tell)
		l.End(t.Context(), tell)
		if took := time.Since(began); told != 1 || took != 100*time.Millisecond || !l.Until().IsZero() {
			t.Errorf("told %d times, after %v; the lease stands until %v", told, took, l.Until())
		}
		if err := <-kept; err != nil || renewals != 1 {
			t.Errorf("%d renewals, %v", renewals, err)
		}
		select {
		case <-l.Begun():
			t.Error("the renewal that nobody waited for any more began it")
		default:
		}
	})
}

// The end does not wait without a bound for a renewal that is not answered.
func TestARenewalThatHangsDoesNotKeepTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := NewLease(), time.Now()
		kept := keeping(t, l, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, nil
		})
		var left time.Duration
		l.End(t.Context(), func(ctx context.Context) {
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
		})
		if took := time.Since(began); took != left || left != 500*time.Millisecond {
			t.Errorf("told after %v, with %v left", took, left)
		}
		if err := <-kept; err != nil {
			t.Error(err)
		}
	})
}

// …nor does that renewal go on to another node once the goodbye is said.
func TestARenewalThatHangsAsksNobodyElseAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, told := NewLease(), false
		kept := keeping(t, l, func(ctx context.Context) (bool, error) {
			dead, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-dead.Done() // the first node
			if ctx.Err() == nil {
				t.Errorf("another node is asked; told already: %v", told)
			}
			return ctx.Err() == nil, nil
		})
		l.End(t.Context(), func(context.Context) {
			told = true
			time.Sleep(400 * time.Millisecond)
		})
		if err := <-kept; err != nil || !told {
			t.Errorf("%v; told: %v", err, told)
		}
	})
}

func TestALeaseIsKeptByItsThirds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := NewLease(), time.Now()
		refused := errors.New("refused")
		var at []time.Duration
		kept := keeping(t, l, func(context.Context) (bool, error) {
			switch at = append(at, time.Since(began)); len(at) {
			case 1: // none yet: again soon
				return false, nil
			case 4:
				return false, refused
			default:
				return true, nil
			}
		})
		<-l.Begun()
		until := l.Until().Sub(began)
		if err := <-kept; !errors.Is(err, refused) {
			t.Errorf("it ends with %v", err)
		}
		if until != at[1]+leaseTTL*19/20 {
			t.Errorf("begun at %v, it stands until %v", at[1], until)
		}
		if at[1] >= leaseTTL/6 || at[2]-at[1] != leaseTTL/3 || at[3]-at[2] != leaseTTL/3 {
			t.Errorf("renewed at %v", at)
		}
		l.End(t.Context(), func(context.Context) {})
	})
}

// The time of a slow renewal is not lost: the next one begins a third of the ttl after it began.
func TestASlowRenewalIsFollowedBySoonerOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLease()
		var lapsed time.Duration
		var ends time.Time // of the lease
		kept := keeping(t, l, func(context.Context) (bool, error) {
			if !ends.IsZero() {
				lapsed = max(lapsed, time.Since(ends))
			}
			time.Sleep(2 * leaseTTL / 3)
			ends = time.Now().Add(leaseTTL/3 - leaseTTL/driftPart)
			return true, nil
		})
		time.Sleep(5 * leaseTTL)
		l.End(t.Context(), func(context.Context) {})
		if err := <-kept; err != nil || lapsed > 0 {
			t.Errorf("a renewal began %v after the lease had lapsed; %v", lapsed, err)
		}
	})
}

func TestALeaseThatNobodyAskedForIsNotEnded(t *testing.T) {
	l := NewLease()
	l.End(t.Context(), func(context.Context) { t.Error("told of it") })
	err := l.Keep(t.Context(), leaseTTL, never, func(context.Context) (bool, error) {
		t.Error("asked for one after its end")
		return true, nil
	})
	if err != nil || !l.Until().IsZero() {
		t.Errorf("%v, until %v", err, l.Until())
	}
}
