package membership

import (
	"testing"
	"time"
)

func TestFasterVoter(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		own    time.Duration
		others map[string]time.Duration
		want   string
	}{
		"alone":                         {time.Second, nil, ""},
		"no other has written":          {time.Second, map[string]time.Duration{"n2": 0}, ""},
		"equally slow":                  {200 * ms, map[string]time.Duration{"n2": 180 * ms, "n3": 190 * ms}, ""},
		"slower, and still fast":        {40 * ms, map[string]time.Duration{"n2": ms, "n3": ms}, ""},
		"slow":                          {200 * ms, map[string]time.Duration{"n2": 6 * ms, "n3": 5 * ms}, "n3"},
		"slow, as another":              {200 * ms, map[string]time.Duration{"n2": 200 * ms, "n3": 5 * ms}, "n3"},
		"not four times as slow":        {200 * ms, map[string]time.Duration{"n2": 51 * ms}, ""},
		"equal voters go by their name": {200 * ms, map[string]time.Duration{"n3": ms, "n2": ms}, "n2"},
	} {
		if got := fasterVoter(c.own, c.others); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
