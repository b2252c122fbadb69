package invariant_test

import (
	"testing"

	"dormouse/internal/invariant"
)

func TestABrokenInvariantPanicsWhereChecksAreOn(t *testing.T) {
	defer func() {
		if panicked := recover() != nil; panicked != invariant.Enabled {
			t.Errorf("panicked: %v, enabled: %v", panicked, invariant.Enabled)
		}
	}()
	invariant.Check(true, "one and one is %d", 2)
	invariant.Check(false, "one and one is %d", 3)
}
