package raftlog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestTheTimeOfWritesIsAveraged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &FailStop{logger: hclog.NewNullLogger()}
		write := func(took time.Duration) {
			if err := l.write("write", func() error { time.Sleep(took); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.FlushTime(); got != 0 {
			t.Errorf("%v before the first write", got)
		}
		write(2 * time.Millisecond)
		if got := l.FlushTime(); got != 2*time.Millisecond {
			t.Errorf("%v after one write of 2ms", got)
		}
		for range 100 {
			write(200 * time.Millisecond)
		}
		if got := l.FlushTime(); got < 190*time.Millisecond {
			t.Errorf("%v after 100 writes of 200ms", got)
		}
		for range 200 {
			write(time.Millisecond)
		}
		if got := l.FlushTime(); got > 2*time.Millisecond {
			t.Errorf("%v after 200 writes of 1ms", got)
		}
		if err := l.write("write", func() error { return errors.New("broken") }); err == nil {
			t.Error("a failed write succeeds")
		}
	})
}
