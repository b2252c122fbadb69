package document_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/api/document"
)

// The results of a commit have the names of its ops, in order.
func TestTheResultsOfACommitNameTheirOps(t *testing.T) {
	var body document.CommitBody
	if err := json.Unmarshal([]byte(`{"ops":[{"op":"delete_value","key":"a"},{"op":"delete_thread","thread":"b"}]}`), &body); err != nil {
		t.Fatal(err)
	}
	if _, err := body.ToOps(); err != nil {
		t.Fatal(err)
	}
	results := []agent.OpResult{&agent.DeleteResult{Existed: true}, &agent.DeleteResult{}}
	committed, err := body.Committed(agent.Result{Index: 7, Time: 8, Results: results})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(committed)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"index":7,"time":8,"results":[{"op":"delete_value","existed":true},{"op":"delete_thread","existed":false}]}`
	if string(raw) != want {
		t.Errorf("%s\nwant %s", raw, want)
	}
	if _, err := body.Committed(agent.Result{Results: results[:1]}); agent.CodeOf(err) != agent.CodeInternal {
		t.Errorf("a result too few: %v", err)
	}
}

func TestAnOrderIsAscOrDesc(t *testing.T) {
	for order, valid := range map[string]bool{"asc": true, "desc": true, "": false, "ascending": false} {
		var body document.RecallBody
		if err := json.Unmarshal([]byte(`{"order":"`+order+`"}`), &body); (err == nil) != valid {
			t.Errorf("%q: %v", order, err)
		}
	}
}
