package appends

import (
	"strconv"
	"strings"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// ListAppend converts the append workload's calls to the input of Elle's list-append
// checker. A thread is a list, an entry is an element, and an append of some entries
// is one transaction. Elle has no tails, older revs or heads, so such reads are left
// out. Of a repeated append only the first attempt is included. If the first attempt
// was refused and a repetition was not, its outcome becomes unknown.
func ListAppend(h *history.History) ([]history.Transaction, error) {
	var all []history.Transaction
	first := map[int64]int{} // :: number of an append → its index in all
	for _, op := range h.Of("append").Ops {
		a, err := answerTo(op)
		if err != nil {
			return nil, err
		}
		refused := op.Outcome == history.Refused || op.Outcome == history.OK && a.out.Refused
		t := history.Transaction{Op: op}
		switch {
		case op.Call == workload.CallAppend:
			if at, again := first[a.in.By]; again {
				if was := &all[at]; was.Outcome == history.Refused && !refused {
					was.Outcome, was.Return = history.Unknown, history.Never
				}
				continue
			}
			if refused {
				t.Outcome = history.Refused
			}
			first[a.in.By] = len(all)
			for _, id := range a.in.ids() {
				value, _ := element(id)
				t.Steps = append(t.Steps, history.TransactionStep{Key: op.Key, Append: true, Value: value})
			}
		case op.Call == workload.CallRead && a.read.At == nil && a.read.Tail == 0:
			read := history.TransactionStep{Key: op.Key}
			for _, id := range a.out.IDs {
				value, known := element(id)
				if !known {
					value = -1 // no call appended it, so Elle reports it
				}
				read.List = append(read.List, value)
			}
			t.Steps = []history.TransactionStep{read}
		default:
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

// element returns an entry as a number.
func element(id string) (value int64, ok bool) {
	by, place, _ := strings.Cut(id, ".")
	number, wrong := strconv.ParseInt(by, 10, 64)
	at, wrongToo := strconv.ParseInt(place, 10, 64)
	return number*entriesMax + at, wrong == nil && wrongToo == nil && at >= 0 && at < entriesMax
}
