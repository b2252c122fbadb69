package redis

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent/memstore"
)

// A client that sends an empty line has begun no command: it may wait without end before it sends one.
func TestAnEmptyLineBeginsNoCommand(t *testing.T) {
	for _, empty := range []string{"\r\n", "  \r\n", "*0\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			s, err := New(memstore.New(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := net.Pipe()
			done := make(chan error, 1)
			go func() {
				got, err := newConn(s, theirs).next(t.Context())
				if err == nil && string(got.args[0]) != "PING" {
					t.Errorf("the command is %q", got.args)
				}
				done <- err
			}()
			for _, part := range []string{empty, "PING\r\n"} {
				if _, err := io.WriteString(ours, part); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
			}
			if err := <-done; err != nil {
				t.Errorf("after %q: %v", empty, err)
			}
		})
	}
}
