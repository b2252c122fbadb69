package access_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
)

// live says which tokens are live.
type live map[string]bool

func (l live) Live(id string) bool         { return l[id] }
func (live) LastUsed(string) int64         { return 7 }
func (live) Barrier(context.Context) error { return nil }

// sample is an op or read and the verb that a caller needs for it, as the documentation says.
type sample struct {
	op   agent.Op
	read agent.Read
	verb string
}

// samples has one call of each kind that the model tells apart. It is written without the table of
// package access.
func samples(key string) []sample {
	return []sample{
		{op: &agent.PutValue{Key: key, Bytes: []byte("v")}, verb: "write"},
		{op: &agent.AppendThread{Thread: key, Entries: []agent.Draft{{Kind: "k", Payload: agent.JSON(`{}`)}}}, verb: "write"},
		{op: &agent.WriteMemory{Agent: key, Content: "c"}, verb: "write"},
		{op: &agent.TakeClaim{Claim: key, Holder: "h"}, verb: "run"},
		{op: &agent.CancelSession{Session: key}, verb: "run"},
		{op: &agent.PutManager{Manager: agent.Manager{Name: key, Handler: agent.Handler{Kind: agent.HandlerDocument}}}, verb: "run"},
		{op: &agent.DecideReview{Review: key, Decision: "approve", By: "b"}, verb: "decide"},
		{op: &agent.EraseAgent{Agent: key}, verb: "admin"},
		{op: &agent.PutScope{}, verb: "scopes:policy"},
		{op: &agent.RevokeToken{ID: key}, verb: "tokens:change"},
		{read: &agent.GetValue{Key: key}, verb: "read"},
		{read: &agent.ListThreads{}, verb: "read"},
		{read: &agent.GetScope{}, verb: "read"},
		{read: &agent.ListTokens{}, verb: "tokens:change"},
	}
}

var (
	genScope   = rapid.SampledFrom([]string{"a", "team-1", "team-2", "teams", "b"})
	genPattern = rapid.SampledFrom([]string{"a", "team-1", "team-*", "t*", "*", "b", "team-"})
	genVerb    = rapid.SampledFrom(append(agent.ScopeVerbs(), agent.ClusterVerbs()...))
	genGrant   = rapid.Custom(func(t *rapid.T) agent.Grant {
		return agent.Grant{Scopes: rapid.SliceOfN(genPattern, 0, 3).Draw(t, "scopes"), Verbs: rapid.SliceOfN(genVerb, 1, 4).Draw(t, "verbs")}
	})
)

// allows is the model of the rules.
func allows(grants []agent.Grant, verb, scope string) bool {
	for _, g := range grants {
		for _, v := range g.Verbs {
			if string(v) != verb {
				continue
			}
			if strings.Contains(verb, ":") {
				return true
			}
			for _, pattern := range g.Scopes {
				re := "^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
				if regexp.MustCompile(re).MatchString(scope) {
					return true
				}
			}
		}
	}
	return false
}

func TestTheGuardAndTheModelAgree(t *testing.T) {
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		inner := memstore.New()
		g := access.NewGuard(inner, live{"tok": true})
		p := &access.Principal{Name: "p", TokenID: "", Grants: rapid.SliceOfN(genGrant, 0, 3).Draw(t, "grants")}
		ctx := access.With(context.Background(), p)
		n++
		for range 20 {
			scope := genScope.Draw(t, "scope")
			s := rapid.SampledFrom(samples(fmt.Sprintf("k%d", n))).Draw(t, "call")
			want := allows(p.Grants, s.verb, scope)
			var err error
			if s.op != nil {
				before := inner.Index()
				_, err = g.Commit(ctx, agent.Commit{Scope: scope, Ops: []agent.Op{s.op}})
				if !want && inner.Index() != before {
					t.Fatalf("%T in %s reached the store", s.op, scope)
				}
			} else {
				_, err = g.Read(ctx, agent.Reads{Scope: scope, Reads: []agent.Read{s.read}})
			}
			if got := agent.CodeOf(err) != agent.CodeForbidden; got != want {
				t.Fatalf("%T%T in %s with %+v: %v; the model says %t", s.op, s.read, scope, p.Grants, err, want)
			}
			if err != nil && !want && !strings.Contains(err.Error(), s.verb) {
				t.Fatalf("the refusal does not name %s: %v", s.verb, err)
			}
		}
	})
}

// Each op and read of package agent has a rule.
func TestEachOpAndReadHasARule(t *testing.T) {
	table, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../agent/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^func \((?:\w+ )?\*(\w+)\) (?:validateOp|isRead)\(`)
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range names.FindAllSubmatch(raw, -1) {
			n++
			if !strings.Contains(string(table), "of[*agent."+string(match[1])+"](") {
				t.Errorf("%s has no rule", match[1])
			}
		}
	}
	if n < 70 {
		t.Errorf("only %d ops and reads were found", n)
	}
}

func principal(token string, grants ...agent.Grant) context.Context {
	return access.With(context.Background(), &access.Principal{Name: "p", TokenID: token, Grants: grants})
}

func on(scope string, verbs ...agent.Verb) agent.Grant {
	return agent.Grant{Scopes: []string{scope}, Verbs: verbs}
}

func TestWithoutAPrincipalEverythingIsUnauthenticated(t *testing.T) {
	s := memstore.New()
	g := access.NewGuard(s, live{})
	ctx := t.Context()
	_, commit := g.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
	_, read := g.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.ListScopes{}}})
	var submit, watch error
	g.Submit(ctx, agent.Commit{}, func(_ agent.Result, err error) { submit = err })
	for _, err := range g.Watch(ctx, agent.Watch{Changes: true}) {
		watch = err
	}
	for what, err := range map[string]error{"commit": commit, "read": read, "submit": submit, "watch": watch} {
		if agent.CodeOf(err) != agent.CodeUnauthenticated {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestACommitCarriesItsPrincipalAndNotTheCallers(t *testing.T) {
	s := memstore.New()
	var seen agent.Commit
	s.BeforeCommit = func(_ context.Context, c agent.Commit) error {
		seen = c
		return nil
	}
	g := access.NewGuard(s, live{})
	_, _ = g.Commit(principal("", on("*", agent.VerbWrite)), agent.Commit{Principal: "root", Token: "tok_root", Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
	if seen.Principal != "p" || seen.Token != "" {
		t.Errorf("%q, %q", seen.Principal, seen.Token)
	}
}

func TestOneForbiddenOpForbidsItsCommit(t *testing.T) {
	g := access.NewGuard(memstore.New(), live{})
	_, err := g.Commit(principal("", on("s", agent.VerbWrite)), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k"}, &agent.TakeClaim{Claim: "c", Holder: "h"}}})
	if agent.CodeOf(err) != agent.CodeForbidden || !strings.Contains(err.Error(), "run") {
		t.Error(err)
	}
}

// Reads of several callers may share a request: see server/grpc. One's refusal is not the other's.
func TestAForbiddenReadIsAnsweredAlone(t *testing.T) {
	s := memstore.New()
	if _, err := s.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}); err != nil {
		t.Fatal(err)
	}
	g := access.NewGuard(s, live{})
	answers, err := g.Read(principal("", on("s", agent.VerbRead)), agent.Reads{Scope: "s", Reads: []agent.Read{
		&agent.ListTokens{}, &agent.GetValue{Key: "k"}, &agent.GetValue{Key: "absent"}, &agent.GetToken{ID: "x"},
	}})
	if err != nil || len(answers.Answers) != 4 {
		t.Fatal(answers, err)
	}
	want := []agent.Code{agent.CodeForbidden, "", agent.CodeNotFound, agent.CodeForbidden}
	for i, a := range answers.Answers {
		if got := agent.Code(""); a.Err != nil {
			if got = a.Err.Code; got != want[i] || a.Err.Op >= 0 && a.Err.Op != i {
				t.Errorf("answer %d: %+v", i, a.Err)
			}
		} else if want[i] != "" {
			t.Errorf("answer %d: %+v", i, a.Found)
		}
	}
}

func TestARevokedTokenReadsAndWatchesNothing(t *testing.T) {
	s := memstore.New()
	tokens := live{"tok": true}
	g := access.NewGuard(s, tokens)
	ctx := principal("tok", on("*", agent.VerbRead))
	s.BeforeRead = func(context.Context, agent.Reads) error {
		delete(tokens, "tok") // while the read is under way
		return nil
	}
	if _, err := g.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.ListValues{}}}); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Error(err)
	}
	s.BeforeRead = nil
	if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: make([]agent.Draft, 3)}}}); err != nil {
		t.Fatal(err)
	}
	tokens["tok"] = true
	seen := 0
	for _, err := range g.Watch(ctx, agent.Watch{Thread: "t"}) {
		if err != nil {
			if agent.CodeOf(err) != agent.CodeUnauthenticated || seen != 1 {
				t.Errorf("after %d entries: %v", seen, err)
			}
			return
		}
		seen++
		delete(tokens, "tok")
	}
	t.Errorf("the watch ended after %d entries, without an error", seen)
}

func TestScopesAreListedOnlyIfTheyMayBeSeen(t *testing.T) {
	s := memstore.New()
	var mine []string
	for i := range 1500 {
		name := fmt.Sprintf("other-%04d", i)
		if i%100 == 50 {
			name = fmt.Sprintf("team-%04d", i)
			mine = append(mine, name)
		}
		if _, err := s.Commit(t.Context(), agent.Commit{Scope: name, Ops: []agent.Op{&agent.PutValue{Key: "k"}}}); err != nil {
			t.Fatal(err)
		}
	}
	g := access.NewGuard(s, live{})
	for _, limit := range []uint64{0, 1, 4, 15, 1000} {
		got := pagesOfScopes(t, g, on("team-*", agent.VerbDecide), agent.Page{Limit: limit})
		if !slices.Equal(got, mine) {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
}

// Pages of a list in descending order continue below the last scope of the page before.
func TestScopesThatMayBeSeenAreListedInEitherOrder(t *testing.T) {
	s := memstore.New()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if _, err := s.Commit(t.Context(), agent.Commit{Scope: name, Ops: []agent.Op{&agent.PutValue{Key: "k"}}}); err != nil {
			t.Fatal(err)
		}
	}
	g := access.NewGuard(s, live{})
	for _, c := range []struct {
		sees  string
		limit uint64
	}{{"a b", 2}, {"a b", 1}, {"a e", 2}, {"a e", 1}, {"e", 1}, {"a", 1}, {"*", 1}, {"*", 2}, {"*", 5}, {"*", 0}} {
		for _, order := range []agent.Order{agent.Ascending, agent.Descending} {
			grant := agent.Grant{Scopes: strings.Fields(c.sees), Verbs: []agent.Verb{agent.VerbRead}}
			want := strings.Fields(strings.ReplaceAll(c.sees, "*", "a b c d e"))
			if order == agent.Descending {
				slices.Reverse(want)
			}
			if got := pagesOfScopes(t, g, grant, agent.Page{Limit: c.limit, Order: order}); !slices.Equal(got, want) {
				t.Errorf("%q in order %v with limit %d: %v, want %v", c.sees, order, c.limit, got, want)
			}
		}
	}
}

// pagesOfScopes returns the scopes that a caller with a grant finds on a page and all that follow it.
func pagesOfScopes(t *testing.T, g *access.Guard, grant agent.Grant, page agent.Page) (all []string) {
	t.Helper()
	for range 20 {
		answers, err := g.Read(principal("", grant), agent.Reads{Reads: []agent.Read{&agent.ListScopes{Page: page}}})
		if err != nil {
			t.Fatal(err)
		}
		list := answers.Answers[0].Found.(*agent.ScopeList)
		for _, s := range list.Items {
			all = append(all, s.Name)
		}
		if page.After = list.Next; page.After == "" {
			return all
		}
		if page.After != all[len(all)-1] {
			t.Fatalf("the next page begins after %q, which the caller may not see", page.After)
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestATokenGrantsNoMoreThanItsCreatorHas(t *testing.T) {
	g := access.NewGuard(memstore.New(), live{})
	ctx := principal("", on("team-*", agent.VerbRead, agent.VerbWrite), agent.Grant{Verbs: []agent.Verb{agent.VerbTokensChange}})
	for i, c := range []struct {
		grant agent.Grant
		ok    bool
	}{
		{on("team-1", agent.VerbRead), true},
		{on("team-*", agent.VerbWrite), true},
		{on("team-x*", agent.VerbWrite), true},
		{on("team*", agent.VerbRead), false},
		{on("*", agent.VerbRead), false},
		{on("team-1", agent.VerbRun), false},
		{on("other", agent.VerbRead), false},
		{agent.Grant{Verbs: []agent.Verb{agent.VerbTokensChange}}, true},
		{agent.Grant{Verbs: []agent.Verb{agent.VerbClusterBackup}}, false},
	} {
		op := &agent.PutToken{Hash: agent.HashToken(fmt.Sprint(i)), Principal: fmt.Sprint("p", i), Grants: []agent.Grant{c.grant}}
		_, err := g.Commit(ctx, agent.Commit{Ops: []agent.Op{op}})
		if (err == nil) != c.ok || err != nil && agent.CodeOf(err) != agent.CodeForbidden {
			t.Errorf("%+v: %v", c.grant, err)
		}
		own := &agent.PutToken{Hash: agent.HashToken(fmt.Sprint("own", i)), Principal: "p", Grants: []agent.Grant{c.grant}}
		if _, err := g.Commit(ctx, agent.Commit{Ops: []agent.Op{own}}); !c.ok && agent.CodeOf(err) != agent.CodeForbidden {
			t.Errorf("%+v for the caller itself: %v", c.grant, err)
		}
	}
}

// The principal root keeps no policy of a scope that it deletes, because its token may do everything. The principals of
// certificates and of OIDC issuers decide reviews that name them. So a token with such a name is only for callers with
// the name, and for those that may do everything.
func TestOnlyWhoMayDoEverythingCreatesATokenOfAReservedName(t *testing.T) {
	weak := []agent.Grant{on("s", agent.VerbAdmin), {Verbs: []agent.Verb{agent.VerbTokensChange}}}
	for i, c := range []struct {
		caller access.Principal
		name   string
		ok     bool
	}{
		{access.Principal{Name: "p", Grants: weak}, agent.RootPrincipal, false},
		{access.Principal{Name: "p", Grants: agent.Everything()}, agent.RootPrincipal, true},
		{access.Principal{Name: agent.RootPrincipal, Grants: weak}, agent.RootPrincipal, true},
		{access.Principal{Name: "p", Grants: weak}, "oidc:anna", false},
		{access.Principal{Name: "oidc:anna", Grants: weak}, "oidc:anna", true},
		{access.Principal{Name: "oidc:bob", Grants: weak}, "oidc:anna", false},
		{access.Principal{Name: "p", Grants: weak}, "cert:anna", false},
		{access.Principal{Name: "p", Grants: agent.Everything()}, "cert:anna", true},
		{access.Principal{Name: "p", Grants: weak}, "anna", true},
	} {
		g := access.NewGuard(memstore.New(), live{})
		op := &agent.PutToken{Hash: agent.HashToken(fmt.Sprint(i)), Principal: c.name, Grants: []agent.Grant{on("s", agent.VerbAdmin)}}
		_, err := g.Commit(access.With(t.Context(), &c.caller), agent.Commit{Ops: []agent.Op{op}})
		if (err == nil) != c.ok || err != nil && agent.CodeOf(err) != agent.CodeForbidden {
			t.Errorf("caller %d: %v", i, err)
		}
	}
}
