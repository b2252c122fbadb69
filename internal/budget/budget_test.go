package budget_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/internal/budget"
)

func TestACallerHasAtMostHalf(t *testing.T) {
	p := budget.New(100)
	if !p.Try("a", 50) || p.Try("a", 1) {
		t.Fatal("the share of a caller is not half of the pool")
	}
	if !p.Fits("b", 50) || !p.Try("b", 30) || !p.Try("c", 20) || p.Try("d", 1) || p.Fits("d", 1) {
		t.Fatal("the pool does not hold its total")
	}
	p.Give("a", 50)
	if !p.Try("d", 50) || p.Used() != 100 {
		t.Fatalf("%d are used, want 100", p.Used())
	}
	p.Force("d", 10)
	p.Give("d", 60)
	p.Give("b", 30)
	p.Give("c", 20)
	if !p.Try("e", 80) {
		t.Fatal("the first of a caller does not fit, though there is room")
	}
	p.Give("e", 80)
	if !p.Try("e", 1000) || p.Used() != 1000 {
		t.Fatal("one that is larger than an empty pool is never admitted")
	}
}

func TestTakeWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := budget.New(10)
		p.Force("a", 10)
		took := make(chan error, 1)
		go func() { took <- p.Take(t.Context(), "b", 5) }()
		synctest.Wait()
		p.Give("a", 2)
		synctest.Wait()
		if len(took) != 0 {
			t.Fatal("took more than there was")
		}
		p.Give("a", 3)
		if err := <-took; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Take(ctx, "c", 1); !errors.Is(err, context.DeadlineExceeded) || p.Used() != 10 {
			t.Fatalf("error %v and %d used, want a deadline and 10", err, p.Used())
		}
	})
}

func TestANilPoolHasNoBound(t *testing.T) {
	var p *budget.Pool
	p.Force("a", 1)
	p.Give("a", 1)
	if !p.Try("a", 1<<60) || !p.Fits("a", 1) || p.Take(t.Context(), "a", 1) != nil || p.Used() != 0 {
		t.Fatal("a nil pool refuses")
	}
}

func TestACallerIsAnAddressWithoutItsPort(t *testing.T) {
	for remote, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1", "[::ffff:10.0.0.1]:5": "10.0.0.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:5": "fe80::/64", "name:80": "name", "pipe": "pipe",
	} {
		if got := budget.Caller(remote); got != want {
			t.Errorf("Caller(%q) is %q, want %q", remote, got, want)
		}
	}
}
