package document_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/api/document"
)

// Each type of the domain must be in one of the two lists below or in a table, so that
// no type is forgotten.

func TestEachResultHasADocument(t *testing.T) {
	results := []agent.OpResult{
		&agent.ValueResult{}, &agent.CheckpointResult{}, &agent.ThreadResult{}, &agent.DeleteResult{}, &agent.ScopeResult{}, &agent.ClaimResult{},
		&agent.SessionResult{}, &agent.ReviewResult{}, &agent.MemoryResult{}, &agent.ForkedAgent{}, &agent.Erasure{}, &agent.ConversationResult{},
		&agent.MessageResult{}, &agent.ManagerResult{}, &agent.TimerResult{}, &agent.TokenResult{}, &agent.PrefixDeletion{},
	}
	made := map[string]bool{"SignalResult": true, "ImportResult": true} // results of ops that only nodes commit
	for _, r := range results {
		made[reflect.TypeOf(r).Elem().Name()] = true
		if _, err := document.ResultOf(r); err != nil {
			t.Error(err)
		}
	}
	for _, name := range declared(t, "isOpResult") {
		if !made[name] {
			t.Errorf("result %s has no document", name)
		}
	}
}

func TestWhatIsFoundHasADocument(t *testing.T) {
	found := []agent.Found{
		&agent.Value{}, &agent.ValueList{}, &agent.Checkpoint{}, &agent.CheckpointList{}, &agent.Thread{}, &agent.ThreadList{}, &agent.Entries{},
		&agent.Entry{}, &agent.Verified{}, &agent.Thawed{}, &agent.ScopeList{}, &agent.Scope{}, &agent.Claim{}, &agent.ClaimList{}, &agent.Session{},
		&agent.SessionList{}, &agent.Review{}, &agent.ReviewList{}, &agent.Manager{}, &agent.ManagerList{}, &agent.Memory{}, &agent.MemoryList{},
		&agent.Recalled{}, &agent.Timer{}, &agent.TimerList{}, &agent.SavedConversation{}, &agent.ConversationList{}, &agent.MessageList{},
		&agent.Erasure{}, &agent.Token{}, &agent.TokenList{}, &agent.PrefixDeletion{}, &agent.DeletionList{},
	}
	made := map[string]bool{"Decided": true} // between nodes only
	for _, f := range found {
		made[reflect.TypeOf(f).Elem().Name()] = true
		if _, err := document.FoundOf(f); err != nil {
			t.Error(err)
		}
	}
	for _, name := range declared(t, "isFound") {
		if !made[name] {
			t.Errorf("found %s has no document", name)
		}
	}
}

// TestEachOpNamesItsResult fails for an op or a read whose answer is not in the table.
func TestEachOpNamesItsResult(t *testing.T) {
	for what, tables := range map[string][2][]string{
		"op":   {slices.Sorted(maps.Keys(document.OpTypes())), slices.Sorted(maps.Keys(document.ResultTypes()))},
		"read": {slices.Sorted(maps.Keys(document.ReadTypes())), slices.Sorted(maps.Keys(document.FoundTypes()))},
	} {
		if !slices.Equal(tables[0], tables[1]) {
			t.Errorf("each %s of %v needs its answer in %v", what, tables[0], tables[1])
		}
	}
}
