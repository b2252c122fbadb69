package main

import (
	"slices"
	"testing"
)

func TestTheOutputOfRedisBenchmarkIsRead(t *testing.T) {
	out := "\"test\",\"rps\",\"avg_latency_ms\"\n\"SET\",\"2145.92\",\"14.7\"\n\"GET\",\"48780.49\",\"0.6\"\n"
	got, err := readRedisRates([]byte(out))
	if want := []redisRate{{"SET", 2145.92}, {"GET", 48780.49}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, wrong := range []string{"", "\"test\",\"rps\"\n", "\"SET\",\"fast\"\n", "\"SET\n"} {
		if got, err := readRedisRates([]byte(wrong)); err == nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}
