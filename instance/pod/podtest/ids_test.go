package podtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dormouse/instance/pod/podtest"
)

// pdMax is the last of the ids PD, which is ours.
const pdMax = 15

func TestEachConformanceIDOfPodsHasAClaim(t *testing.T) {
	names := podtest.Names()
	for n := 1; n <= pdMax; n++ {
		id := fmt.Sprintf("PD-%d ", n)
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, id) }) {
			t.Errorf("no claim is called %s", id)
		}
	}
}
