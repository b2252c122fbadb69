package access

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
)

// documented returns the verbs that docs/security.md names for an op or a read.
func documented(name string, read bool) []agent.Verb {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
	}
	switch {
	case has("Token"):
		return []agent.Verb{agent.VerbTokensChange}
	case name == "ListScopes":
		return nil
	case read:
		return []agent.Verb{agent.VerbRead}
	case name == "ImportScope":
		return []agent.Verb{agent.VerbAdmin, agent.VerbScopesPolicy}
	case name == "PutScope" || name == "IndexMetadata":
		return []agent.Verb{agent.VerbScopesPolicy}
	case name == "DeleteScope" || name == "EraseAgent":
		return []agent.Verb{agent.VerbAdmin}
	case name == "DecideReview":
		return []agent.Verb{agent.VerbDecide}
	case has("Claim", "Session", "Timer", "Cron", "Manager", "Signal"):
		return []agent.Verb{agent.VerbRun}
	default:
		return []agent.Verb{agent.VerbWrite}
	}
}

func TestEachOpAndReadNeedsTheVerbOfItsKind(t *testing.T) {
	for read, table := range map[bool]map[reflect.Type]need{false: opNeeds, true: readNeeds} {
		for of, n := range table {
			if want := documented(of.Elem().Name(), read); !slices.Equal(n, want) {
				t.Errorf("%s needs %v, and its kind %v", of.Elem().Name(), n, want)
			}
		}
	}
}

// What a caller without rights in a scope can call is not about the scope: see tenant.Service.
func TestOnlyCallsThatNeedAVerbInAScopeAreAboutIt(t *testing.T) {
	others := []string{"ListScopes", "GetToken", "ListTokens", "PutToken", "RevokeToken", "PutScope", "IndexMetadata"}
	for _, table := range []map[reflect.Type]need{opNeeds, readNeeds} {
		for of := range table {
			one := reflect.New(of.Elem()).Interface()
			if got, want := OfScope(one), !slices.Contains(others, of.Elem().Name()); got != want {
				t.Errorf("%s is about its scope: %t, want %t", of.Elem().Name(), got, want)
			}
		}
	}
}

func TestEachMethodNeedsTheVerbOfItsKind(t *testing.T) {
	for method, n := range methodNeeds {
		service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
		want := toChangeCluster
		switch {
		case strings.HasPrefix(service, "grpc."):
			want = open
		case service != "dormouse.api.v1.Cluster" || name == "ExportScope" || name == "WhoAmI": // the guards check what they ask for
			want = toEnter
		case strings.Contains(name, "Backup"):
			want = toBackUp
		case name == "Status" || name == "Placement":
			want = toSeeCluster
		}
		if !slices.Equal(n, want) || (n == nil) != (want == nil) {
			t.Errorf("%s needs %v, and should need %v", method, n, want)
		}
	}
}
