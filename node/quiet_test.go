package node

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestAFloodOfErrorsIsLoggedInPart(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	r := newRepeats()
	r.now = func() time.Time { return now }
	log := hclog.New(&hclog.LoggerOptions{Output: &out, Exclude: r.exclude})
	for range 1000 {
		log.Named("http").Error("a request failed")
	}
	log.Error("another failure")
	for range 100 {
		log.Info("news")
	}
	now = now.Add(repeatsEvery)
	log.Error("a request failed")
	for message, want := range map[string]int{"a request failed": repeatsMax + 1, "another failure": 1, "news": 100} {
		if got := strings.Count(out.String(), message); got != want {
			t.Errorf("%q is logged %d times, want %d", message, got, want)
		}
	}
}
