package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/access"
	"dormouse/agent/memstore"
	"dormouse/internal/budget"
)

// silent is a connection whose client reads all replies.
type silent struct {
	t *testing.T
	net.Conn
	began time.Time
	ended chan time.Duration // how long the server kept the connection
}

// connect serves a connection of a new server. The caller is in a bubble.
func connect(t *testing.T, o Options) *silent {
	t.Helper()
	s, err := New(memstore.New(), o)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	c := &silent{t, ours, time.Now(), make(chan time.Duration, 1)}
	s.begin(theirs)
	go func() {
		_, _ = io.Copy(io.Discard, ours) // until the server closes it
		c.ended <- time.Since(c.began)
	}()
	t.Cleanup(func() {
		_ = ours.Close()
		if err := s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// send sends parts with a pause after each, until the server closes the connection.
func (c *silent) send(pause time.Duration, parts ...string) {
	for _, part := range parts {
		if _, err := io.WriteString(c, part); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// endsAfter fails the test unless the server closed the connection at that time.
func (c *silent) endsAfter(want time.Duration) {
	c.t.Helper()
	select {
	case got := <-c.ended:
		if got != want {
			c.t.Errorf("the connection ended after %v, want %v", got, want)
		}
	case <-time.After(24 * time.Hour):
		c.t.Error("the connection does not end")
	}
}

// set returns a SET of n bytes.
func set(n int) string {
	return fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", n, strings.Repeat("v", n))
}

// A client that leaves a large transaction open, or goes on with it without end, gives its bytes back.
func TestALargeTransactionEndsInTime(t *testing.T) {
	for name, pings := range map[string][]string{
		"silent":      nil,
		"pings":       strings.SplitAfter(strings.Repeat("PING\r\n", 100), "\n"),
		"split pings": strings.SplitAfter("P"+strings.Repeat("ING\r\nP", 100), "P"),
		"no commands": strings.SplitAfter(strings.Repeat("*1\r\n$7\r\nnothing\r\n", 100), "nothing\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := budget.New(8 << 20)
				c := connect(t, Options{Bytes: pool})
				c.send(0, "*1\r\n$5\r\nMULTI\r\n", set(1<<20))
				synctest.Wait()
				if used := pool.Used(); used < 1<<20 {
					t.Errorf("%d bytes count, want a MiB", used)
				}
				c.send(9*time.Second, pings...)
				c.endsAfter(multiTimeout)
				if used := pool.Used(); used != 0 {
					t.Errorf("%d bytes still count", used)
				}
			})
		})
	}
}

// A small transaction, one that was discarded and one that was made have no time limit.
func TestAConnectionWithoutALargeTransactionStays(t *testing.T) {
	multi := "*1\r\n$5\r\nMULTI\r\n"
	for name, begin := range map[string][]string{
		"small":     {multi, set(1 << 10)},
		"discarded": {multi, set(1 << 20), "*1\r\n$7\r\nDISCARD\r\n"},
		"made":      {multi, set(1 << 20), "*1\r\n$4\r\nEXEC\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, Options{})
				c.send(0, begin...)
				c.send(time.Hour, "*1\r\n$4\r\nPING\r\n", "*1\r\n$4\r\nQUIT\r\n")
				c.endsAfter(time.Hour)
			})
		})
	}
}

// Neither RESET nor the first byte of a next command gives a client more time to authenticate.
func TestAClientAuthenticatesInTime(t *testing.T) {
	for name, parts := range map[string][]string{
		"silent":         nil,
		"resets":         strings.SplitAfter(strings.Repeat("*1\r\n$5\r\nRESET\r\n", 10), "RESET\r\n"),
		"split commands": strings.SplitAfter("*"+strings.Repeat("1\r\n$4\r\nPING\r\n*", 10), "*"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, Options{Auth: access.NewAuthenticator(access.Options{})})
				c.send(4*time.Second, parts...)
				c.endsAfter(authTimeout)
			})
		})
	}
}
