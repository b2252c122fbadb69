package cluster_test

import (
	"strings"
	"testing"

	"dormouse/cluster"
	"dormouse/placement"
)

func TestWhoHasTheMostHandlersKeepsTheInstances(t *testing.T) {
	for what, c := range map[string]struct{ nodes, want string }{
		"nobody has any":                        {"n1 n2 n3", "n1 n2 n3"},
		"a host has some":                       {"n1 n2 h1:a@1", "h1"},
		"two hosts have the same":               {"h1:a@1 n1 h2:a@1", "h1 h2"},
		"one has more than the other":           {"h1:a@1 h2:a@1,b@1 n1", "h2"},
		"the one that has more may be gone":     {"h1:a@1 h2!:a@1,b@1 n1", "h1 h2"},
		"the only one with handlers is too new": {"n1 n2 h1!:a@1", "n1 n2 h1"},
		"all are too new":                       {"n1! h1!:a@1", "h1"},
		"there is nobody":                       {"", ""},
	} {
		var nodes []placement.Node
		var handlers [][]string
		for _, word := range strings.Fields(c.nodes) {
			name, has, _ := strings.Cut(word, ":")
			name, closed := strings.CutSuffix(name, "!")
			nodes = append(nodes, placement.Node{Name: name, Closed: closed})
			handlers = append(handlers, strings.FieldsFunc(has, func(r rune) bool { return r == ',' }))
		}
		var got []string
		for _, n := range cluster.Able(nodes, handlers) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", what, got, c.want)
		}
	}
}
