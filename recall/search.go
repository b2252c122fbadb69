package recall

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Hit is a memory that a search found.
type Hit struct {
	ID    string
	Order uint64
	Score float64 // higher is better
}

// The usual constants of BM25: saturation of repeated words, and penalty of
// long texts.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Text finds the memories with any of the query's words, ranked by BM25 over
// the whole index. It returns the best limit memories that keep accepts, and
// the number of all of them.
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

// Vector finds the memories nearest to the query by cosine similarity, without
// approximation. Its results are those of Text. The query must have the length
// of the index's vectors.
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

// Hybrid merges the best of Text and of Vector, at most each of both, with Fuse. Its results are those of Text: matched
// counts what any of them finds, also beyond each.
func (x *Index) Hybrid(query string, vector []float32, keep func(*Doc) bool, limit, each int) (hits []Hit, matched int) {
	byText, texts := x.Text(query, keep, each)
	byVector, vectors := x.Vector(vector, keep, each)
	hits, matched = Fuse(limit, byText, byVector)
	if texts > len(byText) || vectors > len(byVector) {
		matched = texts + vectors - x.foundByBoth(query, vector, keep)
	}
	return hits, matched
}

// foundByBoth returns how many memories that keep accepts Text finds, and Vector too.
func (x *Index) foundByBoth(query string, vector []float32, keep func(*Doc) bool) int {
	if len(vector) != x.dims {
		return 0
	}
	found := map[uint32]bool{}
	for _, word := range queryWords(query) {
		for _, p := range x.words[word] {
			if s := &x.docs[p.slot]; !s.dead && s.vector >= 0 && !found[p.slot] && keep(&s.Doc) {
				found[p.slot] = true
			}
		}
	}
	return len(found)
}

// rrfK is the constant of reciprocal rank fusion, as its authors chose it
// (Cormack, Clarke, Büttcher 2009).
const rrfK = 60

// Fuse merges ranked lists: a hit scores 1/(rrfK+rank) in each list. It returns
// the best limit hits, and the number of all hits.
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

// better orders hits by score, and newer ones first, so results are the same on
// all nodes.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Order, a.Order))
}

// topHits keeps the best limit hits in a heap with the worst on top.
type topHits struct {
	hits  []Hit
	limit int
}

func (b *topHits) Len() int           { return len(b.hits) }
func (b *topHits) Less(i, j int) bool { return better(b.hits[i], b.hits[j]) > 0 }
func (b *topHits) Swap(i, j int)      { b.hits[i], b.hits[j] = b.hits[j], b.hits[i] }

// Push implements heap.Interface.
func (b *topHits) Push(x any) { b.hits = append(b.hits, x.(Hit)) } //nolint:forcetypeassert // offer pushes hits

// Pop implements heap.Interface. It is never called.
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

// unit returns the vector of length 1 in the same direction.
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

// dot uses four sums so that the additions do not wait for each other.
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
