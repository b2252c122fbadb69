package main

import "testing"

func TestGoLeavesMemoryForTheEngine(t *testing.T) {
	for _, c := range []struct{ limit, cache, want int64 }{
		{1000, 100, 800},
		{1000, 5000, 250},
		{0, 0, 0},
	} {
		if got := goMemory(c.limit, c.cache); got != c.want {
			t.Errorf("goMemory(%d, %d) is %d, want %d", c.limit, c.cache, got, c.want)
		}
	}
}
