package nemesis_test

import (
	"strings"
	"testing"

	"dormouse/jepsen/nemesis"
)

func TestARestoredStateIsJudgedByItsMarks(t *testing.T) {
	acknowledged := map[string]uint64{"a": 10, "b": 20, "c": 30}
	for _, c := range []struct {
		name, there string
		rule        string // "" means that it is right
	}{
		{"exactly those up to the index", "a b", ""},
		{"an unknown one is there too", "a b u", ""},
		{"an acknowledged one is missing", "b", "lacks mark a of entry 10"},
		{"the last one is missing", "a", "lacks mark b of entry 20"},
		{"a later one is there", "a b c", "holds mark c of entry 30"},
		{"one is there that was refused", "a b x", "holds mark x, which was refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := nemesis.WrongMarks(strings.Fields(c.there), acknowledged, []string{"u"}, 20)
			if c.rule == "" && len(wrong) > 0 || c.rule != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.rule)) {
				t.Errorf("found %q, want %q", wrong, c.rule)
			}
		})
	}
}
