package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
)

func TestAValueIsComparedByRevisionAndByBytes(t *testing.T) {
	r := newSubject(t)
	put := func(text string, ifBytes *[]byte) *agent.PutValue {
		return &agent.PutValue{Key: "v", ContentType: "text/plain", Bytes: []byte(text), IfBytes: ifBytes}
	}
	bytes := func(text string) *[]byte { b := []byte(text); return &b }
	r.refuse(agent.CodeRevisionMismatch, put("a", bytes("")))
	do[*agent.ValueResult](r, put("", new([]byte))) // V-1, must not exist
	r.refuse(agent.CodeRevisionMismatch, put("a", new([]byte)))
	do[*agent.ValueResult](r, put("a", bytes(""))) // an empty value exists
	if e := r.refusal(agent.CodeRevisionMismatch, put("b", bytes("x"))); e.Revision != 2 {
		t.Fatalf("%+v", e)
	}
	got := do[*agent.ValueResult](r, put("a", bytes("a")), put("b", bytes("a"))) // within one commit
	if got.Revision != 4 {
		t.Fatalf("%+v", got)
	}
	r.refuse(agent.CodeRevisionMismatch, &agent.DeleteValue{Key: "v", IfBytes: bytes("a")})
	if v := read[*agent.Value](r, &agent.GetValue{Key: "v"}); string(v.Bytes) != "b" || v.ContentType != "text/plain" {
		t.Fatalf("%+v", v)
	}
	r.refuse(agent.CodeDeleted, &agent.PutValue{Key: "v", IfIncarnation: got.Incarnation + 1})
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "v", IfBytes: bytes("b"), IfIncarnation: got.Incarnation})
	if e := r.refusal(agent.CodeDeleted, &agent.PutValue{Key: "v", IfRevision: ptr(uint64(4)), IfIncarnation: got.Incarnation}); e.Incarnation != got.Incarnation {
		t.Fatalf("%+v", e)
	}
	if d := do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "v"}); d.Existed {
		t.Fatalf("%+v", d)
	}
}

func TestListsPageInKeyOrder(t *testing.T) {
	r := newSubject(t)
	keys := []string{"a", "a!", "a/b", "ab", "b", "b ", "zz", "ä"}
	for _, i := range []int{5, 2, 7, 0, 1, 6, 3, 4} {
		do[*agent.ValueResult](r, &agent.PutValue{Key: keys[i]})
		do[*agent.CheckpointResult](r, state(keys[i], `{}`))
		do[*agent.ThreadResult](r, appendTo(keys[i]))
	}
	lists := map[string]func(p agent.Page) (ids []string, next string){
		"values": func(p agent.Page) (ids []string, next string) {
			list := read[*agent.ValueList](r, &agent.ListValues{Page: p})
			for _, item := range list.Items {
				ids = append(ids, item.Key)
			}
			return ids, list.Next
		},
		"checkpoints": func(p agent.Page) (ids []string, next string) {
			list := read[*agent.CheckpointList](r, &agent.ListCheckpoints{Page: p})
			for _, item := range list.Items {
				ids = append(ids, item.Key)
			}
			return ids, list.Next
		},
		"threads": func(p agent.Page) (ids []string, next string) {
			list := read[*agent.ThreadList](r, &agent.ListThreads{Page: p})
			for _, item := range list.Items {
				ids = append(ids, item.ID)
			}
			return ids, list.Next
		},
	}
	for noun, list := range lists {
		for limit := uint64(1); limit <= 9; limit++ {
			var got []string
			page := agent.Page{Limit: limit}
			for {
				ids, next := list(page)
				got = append(got, ids...)
				if next == "" {
					break
				}
				page.After = next
			}
			if fmt.Sprint(got) != fmt.Sprint(keys) {
				t.Fatalf("%s by %d: %q", noun, limit, got)
			}
		}
		if ids, _ := list(agent.Page{Prefix: "a"}); fmt.Sprint(ids) != "[a a! a/b ab]" {
			t.Fatalf("%s below a: %q", noun, ids)
		}
		if ids, _ := list(agent.Page{Prefix: "a", After: "b"}); len(ids) != 0 {
			t.Fatalf("%s after the prefix: %q", noun, ids)
		}
	}
}

// A seal of a value that is deleted already names the incarnation that was deleted.
func TestALaterSealKeepsTheIncarnation(t *testing.T) {
	r := newSubject(t)
	incarnation := do[*agent.ValueResult](r, &agent.PutValue{Key: "v"}).Incarnation
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "v"}, &agent.DeleteValue{Key: "v", Seal: time.Hour})
	if e := r.refusal(agent.CodeDeleted, &agent.PutValue{Key: "v"}); e.Incarnation != incarnation {
		t.Errorf("the seal names incarnation %d, want %d", e.Incarnation, incarnation)
	}
}
