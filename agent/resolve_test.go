package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"dormouse/agent"
)

func entry(id string, seq uint64, kind, refs string) agent.Entry {
	return agent.Entry{ID: id, Seq: seq, Kind: kind, Payload: agent.JSON("{}"), Refs: agent.JSON(refs)}
}

func TestResolveFoldsFollowUpsIntoTheirEntry(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []agent.Entry
		want    string
	}{
		{"none", nil, ""},
		{"committed and annotated", []agent.Entry{
			entry("m1", 0, agent.KindMessage, `{}`),
			entry("m2", 1, agent.KindMessage, `{"entry_id":"x"}`),
			entry("c1", 2, agent.KindMessageCommitted, `{"agent_id":"a","entry_id":"m1"}`),
			entry("a1", 3, agent.KindAnnotation, `{"entry_id":"m2"}`),
			entry("n1", 4, agent.KindNote, `{"entry_id":"m1"}`),
		}, "m1[c1 n1] m2[a1]"},
		{"a follow-up of a follow-up goes to the root", []agent.Entry{
			entry("m", 0, "message", `{}`), entry("a", 1, "annotation", `{"entry_id":"m"}`), entry("b", 2, "annotation", `{"entry_id":"a"}`),
		}, "m[a b]"},
		{"what is named before it is there stands alone", []agent.Entry{
			entry("a", 0, "annotation", `{"entry_id":"m"}`), entry("m", 1, "message", `{}`),
		}, "a[] m[]"},
		{"itself is not earlier", []agent.Entry{entry("m", 0, "message", `{"entry_id":"m"}`)}, "m[]"},
		{"only the refs' own member counts", []agent.Entry{
			entry("m", 0, "message", `{}`), entry("a", 1, "note", `{"x":{"entry_id":"m"}}`), entry("b", 2, "note", `{"entry_id":7}`),
		}, "m[] a[] b[]"},
		{"escaped ids", []agent.Entry{
			entry(`a"b`, 0, "message", `{}`), entry("f", 1, "annotation", `{"entry_id":"a\"b"}`),
		}, `a"b[f]`},
	} {
		var got []string
		for _, r := range agent.Resolve(c.entries) {
			var ids []string
			for _, f := range r.FollowUps {
				ids = append(ids, f.ID)
			}
			got = append(got, fmt.Sprint(r.ID, ids))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func ids(entries []agent.Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.ID)
	}
	return strings.Join(all, "")
}

func TestT3SliceIncludesBothBounds(t *testing.T) {
	entries := []agent.Entry{entry("a", 5, "x", "{}"), entry("b", 6, "y", "{}"), entry("c", 7, "x", "{}"), entry("d", 8, "z", "{}")}
	for _, c := range []struct {
		from, to uint64
		want     string
	}{{6, 7, "bc"}, {5, 8, "abcd"}, {0, 100, "abcd"}, {6, 6, "b"}, {0, 4, ""}, {9, 20, ""}, {7, 6, ""}, {8, 5, ""}, {0, 5, "a"}} {
		if got := ids(agent.Slice(entries, c.from, c.to)); got != c.want {
			t.Errorf("%d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestT4OfKindKeepsTheOrder(t *testing.T) {
	entries := []agent.Entry{entry("a", 5, "x", "{}"), entry("b", 6, "y", "{}"), entry("c", 7, "x", "{}"), entry("d", 8, "z", "{}")}
	for _, c := range []struct {
		kinds []string
		want  string
	}{{[]string{"x"}, "ac"}, {[]string{"z", "x"}, "acd"}, {nil, ""}, {[]string{"w"}, ""}} {
		if got := ids(agent.OfKind(entries, c.kinds...)); got != c.want {
			t.Errorf("%v: %q, want %q", c.kinds, got, c.want)
		}
	}
}
