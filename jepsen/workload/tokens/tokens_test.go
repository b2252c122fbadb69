package tokens

import (
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const key = "tk1"

func creates(from, to int, kind created, expires int64) history.Op {
	return workloadtest.OK(1, from, to, callCreate, key, kind, seen{Index: 1, Token: "t", Expires: expires})
}

func revokes(from, to int, index uint64) history.Op {
	return workloadtest.OK(1, from, to, callRevoke, key, used{Token: "t"}, seen{Index: index})
}

func puts(from, to int, name string, index uint64) history.Op {
	return workloadtest.OK(2, from, to, workload.CallPut, key, used{Token: "t", Name: name}, seen{Index: index, Time: int64(index)})
}

func gets(from, to int, index uint64) history.Op {
	return workloadtest.OK(3, from, to, workload.CallGet, key, used{Token: "t"}, seen{Index: index})
}

func strays(from, to int) history.Op {
	return workloadtest.OK(3, from, to, callStray, key, used{Token: "t"}, seen{Index: 9})
}

func reads(from, to int, names ...string) history.Op {
	return workloadtest.OK(4, from, to, workload.CallRead, key, struct{}{}, seen{Index: 99, Names: names})
}

func TestTokenHistories(t *testing.T) {
	made, all := creates(0, 1, created{}, 0), created{}
	reader, mortal := creates(0, 1, created{ReadOnly: true}, 0), creates(0, 1, created{TTL: 5}, 5)
	another := workloadtest.OK(5, 0, 1, callCreate, key, created{ReadOnly: true}, seen{Index: 2, Token: "unused"})
	elsewhere := func(from, to int, index uint64) history.Op {
		op := puts(from, to, "e", index)
		op.Key, op.In = "tk2", workloadtest.Raw(used{Token: "t2", Name: "e"})
		return op
	}
	timeless := elsewhere(2, 3, 6)
	timeless.Out = workloadtest.Raw(seen{Index: 6})
	out := func(op history.Op) history.Op { return workloadtest.Refused(op, "unauthenticated") }
	denied := func(op history.Op) history.Op { return workloadtest.Refused(op, "forbidden") }
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"served, revoked, refused", workloadtest.Script{made, puts(2, 3, "a", 5), gets(4, 5, 5), revokes(6, 7, 8), out(puts(8, 9, "b", 0)), out(gets(8, 9, 0)), reads(10, 11, "a")}, ""},
		{"beside the revocation", workloadtest.Script{made, revokes(2, 9, 8), puts(3, 4, "a", 7), out(puts(3, 4, "b", 0)), gets(3, 4, 7), reads(10, 11, "a")}, ""},
		{"in the entry of the revocation", workloadtest.Script{made, revokes(2, 9, 8), puts(3, 4, "a", 8), reads(10, 11, "a")}, ""},
		{"a put after it", workloadtest.Script{made, revokes(2, 3, 8), puts(4, 5, "a", 7), reads(10, 11, "a")}, "served after the revocation"},
		{"a get after it", workloadtest.Script{made, revokes(2, 3, 8), gets(4, 5, 7)}, "served after the revocation"},
		{"a put behind it in the log", workloadtest.Script{made, revokes(2, 9, 8), puts(3, 8, "a", 9), reads(10, 11, "a")}, "served behind the revocation in the log"},
		{"a get at its index", workloadtest.Script{made, revokes(2, 9, 8), gets(3, 8, 8)}, "served behind the revocation in the log"},
		{"behind one of two", workloadtest.Script{made, revokes(2, 9, 8), revokes(2, 9, 20), gets(3, 8, 12)}, "served behind the revocation in the log"},
		{"refused before", workloadtest.Script{made, out(puts(2, 3, "a", 0)), revokes(4, 5, 8)}, "refused before the revocation"},
		{"forbidden before", workloadtest.Script{made, denied(gets(2, 3, 0)), revokes(4, 5, 8)}, "refused before the revocation"},
		{"refused while it is created", workloadtest.Script{creates(0, 9, all, 0), out(puts(2, 3, "a", 0))}, ""},
		{"refused beside an unknown revocation", workloadtest.Script{made, workloadtest.Unknown(revokes(2, 3, 0)), out(puts(4, 5, "a", 0))}, ""},
		{"unavailable says nothing", workloadtest.Script{made, workloadtest.Refused(puts(2, 3, "a", 0), "unavailable")}, ""},
		{"a token that no call uses", workloadtest.Script{made, another, puts(2, 3, "a", 5), reads(10, 11, "a")}, ""},
		{"a reader puts", workloadtest.Script{reader, puts(2, 3, "a", 5), reads(10, 11, "a")}, "served beyond its verbs"},
		{"a reader's lost put is there", workloadtest.Script{reader, workloadtest.Unknown(puts(2, 3, "a", 0)), reads(10, 11, "a")}, "served beyond its verbs"},
		{"a reader is refused", workloadtest.Script{reader, denied(puts(2, 3, "a", 0)), gets(4, 5, 5), reads(10, 11)}, ""},
		{"another scope", workloadtest.Script{made, strays(2, 3)}, "served outside of its scopes"},
		{"another scope is refused", workloadtest.Script{made, denied(strays(2, 3))}, ""},
		{"after it expired", workloadtest.Script{mortal, puts(2, 3, "a", 6), reads(10, 11, "a")}, "served after it expired"},
		{"until it expired", workloadtest.Script{mortal, puts(2, 3, "a", 5), out(puts(4, 5, "b", 0)), reads(10, 11, "a")}, ""},
		{"a get after it expired", workloadtest.Script{mortal, elsewhere(2, 3, 6), gets(4, 5, 7)}, "served after it expired"},
		{"a get beside the put that shows it", workloadtest.Script{mortal, elsewhere(2, 9, 6), gets(4, 5, 7)}, "served after it expired"},
		{"a get after an earlier and newer put", workloadtest.Script{mortal, elsewhere(2, 3, 6), elsewhere(2, 3, 7), gets(4, 5, 8)}, "served after it expired"},
		{"a get at the index of an answered put", workloadtest.Script{mortal, elsewhere(2, 3, 6), gets(4, 5, 6)}, "served after it expired"},
		{"a get at the index of a put under way", workloadtest.Script{mortal, elsewhere(2, 9, 6), gets(4, 5, 6)}, ""},
		{"a get until it expired", workloadtest.Script{mortal, elsewhere(2, 3, 6), gets(4, 5, 5)}, ""},
		{"a get at the time at which it expired", workloadtest.Script{mortal, elsewhere(2, 3, 5), gets(4, 5, 6)}, ""},
		{"a get beside an unknown put", workloadtest.Script{mortal, workloadtest.Unknown(elsewhere(2, 3, 6)), gets(4, 5, 7)}, ""},
		{"a get of a put without a time", workloadtest.Script{mortal, timeless, gets(4, 5, 7)}, ""},
		{"a get without an index", workloadtest.Script{mortal, elsewhere(2, 3, 6), gets(4, 5, 0)}, ""},
		{"a get with a token that does not expire", workloadtest.Script{made, elsewhere(2, 3, 6), gets(4, 5, 7)}, ""},
		{"a mortal one is forbidden", workloadtest.Script{mortal, denied(gets(2, 3, 0))}, "refused before the revocation"},
		{"refused but there", workloadtest.Script{made, revokes(2, 3, 8), out(puts(4, 5, "a", 0)), reads(10, 11, "a")}, "refused but there"},
		{"unknown after it, and there", workloadtest.Script{made, revokes(2, 3, 8), workloadtest.Unknown(puts(4, 5, "a", 0)), reads(10, 11, "a")}, "applied after the revocation"},
		{"unknown before it, and there", workloadtest.Script{made, workloadtest.Unknown(puts(2, 3, "a", 0)), revokes(4, 5, 8), reads(10, 11, "a")}, ""},
		{"lost", workloadtest.Script{made, puts(2, 3, "a", 5), reads(10, 11)}, "acknowledged and lost"},
		{"from nowhere", workloadtest.Script{made, reads(10, 11, "a")}, "value from nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestTokensCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{creates(0, 1, created{}, 0), gets(2, 3, 5)}.History())
}
