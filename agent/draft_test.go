package agent_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dormouse/agent"

	"github.com/google/go-cmp/cmp"
)

func at(ms int64) *int64 { return &ms }

func TestEntryFillsInWhatADraftLeavesEmpty(t *testing.T) {
	for _, c := range []struct {
		name  string
		draft agent.Draft
		want  agent.Entry
	}{
		{"all of it", agent.Draft{}, agent.Entry{ID: "entry_zz_a", Seq: 10, At: 99, Kind: "note", Payload: agent.JSON("{}"), Refs: agent.JSON("{}")}},
		{"nulls", agent.Draft{Payload: agent.JSON("null"), Refs: agent.JSON("null")}, agent.Entry{ID: "entry_zz_a", Seq: 10, At: 99, Kind: "note", Payload: agent.JSON("{}"), Refs: agent.JSON("{}")}},
		{
			"none of it",
			agent.Draft{ID: "x", At: at(0), Kind: "k", Payload: agent.JSON(`{"a":1}`), Refs: agent.JSON(`{"b":2}`)},
			agent.Entry{ID: "x", Seq: 10, At: 0, Kind: "k", Payload: agent.JSON(`{"a":1}`), Refs: agent.JSON(`{"b":2}`)},
		},
	} {
		if diff := cmp.Diff(c.want, c.draft.Entry(35*36+35, 10, 99)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSameContent(t *testing.T) {
	chosen := agent.Entry{ID: "x", Seq: 3, At: 7, Kind: "message", Payload: agent.JSON(`{"a":1}`), Refs: agent.JSON(`{"r":1}`)}
	generated := (agent.Draft{}).Entry(1<<40, 3, 7)
	for _, c := range []struct {
		name  string
		draft agent.Draft
		entry agent.Entry
		want  bool
	}{
		{"the same in full", agent.Draft{ID: "x", At: at(7), Kind: "message", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, true},
		{"without a time", agent.Draft{ID: "x", Kind: "message", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, true},
		{"another id", agent.Draft{ID: "y", At: at(7), Kind: "message", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, false},
		{"no id where one was chosen", agent.Draft{Kind: "message", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, false},
		{"another time", agent.Draft{ID: "x", At: at(8), Kind: "message", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, false},
		{"no kind where one was chosen", agent.Draft{ID: "x", Payload: chosen.Payload, Refs: chosen.Refs}, chosen, false},
		{"another payload", agent.Draft{ID: "x", Kind: "message", Payload: agent.JSON(`{"a":1.0}`), Refs: chosen.Refs}, chosen, false},
		{"no refs where some were given", agent.Draft{ID: "x", Kind: "message", Payload: chosen.Payload}, chosen, false},
		{"empty against all generated", agent.Draft{}, generated, true},
		{"the generated id, named", agent.Draft{ID: generated.ID}, generated, true},
		{"the defaults, named", agent.Draft{Kind: "note", Payload: agent.JSON("{}"), Refs: agent.JSON("{}")}, generated, true},
	} {
		if got := c.draft.SameContent(c.entry); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGeneratedIDReadsOnlyWhatIsGenerated(t *testing.T) {
	for _, n := range []uint64{0, 1, 35, 36, 1 << 16, math.MaxUint64} {
		e := (agent.Draft{}).Entry(n, math.MaxUint64-n, 0)
		incarnation, seq, ok := agent.GeneratedID(e.ID)
		if !ok || incarnation != n || seq != math.MaxUint64-n {
			t.Errorf("%s: %d, %d, %v", e.ID, incarnation, seq, ok)
		}
		if err := agent.ValidID("id", e.ID); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{
		"", "entry_", "entry_1", "entry_1_", "entry__1", "entry_1_2_3", "Entry_1_2", "entry_01_2", "entry_1_02", "entry_A_1",
		"entry_+1_2", "entry_-1_2", "entry_zzzzzzzzzzzzzz_1", "entry_1 _2", "thread_1_2",
	} {
		if _, _, ok := agent.GeneratedID(id); ok {
			t.Errorf("%q passes for a generated id", id)
		}
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "...", ".a", "a/b", "a b", "é", strings.Repeat("x", agent.IDBytesMax), "{MyApp.Agent,1}"} {
		if err := agent.ValidID("key", id); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	for _, c := range []struct {
		id   string
		code agent.Code
	}{
		{"", agent.CodeInvalid},
		{".", agent.CodeInvalid},
		{"..", agent.CodeInvalid},
		{"a\x00b", agent.CodeInvalid},
		{"\xff", agent.CodeInvalid},
		{"\x01", agent.CodeInvalid},
		{"a\u202eb", agent.CodeInvalid},
		{strings.Repeat("x", agent.IDBytesMax+1), agent.CodeTooLarge},
		{strings.Repeat("é", agent.IDBytesMax/2+1), agent.CodeTooLarge},
	} {
		err := agent.ValidID("key", c.id)
		var e *agent.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Field != "key" || e.Op != -1 {
			t.Errorf("%.20q: %v; want %s of the field", c.id, err, c.code)
		}
	}
	for _, key := range []string{"\x01", "a\u202eb", "a\nb"} { // a key is data
		if err := agent.ValidKey("key", key); err != nil {
			t.Errorf("key %q: %v", key, err)
		}
	}
}
