package fsm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/storage"
)

// benchDims is the dimension count of a small embedding model.
const benchDims = 384

// remembering returns a machine in which agent a has n memories: sentences of 20 words out of
// 5,000, and vectors.
func remembering(b *testing.B, n int) (*subject, *rand.Rand) {
	b.Helper()
	r := openSubject(b, fsm.Options{Dir: b.TempDir(), FS: storage.Disk})
	rng := rand.New(rand.NewPCG(1, 2))
	for written := 0; written < n; {
		var commits []agent.Commit
		for range min(100, n-written) {
			commits = append(commits, agent.Commit{Ops: []agent.Op{&agent.WriteMemory{
				Agent: "a", ID: fmt.Sprintf("m%06d", written), Content: sentence(rng, 20), Embedding: vector(rng), Tags: []string{fmt.Sprint("t", written%100)},
			}}})
			written++
		}
		for _, d := range r.batch(commits...) {
			if d.Err != nil {
				b.Fatal(d.Err)
			}
		}
		r.log = nil
	}
	return r, rng
}

func sentence(rng *rand.Rand, words int) string {
	var s strings.Builder
	for range words {
		fmt.Fprintf(&s, "w%d ", int(5000*rng.Float64()*rng.Float64()))
	}
	return s.String()
}

func vector(rng *rand.Rand) []float32 {
	v := make([]float32, benchDims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		r, rng := remembering(b, n)
		for name, q := range map[string]agent.Recall{
			"recent": {Query: "x"},
			"query":  {Mode: agent.ModeQuery, Filter: agent.MemoryFilter{TagsAny: []string{"t7"}}},
			"text":   {Mode: agent.ModeText, Query: sentence(rng, 4)},
			"vector": {Mode: agent.ModeVector, Embedding: vector(rng)},
			"hybrid": {Mode: agent.ModeHybrid, Query: sentence(rng, 4), Embedding: vector(rng)},
		} {
			q.Agent = "a"
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				read[*agent.Recalled](r, &q) // builds the index
				for b.Loop() {
					read[*agent.Recalled](r, &q)
				}
			})
		}
		q := agent.Recall{Agent: "a", Mode: agent.ModeText, Query: "w1"}
		b.Run(fmt.Sprintf("text-after-a-write/%d", n), func(b *testing.B) {
			for b.Loop() {
				do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "m000000", Content: sentence(rng, 20)})
				read[*agent.Recalled](r, &q)
				r.log = nil
			}
		})
		b.Run(fmt.Sprintf("text-without-an-index/%d", n), func(b *testing.B) {
			view := r.machine.View()
			defer view.Close()
			do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: "a", ID: "m000000", Content: "x"})
			read[*agent.Recalled](r, &q) // moves past the view, which then builds its own index
			for b.Loop() {
				if a := view.Answer("", &q); a.Err != nil {
					b.Fatal(a.Err)
				}
			}
		})
		r.close()
	}
}
