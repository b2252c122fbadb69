package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Transaction is a call in the form of Elle's list-append checker: its appends to
// lists and its reads of lists.
type Transaction struct {
	Op
	Steps []TransactionStep
}

// TransactionStep is an append to a list, or a read of one.
type TransactionStep struct {
	Key    string
	Append bool
	Value  int64   // the appended value, unique in the list
	List   []int64 // the list that was read, if the call is OK
}

// WriteTransactionsEDN writes transactions in the format of Jepsen's list-append
// workload, which Elle reads:
//
//	{:index :type :invoke|:ok|:fail|:info :process :f :txn :value [[:append "k" 5] [:r "k" [1 5]]] :time …}
//
// Process numbers and unknown calls are as in WriteEDN.
func WriteTransactionsEDN(w io.Writer, all []Transaction) error {
	ops := make([]Op, len(all))
	steps := make(map[int64][]TransactionStep, len(all))
	for i, t := range all {
		ops[i], steps[t.ID] = t.Op, t.Steps
	}
	out := ednWriter{buffer: bufio.NewWriter(w), process: newJepsenProcesses(ops)}
	for _, m := range moments(&History{Ops: ops}) {
		out.transaction(m.op, m.at, m.returns, steps[m.op.ID])
	}
	return errors.Join(out.err, out.buffer.Flush())
}

func (w *ednWriter) transaction(op *Op, at time.Duration, returns bool, steps []TransactionStep) {
	kind := "invoke"
	if returns {
		kind = map[Outcome]string{OK: "ok", Refused: "fail", Unknown: "info"}[op.Outcome]
	}
	w.begin(kind, fmt.Sprint(w.process.of[op.ID]), "txn", at)
	words := make([]string, len(steps))
	for i, s := range steps {
		switch {
		case s.Append:
			words[i] = fmt.Sprintf("[:append %s %d]", quote(s.Key), s.Value)
		case returns && op.Outcome == OK:
			words[i] = fmt.Sprintf("[:r %s %v]", quote(s.Key), s.List)
		default:
			words[i] = fmt.Sprintf("[:r %s nil]", quote(s.Key))
		}
	}
	w.print(", :value [%s]", strings.Join(words, " "))
	w.node(op.Node)
}
