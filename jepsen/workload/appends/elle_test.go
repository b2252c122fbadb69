package appends

import (
	"strings"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func TestAppendsAreToldAsElleKnowsThem(t *testing.T) {
	tail := workloadtest.OK(2, 36, 37, workload.CallRead, "t1", readIn{Tail: 1}, listed(1, "1.1"))
	lost := workloadtest.Unknown(wrote(3, 10, 11, 2, 1, 2))
	calls := workloadtest.Script{
		wrote(1, 0, 5, 1, 2, 0),
		lost,
		again(wrote(4, 20, 21, 2, 1, 2), 3), // the same append, repeated
		conflicts(wrote(1, 30, 31, 3, 1, 0), 3),
		workloadtest.Refused(wrote(1, 32, 33, 4, 1, 0), "unavailable"),
		again(wrote(1, 34, 35, 4, 1, 3), 4), // a repetition was applied
		tail,
		workloadtest.OK(3, 40, 41, workload.CallRead, "t1", readIn{}, listed(0, "1.0", "1.1", "2.0", "x")),
		workloadtest.OK(3, 42, 43, workload.CallRead, "t2", readIn{}, appendOut{Missing: true}),
		workloadtest.Refused(workloadtest.OK(3, 44, 45, workload.CallRead, "t1", readIn{}, nil), "unavailable"),
	}
	h := calls.History()
	for i := range h.Ops {
		h.Ops[i].Workload = "append"
	}
	all, err := ListAppend(h)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := history.WriteTransactionsEDN(&out, all); err != nil {
		t.Fatal(err)
	}
	const want = `{:index 0, :type :invoke, :process 1, :f :txn, :time 0, :value [[:append "t1" 4] [:append "t1" 5]]}
{:index 1, :type :ok, :process 1, :f :txn, :time 5000000, :value [[:append "t1" 4] [:append "t1" 5]]}
{:index 2, :type :invoke, :process 3, :f :txn, :time 10000000, :value [[:append "t1" 8]]}
{:index 3, :type :invoke, :process 1, :f :txn, :time 30000000, :value [[:append "t1" 12]]}
{:index 4, :type :fail, :process 1, :f :txn, :time 31000000, :value [[:append "t1" 12]]}
{:index 5, :type :invoke, :process 1, :f :txn, :time 32000000, :value [[:append "t1" 16]]}
{:index 6, :type :invoke, :process 7, :f :txn, :time 40000000, :value [[:r "t1" nil]]}
{:index 7, :type :ok, :process 7, :f :txn, :time 41000000, :value [[:r "t1" [4 5 8 -1]]]}
{:index 8, :type :invoke, :process 7, :f :txn, :time 42000000, :value [[:r "t2" nil]]}
{:index 9, :type :ok, :process 7, :f :txn, :time 43000000, :value [[:r "t2" []]]}
{:index 10, :type :invoke, :process 7, :f :txn, :time 44000000, :value [[:r "t1" nil]]}
{:index 11, :type :fail, :process 7, :f :txn, :time 45000000, :value [[:r "t1" nil]]}
{:index 12, :type :info, :process 3, :f :txn, :time 45000000, :value [[:append "t1" 8]]}
{:index 13, :type :info, :process 1, :f :txn, :time 45000000, :value [[:append "t1" 16]]}
`
	if out.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", out.String(), want)
	}
}
