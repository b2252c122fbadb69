package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dormouse/jepsen/history"
)

func TestEDNIsAsJepsenWritesIt(t *testing.T) {
	h := &history.History{
		Ops: []history.Op{
			{ID: 1, Workload: "w", Process: 0, Node: "n1", Call: "put", Key: "k", In: json.RawMessage(`{"to":"a \"b\"","if_rev":9007199254740993,"9":null}`), Out: json.RawMessage(`[1,2.5,true,{}]`), Invoke: 10, Return: 30, Outcome: history.OK},
			{ID: 2, Workload: "w", Process: 1, Call: "get", Key: "k", Invoke: 20, Return: history.Never, Outcome: history.Unknown, Code: "unknown", Detail: "who knows"},
			{ID: 3, Workload: "w", Process: 1, Call: "get", Key: "k", Invoke: 40, Return: 50, Outcome: history.Refused, Code: "not_found", Detail: "no"},
		},
		Events: []history.Event{{At: 45, Kind: history.EventFault, Name: "kill", Step: 2, Node: "n2"}},
	}
	var out strings.Builder
	if err := history.WriteEDN(&out, h); err != nil {
		t.Fatal(err)
	}
	const want = `{:index 0, :type :invoke, :process 0, :f :put, :time 10, :workload :w, :value ["k" {:to "a \"b\"" :if_rev 9007199254740993 "9" nil}], :node "n1"}
{:index 1, :type :invoke, :process 1, :f :get, :time 20, :workload :w, :value ["k" nil]}
{:index 2, :type :ok, :process 0, :f :put, :time 30, :workload :w, :value ["k" [1 2.5 true {}]], :node "n1"}
{:index 3, :type :invoke, :process 3, :f :get, :time 40, :workload :w, :value ["k" nil]}
{:index 4, :type :info, :process :nemesis, :f :fault, :time 45, :value {:name "kill", :step 2, :term 0, :detail "", :data nil}, :node "n2"}
{:index 5, :type :fail, :process 3, :f :get, :time 50, :workload :w, :value ["k" nil], :error [:not_found "no"]}
{:index 6, :type :info, :process 1, :f :get, :time 50, :workload :w, :value ["k" nil], :error [:unknown "who knows"]}
`
	if out.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", out.String(), want)
	}
}

func TestEDNOfWhatIsNoJSONFails(t *testing.T) {
	h := &history.History{Ops: []history.Op{{ID: 1, Call: "put", In: json.RawMessage(`{"a":`)}}}
	if err := history.WriteEDN(&strings.Builder{}, h); err == nil {
		t.Error("it was written")
	}
}
