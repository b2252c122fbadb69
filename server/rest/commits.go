package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// fenceBody fences a commit.
type fenceBody struct {
	Claim string `json:"claim"`
	Epoch uint64 `json:"epoch"`
}

// commitBody is a commit as a caller writes it.
type commitBody struct {
	Fence *fenceBody   `json:"fence,omitempty" doc:"Apply only while the claim's epoch is its newest"`
	Ops   []opDocument `json:"ops" nullable:"false" doc:"Applied in order, all or none"`
}

// ops reads the ops; an error names the op by number.
func (b *commitBody) ops() ([]agent.Op, error) {
	if len(b.Ops) > agent.CommitOpsMax {
		return nil, agent.TooLarge("ops", "commit_ops_max", len(b.Ops), agent.CommitOpsMax)
	}
	ops := make([]agent.Op, len(b.Ops))
	for i, raw := range b.Ops {
		op, err := decodeOp(raw.document)
		if err != nil {
			return nil, numbered(err, i)
		}
		ops[i] = op
	}
	return ops, nil
}

// numbered says which of several an error concerns.
func numbered(err error, i int) error {
	var e *agent.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("op %d: %w", i, err)
	}
	at := *e
	at.Op = i
	var body *bodyError
	if errors.As(err, &body) {
		return &bodyError{&at}
	}
	return &at
}

// committed answers a commit.
type committed struct {
	Index   uint64       `json:"index" doc:"The log index that it applied at"`
	Time    int64        `json:"time" doc:"Unix ms, from the log"`
	Results []wireResult `json:"results" nullable:"false" doc:"One an op, in order"`
}

// committedOf returns the document of a commit's result.
func committedOf(r agent.Result) (committed, error) {
	out := committed{Index: r.Index, Time: r.Time, Results: make([]wireResult, len(r.Results))}
	for i, each := range r.Results {
		body, err := results.documentOf(each)
		if err != nil {
			return committed{}, err
		}
		out.Results[i] = wireResult{body}
	}
	return out, nil
}

// wireResult is what came of one op: much what the call of its own answers.
type wireResult struct{ body any }

// MarshalJSONTo writes the body alone.
func (r wireResult) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, r.body)
}

// deleted answers a delete within a commit.
type deleted struct {
	Existed     bool   `json:"existed"`
	Incarnation uint64 `json:"incarnation,omitzero"`
}

// resultThread answers an append, a hibernation, a compaction or a fork within
// a commit: the thread's meta, and where the entries went.
type resultThread struct {
	thread
	Entries []entryStamp `json:"entries,omitempty"`
}

func deletedOf(r *agent.DeleteResult) deleted {
	return deleted{Existed: r.Existed, Incarnation: r.Incarnation}
}

func resultThreadOf(r *agent.ThreadResult) resultThread {
	return resultThread{thread: threadOf(r.Thread), Entries: threadStampOf(r).Entries}
}

func (f *front) routeCommits() {
	register(f, route{
		method: http.MethodPost, path: "/v1/commits", id: "commit", tag: "commits",
		summary: "Apply several ops, all or none",
		effect:  writes, bodyNeeded: true, numbered: true, answers: committed{},
	}, (*call).commitOps)
}

func (c *call) commitOps(body *commitBody) error {
	if body.Fence != nil {
		fence := agent.Fence{Claim: body.Fence.Claim, Epoch: body.Fence.Epoch}
		if c.fence != nil && *c.fence != fence {
			return agent.Invalid("fence", "the body says %s at %d, the header %s at %d", fence.Claim, fence.Epoch, c.fence.Claim, c.fence.Epoch)
		}
		c.fence = &fence
	}
	ops, err := body.ops()
	if err != nil {
		return err
	}
	result, err := c.commit(ops...)
	if err != nil {
		return err
	}
	out, err := committedOf(result)
	if err != nil {
		return err
	}
	return c.answer(reply{body: out})
}
