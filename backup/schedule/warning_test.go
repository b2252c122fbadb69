package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/backup/schedule"
)

// The status has a warning about the destination until something fails. It is no failure.
func TestAWarningAboutTheDestinationIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.write(5)
		asked := 0
		r := c.run(t, "n1", func(o *schedule.Options) {
			o.Warning = func() string { asked++; return "it is the same disk" }
		})
		if s := r.Status(); s.LastError != "" {
			t.Errorf("before it leads the status is %+v", s)
		}
		for range 2 {
			c.lead("n1")
			time.Sleep(time.Minute)
			if s := r.Status(); s.LastError != "it is the same disk" || s.LastErrorAt != 0 || s.LastIndex != 5 {
				t.Errorf("the status is %+v", s)
			}
			c.lead("")
			time.Sleep(time.Second)
		}
		if asked != 2 {
			t.Errorf("it was asked %d times", asked)
		}
		c.memory.mu.Lock()
		c.fail = errors.New("the bucket is gone")
		c.memory.mu.Unlock()
		c.lead("n1")
		time.Sleep(time.Minute)
		if s := r.Status(); !strings.Contains(s.LastError, "the bucket is gone") || s.LastErrorAt == 0 {
			t.Errorf("after a failure the status is %+v", s)
		}
	})
}
