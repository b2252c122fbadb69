package backup_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"dormouse/backup"
	"dormouse/backup/blob"
)

// pages is a store whose lists have at most so many objects.
type pages struct {
	blob.Store
	most  int
	lists int
}

func (p *pages) List(ctx context.Context, prefix string) ([]blob.Object, error) {
	p.lists++
	all, err := p.Store.List(ctx, prefix)
	if len(all) > p.most && err == nil {
		return all[:p.most], blob.ErrTooMany
	}
	return all, err
}

// A log of more segments than one list returns is listed whole: it can be restored, and the retention can remove it.
func TestALogOfManySegmentsIsListed(t *testing.T) {
	d := newDestination(t)
	d.write(50)
	var want []backup.SegmentRef
	for i := range 50 {
		for _, node := range []string{"n1", "n2"}[:1+i%2] { // another leader has shipped some again
			want = append(want, d.ship(t, node, i, i+1))
		}
	}
	d.backUp(t, 0)
	slices.SortFunc(want, func(a, b backup.SegmentRef) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Node, b.Node))
	})
	for _, most := range []int{2, 3, 7, 74, 75} {
		p := &pages{Store: d.Store, most: most}
		c := *d.Catalog
		c.Store = p
		all, err := c.List(t.Context())
		if err != nil || fmt.Sprint(all.Segments) != fmt.Sprint(want) {
			t.Errorf("by %d in %d lists there are %d segments, %v, want %d", most, p.lists, len(all.Segments), err, len(want))
		}
	}
	p := &pages{Store: d.Store, most: 1} // two nodes have shipped the same entries
	c := *d.Catalog
	c.Store = p
	if all, err := c.List(t.Context()); err == nil {
		t.Errorf("there are %d segments", len(all.Segments))
	}
	if m, err := d.restore(t, backup.Target{}); err != nil || len(m.applied) != 50 {
		t.Errorf("%+v, %v", m, err)
	}
}

// The clusters of a destination are found without a list of all objects.
func TestTheClustersAreFound(t *testing.T) {
	d := newDestination(t)
	d.write(5)
	for i := range 5 {
		d.ship(t, "n1", i, i+1)
	}
	p := &pages{Store: d.Store, most: 2}
	if got, err := backup.Clusters(t.Context(), p); err != nil || !slices.Equal(got, []string{cluster}) {
		t.Errorf("%v, %v", got, err)
	}
}
