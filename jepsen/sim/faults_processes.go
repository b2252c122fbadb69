package sim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pausing pauses a host's process, as SIGSTOP does.
func pausing(which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := which(a)
		resume := h.pause()
		return names(h), func(context.Context) error {
			resume()
			return nil
		}
	}
}

func pauseMajority(_ context.Context, a *act) (string, func(context.Context) error) {
	hosts := a.shuffled()[:len(a.hosts)/2+1]
	var resume []func()
	for _, h := range hosts {
		resume = append(resume, h.pause())
	}
	return names(hosts...), func(context.Context) error {
		for _, one := range resume {
			one()
		}
		return nil
	}
}

// pauseLeaders pauses the leader for longer than an election takes, lets it go on, and
// pauses the next leader: old leaders wake while there is a new one.
func pauseLeaders(ctx context.Context, a *act) (string, func(context.Context) error) {
	return "each in turn", a.repeatedly(ctx, func() {
		resume := a.leads().pause()
		sleep(ctx, between(a.draw, 500*time.Millisecond, 3*time.Second))
		resume()
		sleep(ctx, between(a.draw, 10*time.Millisecond, time.Second))
	})
}

// repeatedly does something in the background until the fault ends.
func (a *act) repeatedly(ctx context.Context, do func()) (stop func(context.Context) error) {
	deadline := time.Now().Add(a.For)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for time.Now().Before(deadline) && ctx.Err() == nil {
			do()
		}
	}()
	return func(context.Context) error {
		<-done
		return nil
	}
}

// skew draws how far a clock jumps: 1 ms to 1 h, either way, evenly by its logarithm.
func (a *act) skew() time.Duration {
	d := spread(a.draw, time.Millisecond, time.Hour).Round(time.Millisecond)
	if a.draw.IntN(2) == 0 {
		return -d
	}
	return d
}

// rightClocks sets the clocks of hosts right again.
func rightClocks(hosts ...*host) func(context.Context) error {
	return func(context.Context) error {
		for _, h := range hosts {
			h.setClock(0)
		}
		return nil
	}
}

func jump(which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h, by := which(a), a.skew()
		h.setClock(by)
		return fmt.Sprintf("%s by %v", h.name, by), rightClocks(h)
	}
}

// ahead cuts a follower off and sets the leader's clock ahead by more than a lease, which then
// must not end. The jump is so short that time passes it soon: until then the log's wall time
// stands still.
func ahead(_ context.Context, a *act) (string, func(context.Context) error) {
	h, alone := a.leads(), a.follows()
	by := spread(a.draw, 6*time.Second, 12*time.Second).Round(time.Millisecond)
	join := a.links(func(from, to string) bool { return from == alone.name || to == alone.name }, cut)
	h.setClock(by)
	return fmt.Sprintf("%s by %v, %s is cut off", h.name, by, alone.name), func(ctx context.Context) error {
		return errors.Join(join(ctx), rightClocks(h)(ctx))
	}
}

func jumpApart(_ context.Context, a *act) (string, func(context.Context) error) {
	what := ""
	for _, h := range a.hosts {
		by := a.skew()
		h.setClock(by)
		what += fmt.Sprintf("%s by %v ", h.name, by)
	}
	return what, rightClocks(a.hosts...)
}

// strobe sets a clock wrong and right again, many times a second.
func strobe(ctx context.Context, a *act) (string, func(context.Context) error) {
	h, by, period := a.leads(), a.skew(), between(a.draw, 2*time.Millisecond, 400*time.Millisecond)
	stop := a.repeatedly(ctx, func() {
		h.setClock(by)
		sleep(ctx, period)
		h.setClock(0)
		sleep(ctx, period)
	})
	return fmt.Sprintf("%s by %v each %v", h.name, by, period), stop
}

// driftEvery is how often the clock is set while it drifts.
const driftEvery = 20 * time.Millisecond

// drift makes a clock go faster or slower than time, by up to 2 s a second.
func drift(ctx context.Context, a *act) (string, func(context.Context) error) {
	h, rate := a.leads(), float64(a.draw.IntN(4001)-2000)/1000
	began := time.Now()
	stop := a.repeatedly(ctx, func() {
		h.setClock(time.Duration(rate * float64(time.Since(began))))
		sleep(ctx, driftEvery)
	})
	return fmt.Sprintf("%s by %+.3f s a second", h.name, rate), func(ctx context.Context) error {
		err := stop(ctx)
		h.setClock(0)
		return err
	}
}
