package recall

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Hit is a memory that was found.
type Hit struct {
	ID    string
	Order uint64
	Score float64 // the more the better
}

// BM25's usual constants: how soon a word that comes again counts for nothing
// more, and how much longer texts are held back.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Text finds what holds any of the query's words, by BM25 over all of the
// index: the best limit of those that keep lets through, and how many those
// are in all.
func (x *Index) Text(query string, keep func(*Doc) bool, limit int) (hits []Hit, matched int) {
	scores := make(map[uint32]float64)
	mean := float64(x.length) / float64(max(x.live, 1))
	for _, word := range queryWords(query) {
		list := x.words[word]
		holding := 0
		for _, p := range list {
			if !x.docs[p.slot].dead {
				holding++
			}
		}
		rarity := math.Log(1 + (float64(x.live-holding)+0.5)/(float64(holding)+0.5))
		for _, p := range list {
			if s := &x.docs[p.slot]; !s.dead {
				n := float64(p.count)
				scores[p.slot] += rarity * n * (bm25K1 + 1) / (n + bm25K1*(1-bm25B+bm25B*float64(s.length)/mean))
			}
		}
	}
	top := topHits{limit: limit}
	for at, score := range scores {
		if d := &x.docs[at].Doc; keep(d) {
			matched++
			top.add(Hit{ID: d.ID, Order: d.Order, Score: score})
		}
	}
	return top.sorted(), matched
}

// Vector finds what is nearest to the query by the cosine of the angle between
// them, exactly: as Text does. The query is as long as the index's vectors.
func (x *Index) Vector(query []float32, keep func(*Doc) bool, limit int) (hits []Hit, matched int) {
	if x.dims == 0 || len(query) != x.dims {
		return nil, 0
	}
	query = unit(query)
	top := topHits{limit: limit}
	for i := range x.docs {
		s := &x.docs[i]
		if s.dead || s.vector < 0 || !keep(&s.Doc) {
			continue
		}
		matched++
		from := int(s.vector) * x.dims
		top.add(Hit{ID: s.ID, Order: s.Order, Score: float64(dot(query, x.vectors[from:from+x.dims]))})
	}
	return top.sorted(), matched
}

// rrfK is how much a rank counts for at least, in reciprocal rank fusion: 60
// is what its authors found (Cormack, Clarke, Büttcher 2009).
const rrfK = 60

// Fuse merges ranked lists: each gives 1/(fusion+rank) to its hits. It tells
// the best limit, and how many there are in all.
func Fuse(limit int, lists ...[]Hit) (hits []Hit, matched int) {
	merged := map[string]Hit{}
	for _, list := range lists {
		for rank, hit := range list {
			score := merged[hit.ID].Score + 1/float64(rrfK+rank+1)
			merged[hit.ID] = Hit{ID: hit.ID, Order: hit.Order, Score: score}
		}
	}
	top := topHits{limit: limit}
	for _, hit := range merged {
		top.add(hit)
	}
	return top.sorted(), len(merged)
}

// better orders hits: by score, then the last written first, so that answers
// are the same on all nodes.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Order, a.Order))
}

// topHits keeps the best hits that it is offered: a heap with the worst of them
// on top.
type topHits struct {
	hits  []Hit
	limit int
}

func (b *topHits) Len() int           { return len(b.hits) }
func (b *topHits) Less(i, j int) bool { return better(b.hits[i], b.hits[j]) > 0 }
func (b *topHits) Swap(i, j int)      { b.hits[i], b.hits[j] = b.hits[j], b.hits[i] }

// Push and Pop are heap.Interface's; nothing is ever popped.
func (b *topHits) Push(x any) { b.hits = append(b.hits, x.(Hit)) } //nolint:forcetypeassert // offer pushes hits

// Pop implements heap.Interface.
func (b *topHits) Pop() any { return nil }

func (b *topHits) add(h Hit) {
	switch {
	case len(b.hits) < b.limit:
		heap.Push(b, h)
	case b.limit > 0 && better(h, b.hits[0]) < 0:
		b.hits[0] = h
		heap.Fix(b, 0)
	}
}

func (b *topHits) sorted() []Hit {
	slices.SortFunc(b.hits, better)
	return b.hits
}

// unit is a vector of that direction and of length 1.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(square)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * scale)
	}
	return out
}

// dot goes four at a time, so that one sum does not wait for the other.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		p, q := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += p[0] * q[0]
		s1 += p[1] * q[1]
		s2 += p[2] * q[2]
		s3 += p[3] * q[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
