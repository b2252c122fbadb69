package recall_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dormouse/recall"
)

// source is an agent's memories in a slice.
type source struct {
	state   recall.State
	docs    []recall.Doc // in order of writing
	gone    []recall.Doc // Order is that of the last write before the delete
	kept    int          // number of the last deletes that are recorded
	visited int
	fail    error
}

func newSource() *source { return &source{state: recall.State{Generation: 1}, kept: 1000} }

func (s *source) write(id string) {
	s.drop(id)
	s.state.Writes++
	s.docs = append(s.docs, recall.Doc{ID: id, Order: s.state.Writes})
}

func (s *source) drop(id string) bool {
	for i, d := range s.docs {
		if d.ID == id {
			s.docs = append(append([]recall.Doc(nil), s.docs[:i]...), s.docs[i+1:]...)
			return true
		}
	}
	return false
}

func (s *source) remove(id string) {
	if s.drop(id) {
		s.state.Deletes++
		s.gone = append(s.gone, recall.Doc{ID: id, Order: s.state.Writes})
	}
}

func (s *source) State() recall.State { return s.state }

func (s *source) Written(since uint64, visit func(recall.Doc, string, []float32)) error {
	for _, d := range s.docs {
		if d.Order > since {
			s.visited++
			visit(d, "word "+d.ID, nil)
		}
	}
	return s.fail
}

func (s *source) Deleted(since uint64, visit func(string, uint64)) (bool, error) {
	if len(s.gone)-int(since) > s.kept {
		return false, nil
	}
	for _, d := range s.gone[since:] {
		visit(d.ID, d.Order+1)
	}
	return true, nil
}

func find(t *testing.T, c *recall.Cache, key string, s *source) string {
	t.Helper()
	var found string
	if err := c.Reader().Search(key, s, func(x *recall.Index) {
		hits, _ := x.Text("word", all, 1000)
		found = ids(hits)
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAnIndexAppliesChangesOnly(t *testing.T) {
	c, s := recall.NewCache(1<<20), newSource()
	for _, id := range strings.Fields("a b c d") {
		s.write(id)
	}
	if got := find(t, c, "k", s); got != "d c b a" || s.visited != 4 {
		t.Fatalf("%q after %d visits", got, s.visited)
	}
	s.write("b")
	s.remove("c")
	s.remove("d")
	s.write("d")
	s.visited = 0
	if got := find(t, c, "k", s); got != "d b a" || s.visited != 2 {
		t.Fatalf("%q after %d visits, want only what was written since", got, s.visited)
	}
	if got := find(t, c, "k", s); got != "d b a" || s.visited != 2 {
		t.Fatalf("%q after %d visits: nothing had changed", got, s.visited)
	}
}

func TestAnIndexIsRebuiltIfTheDeletesAreNotRecorded(t *testing.T) {
	c, s := recall.NewCache(1<<20), newSource()
	s.kept = 1
	for _, id := range strings.Fields("a b c") {
		s.write(id)
	}
	find(t, c, "k", s)
	s.remove("a")
	s.remove("c")
	s.visited = 0
	if got := find(t, c, "k", s); got != "b" || s.visited != 1 {
		t.Fatalf("%q after %d visits", got, s.visited)
	}
	another := newSource()
	another.state.Generation = 2
	another.write("z")
	if got := find(t, c, "k", another); got != "z" {
		t.Fatalf("in another life: %q", got)
	}
}

func TestAnOlderReaderGetsErrTooOld(t *testing.T) {
	c, s := recall.NewCache(1<<20), newSource()
	s.write("a")
	past := *s
	s.write("b")
	find(t, c, "k", s)
	if err := c.Reader().Search("k", &past, func(*recall.Index) { t.Error("searched") }); !errors.Is(err, recall.ErrTooOld) {
		t.Fatalf("%v", err)
	}
	x, err := recall.Build(&past)
	if err != nil || x.Len() != 1 {
		t.Fatalf("an index of its own: %v, %v", x, err)
	}
}

func TestAFailedReadLeavesNoPartialIndex(t *testing.T) {
	c, s := recall.NewCache(1<<20), newSource()
	s.write("a")
	s.fail = errors.New("the disk")
	if err := c.Reader().Search("k", s, func(*recall.Index) { t.Error("searched") }); !errors.Is(err, s.fail) {
		t.Fatalf("%v", err)
	}
	s.fail = nil
	if got := find(t, c, "k", s); got != "a" {
		t.Fatalf("%q", got)
	}
}

func TestTheCacheIsBoundedInBytes(t *testing.T) {
	const bound = 64 << 10
	c, s := recall.NewCache(bound), newSource()
	for i := range 40 {
		s.write(fmt.Sprint("memory", i))
	}
	for i := range 100 {
		find(t, c, fmt.Sprint("agent", i), s)
		if c.Bytes() > bound || c.Bytes() <= 0 {
			t.Fatalf("after %d agents it holds %d bytes", i+1, c.Bytes())
		}
	}
	s.visited = 0
	find(t, c, "agent99", s)
	if s.visited != 0 {
		t.Error("the last one is not kept")
	}
	find(t, c, "agent0", s)
	if s.visited != 40 {
		t.Error("the first one is kept")
	}
	small := recall.NewCache(1)
	if got := find(t, small, "k", s); got == "" || small.Bytes() != 0 {
		t.Errorf("too large to be kept: found %q, %d bytes", got, small.Bytes())
	}
}

// An index leaves the cache with the memories of its agent. A reader whose view is older finds them,
// and leaves no index behind.
func TestADroppedIndexDoesNotComeBackByAnOlderReader(t *testing.T) {
	for name, drop := range map[string]func(c *recall.Cache){
		"one":   func(c *recall.Cache) { c.Drop("b") },
		"range": func(c *recall.Cache) { c.DropRange("b", "c") },
	} {
		t.Run(name, func(t *testing.T) {
			c, s := recall.NewCache(1<<20), newSource()
			s.write("m")
			find(t, c, "a", s)
			others := c.Bytes()
			find(t, c, "b", s)
			find(t, c, "c", s)
			before := c.Reader()
			drop(c)
			if got := c.Bytes(); got != 2*others {
				t.Fatalf("%d bytes are left, want the %d of the other two agents", got, 2*others)
			}
			found := 0
			if err := before.Search("b", s, func(x *recall.Index) { found = x.Len() }); err != nil || found != 1 {
				t.Fatalf("the older reader found %d memories, %v", found, err)
			}
			if got := c.Bytes(); got != 2*others {
				t.Errorf("the older reader left an index: %d bytes, want %d", got, 2*others)
			}
			find(t, c, "b", s) // it remembers again
			if got := c.Bytes(); got != 3*others {
				t.Errorf("a new reader keeps %d bytes, want %d", got, 3*others)
			}
		})
	}
}
