package convert_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
)

var results = []func(*rapid.T) agent.OpResult{
	func(t *rapid.T) agent.OpResult { return make1[agent.ValueResult](t) },
	func(t *rapid.T) agent.OpResult {
		r := make1[agent.CheckpointResult](t)
		r.Thread = pointer(t)
		return r
	},
	func(t *rapid.T) agent.OpResult { return make1[agent.ThreadResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.DeleteResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.ScopeResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.ImportResult](t) },
	func(t *rapid.T) agent.OpResult { return &agent.ClaimResult{Claim: claim(t)} },
	func(t *rapid.T) agent.OpResult { return make1[agent.MemoryResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.SessionResult](t) },
	func(t *rapid.T) agent.OpResult { return &agent.ManagerResult{Manager: manager(t)} },
	func(t *rapid.T) agent.OpResult { return make1[agent.SignalResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.TimerResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.ReviewResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.TokenResult](t) },
	func(t *rapid.T) agent.OpResult { return make1[agent.PrefixDeletion](t) },
	func(t *rapid.T) agent.OpResult {
		r := make1[agent.ConversationResult](t)
		for i := range r.Messages {
			r.Messages[i].Skipped = false // of appends only
		}
		return r
	},
	func(t *rapid.T) agent.OpResult {
		r := make1[agent.MessageResult](t)
		r.Message.Skipped = false
		return r
	},
}

var reads = []func(*rapid.T) agent.Read{
	func(t *rapid.T) agent.Read { return make1[agent.GetValue](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListValues](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetCheckpoint](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListCheckpoints](t) },
	func(t *rapid.T) agent.Read { return make1[agent.CheckpointHistory](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetThread](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListThreads](t) },
	func(t *rapid.T) agent.Read { return make1[agent.LoadEntries](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetEntry](t) },
	func(t *rapid.T) agent.Read { return make1[agent.VerifyThread](t) },
	func(t *rapid.T) agent.Read {
		thaw := make1[agent.Thaw](t)
		thaw.Encoded = false // is the server's
		return thaw
	},
	func(t *rapid.T) agent.Read { return make1[agent.ListScopes](t) },
	func(*rapid.T) agent.Read { return &agent.GetScope{} },
	func(t *rapid.T) agent.Read { return make1[agent.GetClaim](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListClaims](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetMemory](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListMemories](t) },
	func(t *rapid.T) agent.Read { return make1[agent.Recall](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetManager](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListManagers](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetAnswer](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetTimer](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListTimers](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetSession](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListSessions](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetReview](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListReviews](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetConversation](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListConversations](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListMessages](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetDeletion](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListDeletions](t) },
	func(t *rapid.T) agent.Read { return make1[agent.GetToken](t) },
	func(t *rapid.T) agent.Read { return make1[agent.ListTokens](t) },
}

var found = []func(*rapid.T) agent.Found{
	func(t *rapid.T) agent.Found { return make1[agent.Value](t) },
	func(t *rapid.T) agent.Found { return make1[agent.ValueList](t) },
	func(t *rapid.T) agent.Found { c := checkpoint(t); return &c },
	func(t *rapid.T) agent.Found {
		l := make1[agent.CheckpointList](t)
		for i := range l.Items {
			l.Items[i].Thread = pointer(t)
		}
		return l
	},
	func(t *rapid.T) agent.Found { return make1[agent.Thread](t) },
	func(t *rapid.T) agent.Found { return make1[agent.ThreadList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Entries](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Entry](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Verified](t) },
	func(t *rapid.T) agent.Found {
		th := &agent.Thawed{Checkpoint: checkpoint(t), Ahead: rapid.Uint64().Draw(t, "ahead")}
		if rapid.Bool().Draw(t, "thread") {
			th.Thread = make1[agent.Thread](t)
			th.Entries = rapid.Make[[]agent.Entry]().Draw(t, "entries")
		}
		return th
	},
	func(t *rapid.T) agent.Found { return make1[agent.ScopeList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Scope](t) },
	func(t *rapid.T) agent.Found { c := claim(t); return &c },
	func(t *rapid.T) agent.Found {
		return &agent.ClaimList{Items: []agent.Claim{claim(t)}, Next: rapid.String().Draw(t, "next")}
	},
	func(t *rapid.T) agent.Found { return make1[agent.Memory](t) },
	func(t *rapid.T) agent.Found { return make1[agent.MemoryList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Timer](t) },
	func(t *rapid.T) agent.Found { return make1[agent.TimerList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Recalled](t) },
	func(t *rapid.T) agent.Found { m := manager(t); return &m },
	func(t *rapid.T) agent.Found {
		return &agent.ManagerList{Items: []agent.Manager{manager(t)}, Next: rapid.String().Draw(t, "next")}
	},
	func(t *rapid.T) agent.Found { return &agent.Decided{Err: fault(t)} },
	func(t *rapid.T) agent.Found {
		return &agent.Decided{Result: agent.Result{Index: 7, Time: 8, Results: []agent.OpResult{make1[agent.SignalResult](t)}}}
	},
	func(t *rapid.T) agent.Found { return make1[agent.Session](t) },
	func(t *rapid.T) agent.Found { return make1[agent.SessionList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Review](t) },
	func(t *rapid.T) agent.Found { return make1[agent.ReviewList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.SavedConversation](t) },
	func(t *rapid.T) agent.Found { return make1[agent.ConversationList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.MessageList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.PrefixDeletion](t) },
	func(t *rapid.T) agent.Found { return make1[agent.DeletionList](t) },
	func(t *rapid.T) agent.Found { return make1[agent.Token](t) },
	func(t *rapid.T) agent.Found { return make1[agent.TokenList](t) },
}

// ofEachKind checks each kind of its own, so that each field of each kind is drawn many times.
func ofEachKind[T any](t *testing.T, kinds []func(*rapid.T) T, check func(t *rapid.T, kind func(*rapid.T) T)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(nameOf(kind), rapid.MakeCheck(func(t *rapid.T) { check(t, kind) }))
	}
}

// nameOf returns the name of the type of a kind's values.
func nameOf[T any](kind func(*rapid.T) T) string {
	one := rapid.Custom(func(t *rapid.T) T {
		_ = rapid.Bool().Draw(t, "any") // some kinds draw nothing, which Custom does not allow
		return kind(t)
	}).Example(1)
	_, name, _ := strings.Cut(fmt.Sprintf("%T", one), ".")
	return name
}

func namesOf[T any](kinds []func(*rapid.T) T) (names []string) {
	for _, kind := range kinds {
		names = append(names, nameOf(kind))
	}
	return names
}

// Each op, result, read and answer of the domain is one of the kinds above, and so is converted by a test.
func TestAllKindsAreConverted(t *testing.T) {
	declared := map[string][]string{} // :: method that marks a kind → types that have it
	files, err := filepath.Glob("../../agent/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil {
				continue
			}
			if of, ok := m.Recv.List[0].Type.(*ast.StarExpr); ok {
				declared[m.Name.Name] = append(declared[m.Name.Name], of.X.(*ast.Ident).Name)
			}
		}
	}
	for marker, tested := range map[string][]string{"validateOp": namesOf(ops), "isOpResult": namesOf(results), "isRead": namesOf(reads), "isFound": namesOf(found)} {
		if len(declared[marker]) == 0 {
			t.Errorf("no type has the method %s", marker)
		}
		for _, name := range declared[marker] {
			if !slices.Contains(tested, name) {
				t.Errorf("no %s is converted by a test", name)
			}
		}
	}
}
