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
	case name == "ForkThread" || name == "ForkAgent":
		return []agent.Verb{agent.VerbWrite, agent.VerbRead}
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

// write alone neither reads what a fork copies, nor does to a session what needs run.
func TestAnOpThatNamesASessionNeedsRunToo(t *testing.T) {
	read, write, run := agent.VerbRead, agent.VerbWrite, agent.VerbRun
	for _, c := range []struct {
		op   agent.Op
		need []agent.Verb
	}{
		{&agent.SetTTL{Thread: "t"}, []agent.Verb{write}},
		{&agent.SetTTL{Conversation: "c"}, []agent.Verb{write}},
		{&agent.SetTTL{Session: "s"}, []agent.Verb{write, run}},
		{&agent.ForkThread{Thread: "t", NewThread: "u"}, []agent.Verb{write, read}},
		{&agent.ForkAgent{Agent: "a", NewAgent: "b"}, []agent.Verb{write, read}},
		{&agent.ForkAgent{Agent: "a", NewAgent: "b", Session: "s", NewSession: "r"}, []agent.Verb{write, read, run}},
		{(*agent.SetTTL)(nil), []agent.Verb{write}},
	} {
		if got := OfOp(c.op); !slices.Equal(got, c.need) {
			t.Errorf("%T needs %v, want %v", c.op, got, c.need)
		}
		for _, lacking := range c.need {
			has := slices.DeleteFunc(slices.Clone(c.need), func(v agent.Verb) bool { return v == lacking })
			p := &Principal{Name: "p", Grants: []agent.Grant{{Scopes: []string{"*"}, Verbs: has}}}
			if err := mayCommit(p, &agent.Commit{Ops: []agent.Op{c.op}}); agent.CodeOf(err) != agent.CodeForbidden {
				t.Errorf("%T without %s: %v", c.op, lacking, err)
			}
		}
		all := &Principal{Name: "p", Grants: []agent.Grant{{Scopes: []string{"*"}, Verbs: c.need}}}
		if err := mayCommit(all, &agent.Commit{Ops: []agent.Op{c.op}}); err != nil {
			t.Errorf("%T: %v", c.op, err)
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
