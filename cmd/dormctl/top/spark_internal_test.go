package top

import (
	"testing"
	"time"
)

func TestASparkline(t *testing.T) {
	for want, h := range map[string]history{
		"    ":     nil,
		"  ▁▁":     {0, 0},
		"  ▁█":     {0, 7},
		"▂▄▆█":     {1, 3, 5, 8},
		"▃▅▇█":     {100, 1, 2, 3, 4},
		"▁▁▁█":     {0, 0.001, 1, 1000},
		"▁▂▃▄▅▆▇█": {0, 1, 2, 3, 4, 5, 6, 7},
	} {
		if got := h.spark(len([]rune(want))); got != want {
			t.Errorf("%v: %q, want %q", h, got, want)
		}
	}
	var h history
	for i := range 2 * historyMax {
		h.add(float64(i))
	}
	if len(h) != historyMax || h[0] != historyMax || h[historyMax-1] != 2*historyMax-1 {
		t.Errorf("%d values, from %v to %v", len(h), h[0], h[len(h)-1])
	}
}

func TestTextsOfSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 59900 * time.Millisecond: "59s", 61 * time.Second: "1m1s", 119 * time.Minute: "1h59m",
		49 * time.Hour: "2d1h", 5000 * 24 * time.Hour: "5000d", -90 * time.Second: "-1m30s",
	} {
		if got := spanText(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
