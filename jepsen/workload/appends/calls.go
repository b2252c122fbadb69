package appends

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dormouse/agent"
	"dormouse/jepsen/model"
)

// epoch is the base of the times of entries that do not get the log's time.
const epoch = 1_700_000_000_000

// id returns the id of the append's entry at place, from 0.
func (in appendIn) id(place int) string { return fmt.Sprintf("%d.%d", in.By, place) }

// ids returns the ids of the append's entries, in order.
func (in appendIn) ids() []string {
	ids := make([]string, in.Entries)
	for place := range ids {
		ids[place] = in.id(place)
	}
	return ids
}

// chained returns the entry with an id in the form that the chain covers. Its time is
// at, or the time that the id implies if at is 0.
func chained(id string, at int64) (model.ChainedEntry, bool) {
	by, place, ok := strings.Cut(id, ".")
	number, err := strconv.ParseInt(by, 10, 64)
	if !ok || err != nil {
		return model.ChainedEntry{}, false
	}
	if at == 0 {
		at = epoch + number
	}
	return model.ChainedEntry{
		ID: id, At: at, Kind: "step",
		Payload: fmt.Sprintf(`{"by":%d,"place":%q,"text":"<é>"}`, number, place), Refs: fmt.Sprintf(`{"signal_id":%q}`, by),
	}, true
}

// op returns the op of the append.
func (in appendIn) op(thread string) agent.AppendThread {
	op := agent.AppendThread{Thread: thread, ExpectedRev: in.Rev, ExpectedHead: in.Head}
	for place := range in.Entries {
		e, _ := chained(in.id(place), 0)
		draft := agent.Draft{ID: e.ID, At: &e.At, Kind: e.Kind, Payload: agent.JSON(e.Payload), Refs: agent.JSON(e.Refs)}
		if in.Stamped {
			draft.At = nil
		}
		op.Entries = append(op.Entries, draft)
	}
	return op
}

func (in readIn) op(thread string) agent.LoadEntries {
	return agent.LoadEntries{Thread: thread, Tail: in.Tail, AtRev: in.At, Limit: agent.EntriesLimitMax}
}

// conflict turns a conflict or not_found error into an answer, which the checker
// judges like any other answer.
func conflict(err error) (appendOut, error) {
	var e *agent.Error
	switch {
	case errors.As(err, &e) && e.Code == agent.CodeConflict:
		return appendOut{Refused: true, Rev: e.Rev, Head: e.Head}, nil
	case errors.As(err, &e) && e.Code == agent.CodeNotFound:
		return appendOut{Missing: true}, nil
	default:
		return appendOut{}, err
	}
}

func threadMeta(t *agent.Thread, err error) (appendOut, error) {
	if err != nil {
		return conflict(err)
	}
	return appendOut{Incarnation: t.Incarnation, Rev: t.Rev, Head: t.Head.String()}, nil
}

func appended(r *agent.ThreadResult, err error) (appendOut, error) {
	if err != nil {
		return conflict(err)
	}
	out, _ := threadMeta(&r.Thread, nil)
	for i, stamp := range r.Entries {
		if i == 0 {
			out.From = stamp.Seq
		}
		if stamp.Seq != out.From+uint64(i) {
			out.Wrong = fmt.Sprintf("entry %s went to seq %d, and the first of the call to %d", stamp.ID, stamp.Seq, out.From)
		}
		out.show(stamp.ID, stamp.At)
	}
	return out, nil
}

func loaded(page *agent.Entries, err error) (appendOut, error) {
	if err != nil {
		return conflict(err)
	}
	out, _ := threadMeta(&page.Thread, nil)
	for i, e := range page.Items {
		if i == 0 {
			out.From = e.Seq
		}
		if e.Seq != out.From+uint64(i) {
			out.Wrong = fmt.Sprintf("seq %d is at place %d of a list from seq %d on", e.Seq, i, out.From)
		}
		if want, ours := chained(e.ID, e.At); !ours || want.Kind != e.Kind || want.Payload != string(e.Payload) || want.Refs != string(e.Refs) {
			odd, _ := json.Marshal(e)
			out.Wrong = fmt.Sprintf("no call wrote %s", odd)
		}
		out.show(e.ID, e.At)
	}
	if page.Next != nil {
		out.Wrong = fmt.Sprintf("the answer ends before seq %d, of %d", *page.Next, page.Thread.Rev)
	}
	return out, nil
}

// show adds an entry that was seen. It omits times that follow from the id.
func (o *appendOut) show(id string, at int64) {
	o.IDs = append(o.IDs, id)
	if e, ours := chained(id, 0); !ours || e.At != at {
		o.Stamps = append(o.Stamps, at)
	}
}
