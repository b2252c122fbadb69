package node

import "testing"

// TestNodesFlushMemtablesOfDifferentSizes compares the sizes of the nodes of clusters with usual names.
func TestNodesFlushMemtablesOfDifferentSizes(t *testing.T) {
	const most = 32 << 20
	for _, names := range [][]string{
		{"n1", "n2", "n3"}, {"n1", "n2", "n3", "n4", "n5"}, {"node-a", "node-b", "node-c"}, {"dormouse-0", "dormouse-1", "dormouse-2"},
	} {
		for i, name := range names {
			size := memTableOf(most, name)
			if size <= most*3/4 || size > most || size != memTableOf(most, name) {
				t.Errorf("%s has memtables of %d bytes, of at most %d", name, size, most)
			}
			for _, other := range names[:i] {
				if far := max(size, memTableOf(most, other)) - min(size, memTableOf(most, other)); far < most/64 { // flushes would drift apart too slowly
					t.Errorf("the sizes of %s and %s differ by %d bytes", name, other, far)
				}
			}
		}
	}
}
