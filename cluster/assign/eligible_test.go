package assign

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/placement"
)

// eligibleOf calls eligible with candidates from words: h1!:a@1,b@1 is one that is
// closed and has two handlers. A name that begins with old has no remote turns.
func eligibleOf(words ...string) (names []string) {
	var all []candidate
	for _, word := range words {
		name, has, _ := strings.Cut(word, ":")
		name, closed := strings.CutSuffix(name, "!")
		handlers := strings.FieldsFunc(has, func(r rune) bool { return r == ',' })
		all = append(all, candidate{placement.Node{Name: name, Closed: closed}, handlers, !strings.HasPrefix(name, "old")})
	}
	for _, n := range eligible(all) {
		names = append(names, n.Name)
	}
	return names
}

func TestWhichProcessesMayOwnPartitions(t *testing.T) {
	for what, c := range map[string]struct{ nodes, want string }{
		"nobody has any":                          {"n1 n2 n3", "n1 n2 n3"},
		"a host has some":                         {"n1 n2 h1:a@1", "h1"},
		"two hosts have the same":                 {"h1:a@1 n1 h2:a@1", "h1 h2"},
		"one has more than the other":             {"h1:a@1 h2:a@1,b@1 n1", "h1 h2"},
		"one has another version":                 {"h1:a@1 h2:a@2 n1", "h1 h2"},
		"they have nothing in common":             {"h1:a@1 h2:b@1 n1", "h1 h2"},
		"the only one with handlers is too new":   {"n1 n2 h1!:a@1", "n1 n2 h1"},
		"all are too new":                         {"n1! h1!:a@1", "h1"},
		"there is nobody":                         {"", ""},
		"old ones have the same":                  {"old1:a@1 old2:a@1 n1", "old1 old2"},
		"an old one lacks something":              {"old1:a@1 h2:a@1,b@1 n1", "h2"},
		"an old one has the most":                 {"old1:a@1,b@1 h2:a@1 n1", "old1 h2"},
		"the one with more may be gone":           {"old1:a@1 old2!:a@1,b@1 old3", "old1 old2"},
		"old ones lack each other's":              {"old1:a@1 old2:b@1 n1 n2", "n1 n2"},
		"all are old, and only one has all":       {"old1 old2 old3:a@1", "old3"},
		"all are old, and none has any":           {"old1 old2", "old1 old2"},
		"only nodes can, beside an old one":       {"n1 old1", "n1 old1"},
		"what an old one lacks is at a node only": {"old1:a@1 n1:b@1", "n1"},
	} {
		if got := eligibleOf(strings.Fields(c.nodes)...); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", what, got, c.want)
		}
	}
}

// Where all can send errands, what a process can do beside others moves nothing:
// it only matters whether it can do anything.
func TestWhichHandlersAProcessHasMovesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, other []string
		for _, name := range []string{"p1", "p2", "p3", "p4", "p5"} {
			has := rapid.SampledFrom([]string{"", "a@1", "a@1,b@1", "a@2", "b@1,c@0"})
			first := has.Draw(t, "has")
			second := has.Filter(func(s string) bool { return (s == "") == (first == "") }).Draw(t, "or")
			if rapid.Bool().Draw(t, "closed") {
				name += "!"
			}
			one, other = append(one, name+":"+first), append(other, name+":"+second)
		}
		if a, b := eligibleOf(one...), eligibleOf(other...); !slices.Equal(a, b) || len(a) == 0 {
			t.Fatalf("%v: %v, %v: %v", one, a, other, b)
		}
	})
}
