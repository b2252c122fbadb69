package router

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// pingerFunc pings with a function.
type pingerFunc func(addr string) error

func (f pingerFunc) Ping(_ context.Context, addr string) error { return f(addr) }

// TestPingsForgetAddresses pings hosts that come and go, and expects that only
// those of the last seconds are remembered.
func TestPingsForgetAddresses(t *testing.T) {
	for name, answer := range map[string]error{"hosts that answer": nil, "silent hosts": errors.New("no answer")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPings(pingerFunc(func(string) error { return answer }))
				for i := range 1000 {
					_ = p.ping(fmt.Sprintf("127.0.0.1:%d", i))
					time.Sleep(avoidFor / 4)
				}
				if got := len(p.answered) + len(p.silent); got > 5 {
					t.Errorf("%d addresses are remembered; want those of the last %v", got, avoidFor)
				}
			})
		})
	}
}
