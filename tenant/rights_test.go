package tenant_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/tenant"
)

// tokens are tokens that are all live.
type tokens struct{}

func (tokens) Live(string) bool      { return true }
func (tokens) LastUsed(string) int64 { return 0 }

// A caller without rights in a scope uses up none of its rates. See ADR 36.
func TestACallerWithoutRightsUsesUpNoRate(t *testing.T) {
	admin := agent.Grant{Verbs: []agent.Verb{agent.VerbTokensChange, agent.VerbClusterRead}}
	for name, c := range map[string]struct {
		grants []agent.Grant
		ops    []agent.Op
		reads  []agent.Read
		code   agent.Code // of the error
	}{
		"lists of scopes": {reads: slices.Repeat([]agent.Read{&agent.ListScopes{}}, agent.ReadsMax)},
		"a list of scopes among reads that are refused": {reads: []agent.Read{&agent.ListScopes{}, &agent.GetValue{Key: "k"}}},
		"no ops":             {ops: []agent.Op{}, code: agent.CodeInvalid},
		"no reads":           {reads: []agent.Read{}, code: agent.CodeInvalid},
		"a write":            {ops: []agent.Op{&agent.PutValue{Key: "k"}}, code: agent.CodeForbidden},
		"a new token":        {grants: []agent.Grant{admin}, ops: []agent.Op{&agent.PutToken{Hash: agent.HashToken("1"), Principal: "q", Grants: []agent.Grant{admin}}}},
		"lists of tokens":    {grants: []agent.Grant{admin}, reads: slices.Repeat([]agent.Read{&agent.ListTokens{}}, agent.ReadsMax)},
		"the default policy": {grants: []agent.Grant{{Verbs: []agent.Verb{agent.VerbScopesPolicy}}}, ops: []agent.Op{&agent.PutScope{Default: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := tenant.NewLimiter(func(string) agent.Policy { return agent.Policy{RequestsPerSecond: 1, BytesPerSecond: 1} })
				g := access.NewGuard(tenant.NewService(memstore.New(), l, func(any) int { return 1000 }), tokens{})
				ctx := access.With(t.Context(), &access.Principal{Name: "stranger", Grants: c.grants})
				var err error
				if c.ops != nil {
					_, err = g.Commit(ctx, agent.Commit{Scope: "victim", Ops: c.ops})
				} else {
					_, err = g.Read(ctx, agent.Reads{Scope: "victim", Reads: c.reads})
				}
				if got := agent.CodeOf(err); err == nil && c.code != "" || err != nil && got != c.code {
					t.Errorf("%v, want %q", err, c.code)
				}
				own := access.With(t.Context(), &access.Principal{Name: "owner", Grants: []agent.Grant{{Scopes: []string{"victim"}, Verbs: []agent.Verb{agent.VerbRead}}}})
				if _, err := g.Read(own, agent.Reads{Scope: "victim", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); err != nil {
					t.Errorf("the next read of the scope: %v", err)
				}
			})
		})
	}
}

// The statistics of all managers need a verb of the cluster, and none in the scope.
func TestStatisticsOfAllManagersUseUpNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := limited(map[string]agent.Policy{"victim": {RequestsPerSecond: 1}})
		i := access.NewInstances(tenant.NewInstances(signalled{}, l), tokens{})
		ctx := access.With(t.Context(), &access.Principal{Name: "p", Grants: []agent.Grant{{Verbs: []agent.Verb{agent.VerbClusterRead}}}})
		for range 2 {
			if _, err := i.Stats(ctx, "victim", ""); err != nil {
				t.Error(err)
			}
		}
		if err := get(s, "victim"); err != nil {
			t.Error(err)
		}
	})
}

// Reads that are about the scope count, and no others of the same request.
func TestOnlyTheReadsAboutAScopeCount(t *testing.T) {
	s, l := limited(nil)
	reads := []agent.Read{&agent.ListScopes{}, &agent.GetValue{Key: "k"}, &agent.ListTokens{}, &agent.GetScope{}}
	if _, err := s.Read(t.Context(), agent.Reads{Scope: "a", Reads: reads}); err != nil {
		t.Fatal(err)
	}
	ops := []agent.Op{&agent.PutValue{Key: "k"}, &agent.RevokeToken{ID: "x"}}
	_, _ = s.Commit(t.Context(), agent.Commit{Scope: "a", Ops: ops})
	if kept, _ := l.Counts(); kept["a"] != (tenant.Counts{Requests: 3}) {
		t.Errorf("it counts %+v", kept["a"])
	}
}
