package recall_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/recall"
)

func all(*recall.Doc) bool { return true }

// filled returns an index of texts with the ids a, b, c and so on.
func filled(texts ...string) *recall.Index {
	x := recall.NewIndex()
	for i, text := range texts {
		x.Put(recall.Doc{ID: string(rune('a' + i)), Order: uint64(i + 1)}, text, nil)
	}
	return x
}

func ids(hits []recall.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func TestTextIsFoundBestFirst(t *testing.T) {
	x := filled(
		"the cat sat on the mat",
		"dogs chase cats",
		"a cat, a cat, a cat and nothing else",
		"the weather in Tokyo",
		"東京の天気",
	)
	for _, c := range []struct{ query, want string }{
		{"cats", "c b a"},
		{"cat on mat", "a c b"},
		{"weather", "d"},
		{"the", "a d"},
		{"天気", "e"},
		{"東京", "e"},
		{"京", "e"},
		{"unicorn", ""},
		{"", ""},
		{"?!", ""},
	} {
		hits, matched := x.Text(c.query, all, 10)
		if got := ids(hits); got != c.want || matched != len(hits) {
			t.Errorf("%q finds %q (%d), want %q", c.query, got, matched, c.want)
		}
	}
	hits, matched := x.Text("cat", all, 2)
	if got := ids(hits); got != "c b" || matched != 3 {
		t.Errorf("the best two are %q of %d", got, matched)
	}
	hits, matched = x.Text("cat", func(d *recall.Doc) bool { return d.ID != "c" }, 10)
	if got := ids(hits); got != "b a" || matched != 2 {
		t.Errorf("without c: %q of %d", got, matched)
	}
}

// The score is BM25, computed by hand for one document.
func TestTheScoreIsBM25(t *testing.T) {
	x := filled("apple banana", "apple apple cherry dates", "elder")
	hits, _ := x.Text("apple cherry", all, 10)
	idf := func(holding float64) float64 { return math.Log(1 + (3-holding+0.5)/(holding+0.5)) }
	term := func(n, words float64) float64 { return n * 2.2 / (n + 1.2*(0.25+0.75*words/(7.0/3))) }
	want := idf(2)*term(2, 4) + idf(1)*term(1, 4)
	if got := hits[0]; got.ID != "b" || math.Abs(got.Score-want) > 1e-12 {
		t.Fatalf("%+v, want %v", got, want)
	}
}

func TestEqualScoresAreInOrderOfWritingLastFirst(t *testing.T) {
	x := filled("same", "same", "same")
	if hits, _ := x.Text("same", all, 2); ids(hits) != "c b" {
		t.Fatalf("%v", hits)
	}
}

func TestVectorsAreFoundByTheirAngle(t *testing.T) {
	x := recall.NewIndex()
	for i, v := range [][]float32{{1, 0, 0, 0, 0}, {10, 10, 0, 0, 0}, {0, 0, 0, 0, 3}, {-1, 0, 0, 0, 0}, nil} {
		x.Put(recall.Doc{ID: string(rune('a' + i)), Order: uint64(i + 1)}, "", v)
	}
	hits, matched := x.Vector([]float32{2, 0.1, 0, 0, 0}, all, 10)
	if ids(hits) != "a b c d" || matched != 4 {
		t.Fatalf("%v of %d", hits, matched)
	}
	for i, want := range []float64{0.99875, 0.74154, 0, -0.99875} {
		if math.Abs(hits[i].Score-want) > 1e-5 {
			t.Errorf("%+v, want %v", hits[i], want)
		}
	}
	if hits, _ := x.Vector([]float32{1}, all, 10); hits != nil {
		t.Errorf("a vector of another length finds %v", hits)
	}
}

func TestRanksAreFused(t *testing.T) {
	hit := func(id string, order uint64) recall.Hit { return recall.Hit{ID: id, Order: order, Score: 7} }
	text := []recall.Hit{hit("a", 1), hit("b", 2)}
	vector := []recall.Hit{hit("c", 3), hit("b", 2)}
	hits, matched := recall.Fuse(10, text, vector)
	if ids(hits) != "b c a" || matched != 3 {
		t.Fatalf("%v of %d", hits, matched)
	}
	if want := 2.0 / 62; math.Abs(hits[0].Score-want) > 1e-12 {
		t.Errorf("b scores %v, want %v", hits[0].Score, want)
	}
}

// The rankings that are merged are cut, and the number of memories that matched is not.
func TestAHybridSearchCountsAllThatMatch(t *testing.T) {
	x, order := recall.NewIndex(), uint64(0)
	put := func(text string, vector []float32) {
		order++
		x.Put(recall.Doc{ID: fmt.Sprint(order), Order: order, Kind: text}, text, vector)
	}
	for range 20 {
		put("wine", []float32{1, 0})
		put("beer", []float32{0, 1})
		put("wine", nil)
		put("beer", nil)
	}
	wine := func(d *recall.Doc) bool { return d.Kind == "wine" }
	for _, c := range []struct {
		keep    func(*recall.Doc) bool
		each    int
		matched int
	}{{all, 3, 60}, {all, 1000, 60}, {wine, 3, 40}, {wine, 1000, 40}} {
		hits, matched := x.Hybrid("wine wines", []float32{1, 1}, c.keep, 5, c.each)
		if len(hits) != 5 || matched != c.matched {
			t.Errorf("with %d of each ranking it finds %d, and says that %d matched, want %d", c.each, len(hits), matched, c.matched)
		}
	}
}

// After any writes and deletes an index answers like a new index of the
// remaining memories.
func TestAnIndexForgetsRemovedMemories(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields("ant bee cow dog eel fox gnu hen ibis jay")
	type memory struct {
		order  uint64
		text   string
		vector []float32
	}
	left, x := map[string]memory{}, recall.NewIndex()
	for order := uint64(1); order <= 3000; order++ {
		id := fmt.Sprint("m", rng.IntN(40))
		if rng.IntN(4) == 0 {
			x.Remove(id, order)
			delete(left, id)
			continue
		}
		m := memory{order: order, text: vocabulary[rng.IntN(10)] + " " + vocabulary[rng.IntN(10)] + " " + vocabulary[rng.IntN(10)]}
		if rng.IntN(3) > 0 {
			m.vector = []float32{rng.Float32() + 0.1, rng.Float32(), rng.Float32()}
		}
		left[id] = m
		x.Put(recall.Doc{ID: id, Order: order}, m.text, m.vector)
	}
	fresh := recall.NewIndex()
	for id, m := range left {
		fresh.Put(recall.Doc{ID: id, Order: m.order}, m.text, m.vector)
	}
	if x.Len() != len(left) || x.Bytes() > 200*fresh.Bytes() {
		t.Fatalf("%d memories in %d bytes, want %d in %d", x.Len(), x.Bytes(), len(left), fresh.Bytes())
	}
	for _, word := range vocabulary {
		got, _ := x.Text(word, all, 100)
		want, _ := fresh.Text(word, all, 100)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", word, got, want)
		}
	}
	got, _ := x.Vector([]float32{1, 2, 3}, all, 100)
	want, _ := fresh.Vector([]float32{1, 2, 3}, all, 100)
	if !slices.Equal(got, want) {
		t.Fatalf("vectors: %v, want %v", got, want)
	}
}

// The bound of a node's indexes holds for memories with many tags and few words too: most of such an index is tags.
func TestTheSizeOfAnIndexCountsTags(t *testing.T) {
	const docs, tags, tag = 600, 64, "twelve bytes"
	const least = docs * tags * (len(tag) + 16) // with the header of a string
	x := recall.NewIndex()
	for round := range 3 { // the last one compacts the index
		for i := range docs {
			d := recall.Doc{ID: fmt.Sprint(i), Order: uint64(round*docs + i + 1)}
			for range tags {
				d.Tags = append(d.Tags, tag)
			}
			x.Put(d, "word", nil)
		}
		if x.Bytes() < least {
			t.Errorf("round %d: %d memories with tags of %d bytes count for %d bytes", round, x.Len(), least, x.Bytes())
		}
	}
	if x.Bytes() > 3*least {
		t.Errorf("%d memories count for %d bytes after a compaction, with tags of %d", x.Len(), x.Bytes(), least)
	}
}

func TestAnOlderWriteIsNotRemovedWithAYoungerOne(t *testing.T) {
	x := filled("cat")
	x.Remove("a", 1)
	if x.Len() != 1 {
		t.Fatal("what was written first went by a delete before it")
	}
	x.Remove("a", 2)
	x.Remove("a", 2)
	if hits, _ := x.Text("cat", all, 1); x.Len() != 0 || hits != nil {
		t.Fatalf("still there: %v", hits)
	}
}

func TestAFilterMatchesAllItsConditions(t *testing.T) {
	d := recall.Doc{Session: "s", Class: "semantic", Kind: "fact", Tags: []string{"x", "y"}, ObservedAt: 100, ExpiresAt: 1000}
	at := func(ms int64) *int64 { return &ms }
	for name, c := range map[string]struct {
		r    agent.Recall
		want bool
	}{
		"nothing asked":     {agent.Recall{Within: "all"}, true},
		"its session":       {agent.Recall{Within: "session", Session: "s"}, true},
		"another session":   {agent.Recall{Within: "session", Session: "t"}, false},
		"no session":        {agent.Recall{Within: "session"}, false},
		"agent":             {agent.Recall{Within: "agent"}, false},
		"agent and session": {agent.Recall{Within: "agent", Session: "s"}, true},
		"class":             {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Classes: []string{"working", "semantic"}}}, true},
		"another class":     {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Classes: []string{"working"}}}, false},
		"another kind":      {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Kinds: []string{"event"}}}, false},
		"any tag":           {agent.Recall{Within: "all", Filter: agent.MemoryFilter{TagsAny: []string{"z", "y"}}}, true},
		"no tag":            {agent.Recall{Within: "all", Filter: agent.MemoryFilter{TagsAny: []string{"z"}}}, false},
		"all tags":          {agent.Recall{Within: "all", Filter: agent.MemoryFilter{TagsAll: []string{"y", "x"}}}, true},
		"not all tags":      {agent.Recall{Within: "all", Filter: agent.MemoryFilter{TagsAll: []string{"y", "z"}}}, false},
		"since then":        {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Since: at(100)}}, true},
		"since later":       {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Since: at(101)}}, false},
		"until then":        {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Until: at(100)}}, true},
		"until earlier":     {agent.Recall{Within: "all", Filter: agent.MemoryFilter{Until: at(99)}}, false},
	} {
		if got := recall.Matches(&c.r, 999)(&d); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if recall.Matches(&agent.Recall{Within: "all"}, 1000)(&d) {
		t.Error("what expires now is still there")
	}
}

// An index that has dropped its dead memories is as large as one that never had them, vectors included.
func TestACompactedIndexHasTheSizeOfANewOne(t *testing.T) {
	put := func(x *recall.Index, i int) {
		x.Put(recall.Doc{ID: fmt.Sprint(i), Order: uint64(i + 1)}, fmt.Sprintf("word number %d", i), []float32{1, float32(i) / 100, 3})
	}
	x, fresh := recall.NewIndex(), recall.NewIndex()
	for i := range 600 {
		put(x, i)
	}
	for i := range 400 {
		x.Remove(fmt.Sprint(i), 1000)
	}
	put(x, 600) // drops the dead ones
	for i := 400; i <= 600; i++ {
		put(fresh, i)
	}
	if x.Len() != fresh.Len() || x.Bytes() > fresh.Bytes() || x.Bytes() < fresh.Bytes()/2 { // the stems of the words before are gone
		t.Errorf("%d memories of %d bytes, want %d of %d", x.Len(), x.Bytes(), fresh.Len(), fresh.Bytes())
	}
	hits, matched := x.Vector([]float32{1, 5, 3}, all, 1)
	if matched != 201 || ids(hits) != "500" {
		t.Errorf("%d memories match, and %q is the nearest", matched, ids(hits))
	}
}

// The number of all that match counts what only one of the searches has more of.
func TestAHybridSearchCountsWhatOneSearchLeavesOut(t *testing.T) {
	x := recall.NewIndex()
	for i := range 5 {
		var vector []float32
		if i == 0 {
			vector = []float32{1, 2}
		}
		x.Put(recall.Doc{ID: fmt.Sprint(i), Order: uint64(i + 1)}, "tea", vector)
	}
	if _, matched := x.Hybrid("tea", []float32{1, 2}, all, 10, 2); matched != 5 {
		t.Errorf("%d memories match", matched)
	}
}
