package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dormouse/recall"
)

// BenchmarkPut indexes memories of 20 words out of 5,000.
func BenchmarkPut(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 5000)
	for i := range vocabulary {
		for range 3 + rng.IntN(6) {
			vocabulary[i] += string(rune('a' + rng.IntN(26)))
		}
	}
	texts := make([]string, 1000)
	for i := range texts {
		var s strings.Builder
		for range 20 {
			fmt.Fprintf(&s, "%sing ", vocabulary[int(5000*rng.Float64()*rng.Float64())])
		}
		texts[i] = s.String()
	}
	x, n := recall.NewIndex(), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		x.Put(recall.Doc{ID: fmt.Sprint("m", n%100_000), Order: n}, texts[n%1000], nil)
	}
}
