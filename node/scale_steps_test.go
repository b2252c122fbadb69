package node_test

import (
	"testing"
	"testing/synctest"
)

// From three nodes to five and back, under load: each acknowledged signal counts once, and the
// nodes that joined and left keep nothing.
func TestACrowdScalesFromThreeToFiveAndBackSim(t *testing.T) {
	size := loadSize(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, complaint := range liveThrough(t, size, toFiveAndBack) {
			t.Error(complaint)
		}
	})
}

func toFiveAndBack(c *loadCluster) {
	c.lock()
	c.begin("n4")
	c.begin("n5")
	c.unlock()
	c.settle(5)
	c.even("n1", "n2", "n3", "n4", "n5")
	c.leave("n5")
	c.leave("n4")
	c.even("n1", "n2", "n3")
}
