package recall

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The size that an index tells is about that of its memory, also after memories with many words were
// replaced by short ones.
func TestTheSizeOfAnIndexIsThatOfItsMemory(t *testing.T) {
	const agents, docs, wordsEach = 20, 300, 30
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, short := range map[string]bool{"long": false, "replaced": true} {
		before := heap()
		indexes, counted := make([]*Index, agents), 0
		for a := range indexes {
			x := NewIndex()
			for i := range docs {
				var text strings.Builder
				for w := range wordsEach {
					_, _ = fmt.Fprintf(&text, "w%dx%d ", i, w)
				}
				x.Put(Doc{ID: fmt.Sprint(i), Order: uint64(i + 1)}, text.String(), nil)
			}
			for i := 0; short && i < 2*docs; i++ {
				x.Put(Doc{ID: fmt.Sprint(i % docs), Order: uint64(docs + i + 1)}, "tea", nil)
			}
			indexes[a], counted = x, counted+x.Bytes()
		}
		if used := heap() - before; used > 2*uint64(counted) {
			t.Errorf("%s: %d bytes are counted, and %d are used", name, counted, used)
		}
		runtime.KeepAlive(indexes)
	}
}
