package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Limits of the findings of a page.
const (
	rowsMax         = 200     // calls in the table of one
	rowsOfAllMax    = 1000    // and of all
	cellRunesMax    = 160     // of a call's input or answer
	pictureBytesMax = 1 << 20 // of all pictures, packed
)

// findingView is a finding in the form that the page shows.
type findingView struct {
	Check, Rule, Key, Detail string
	Rows                     []rowView
	More                     int    // calls that were left out
	Picture                  string // gzip in base64
	PictureLeftOut           string // why there is none
}

// rowView is a call of a finding, or a fault that began or was healed at that time.
type rowView struct {
	start                time.Duration
	Fault                string
	From, To, Node, Call string
	Process              int
	In, Out              string
	Outcome              history.Outcome
}

// findings returns all findings of a run, with the shortest histories that show them.
func findings(run *Run) ([]findingView, error) {
	var list []findingView
	rowsLeft, bytesLeft := rowsOfAllMax, pictureBytesMax
	for _, r := range run.Results {
		for _, f := range r.Findings {
			v := findingView{Check: r.Check, Rule: f.Rule, Key: f.Key, Detail: f.Detail}
			shown := min(len(f.Ops), rowsMax, rowsLeft)
			rowsLeft -= shown
			v.Rows, v.More = rows(f.Ops[:shown], run.History.Events), len(f.Ops)-shown
			if len(f.Picture) > 0 {
				packed, err := pack(f.Picture)
				if err != nil {
					return nil, err
				}
				if len(packed) <= bytesLeft {
					v.Picture = packed
					bytesLeft -= len(packed)
				} else {
					v.PictureLeftOut = "porcupine's picture of it was left out, for the size of this page"
				}
			}
			list = append(list, v)
		}
	}
	return list, nil
}

// rows returns calls in order of their invocations, together with the faults of that time.
func rows(ops []history.Op, events []history.Event) []rowView {
	if len(ops) == 0 {
		return nil
	}
	var list []rowView
	first, last := ops[0].Invoke, ops[0].Invoke
	for _, op := range ops {
		row := rowView{
			start: op.Invoke, From: at(op.Invoke), To: at(op.Return), Process: op.Process, Node: op.Node, Call: fmt.Sprintf("%s %d", op.Call, op.ID),
			In: cell(string(op.In)), Out: cell(string(op.Out)), Outcome: op.Outcome,
		}
		if op.Outcome != history.OK {
			row.Out = cell(op.Code)
		}
		list = append(list, row)
		first, last = min(first, op.Invoke), max(last, op.Invoke)
		if op.Return != history.Never {
			last = max(last, op.Return)
		}
	}
	for _, e := range events {
		if e.At < first || e.At > last {
			continue
		}
		switch e.Kind {
		case history.EventFault:
			list = append(list, rowView{start: e.At, From: at(e.At), Fault: fmt.Sprintf("fault %d begins: %s, %s", e.Step, e.Name, e.Detail)})
		case history.EventHeal:
			list = append(list, rowView{start: e.At, From: at(e.At), Fault: fmt.Sprintf("fault %d is healed: %s", e.Step, e.Name)})
		case history.EventLeader:
			list = append(list, rowView{start: e.At, From: at(e.At), Fault: fmt.Sprintf("%s leads, in term %d", e.Node, e.Term)})
		case history.EventExit:
			list = append(list, rowView{start: e.At, From: at(e.At), Fault: fmt.Sprintf("%s ends: %s", e.Node, e.Detail)})
		default:
		}
	}
	slices.SortStableFunc(list, func(a, b rowView) int { return int(a.start - b.start) })
	return list
}

// cell shortens a text to the width of a table cell.
func cell(s string) string {
	runes := []rune(s)
	if len(runes) <= cellRunesMax {
		return s
	}
	return string(runes[:cellRunesMax-1]) + "…"
}

// pack compresses a picture for the page.
func pack(picture []byte) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(picture); err != nil {
		return "", fmt.Errorf("pack a picture: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("pack a picture: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// firsts returns the first finding of each rule of a result.
func firsts(r check.Result) []check.Finding {
	var list []check.Finding
	for _, f := range r.Findings {
		if !slices.ContainsFunc(list, func(g check.Finding) bool { return g.Rule == f.Rule }) {
			list = append(list, f)
		}
	}
	return list
}
