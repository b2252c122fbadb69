package document

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// FenceBody is the fence of a commit.
type FenceBody struct {
	Claim string `json:"claim"`
	Epoch uint64 `json:"epoch"`
}

// ToAgent returns the fence that a body names; nil for none.
func (b *FenceBody) ToAgent() *agent.Fence {
	if b == nil {
		return nil
	}
	return &agent.Fence{Claim: b.Claim, Epoch: b.Epoch}
}

// CommitBody is a commit in a request.
type CommitBody struct {
	Fence *FenceBody   `json:"fence,omitempty" doc:"Apply only while the epoch is the claim's newest"`
	Ops   []OpDocument `json:"ops" nullable:"false" doc:"Applied in order, all or none"`
}

// ToOps decodes the ops; an error has the index of its op.
func (b *CommitBody) ToOps() ([]agent.Op, error) {
	if len(b.Ops) > agent.CommitOpsMax {
		return nil, agent.TooLarge("ops", "commit_ops_max", len(b.Ops), agent.CommitOpsMax)
	}
	ops := make([]agent.Op, len(b.Ops))
	for i, raw := range b.Ops {
		op, err := DecodeOp(raw.JSON)
		if err != nil {
			return nil, numbered(err, i)
		}
		ops[i] = op
	}
	return ops, nil
}

// numbered sets the index of the op that an error is about.
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

// Committed is the result of a commit.
type Committed struct {
	Index   uint64       `json:"index" doc:"The log index of the commit"`
	Time    int64        `json:"time" doc:"Unix ms, log time"`
	Results []WireResult `json:"results" nullable:"false" doc:"One for each op, in order"`
}

// CommittedOf returns the document of a commit's result.
func CommittedOf(r agent.Result) (Committed, error) {
	out := Committed{Index: r.Index, Time: r.Time, Results: make([]WireResult, len(r.Results))}
	for i, each := range r.Results {
		body, err := results.documentOf(each)
		if err != nil {
			return Committed{}, err
		}
		out.Results[i] = WireResult{body}
	}
	return out, nil
}

// WireResult is the result of one op, with the members of the answer of the op's own
// call.
type WireResult struct{ body any }

// MarshalJSONTo writes the body only.
func (r WireResult) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, r.body)
}

// Deleted is the result of a delete in a commit.
type Deleted struct {
	Existed     bool   `json:"existed"`
	Incarnation uint64 `json:"incarnation,omitzero"`
}

// DeletedOf returns the document of r.
func DeletedOf(r *agent.DeleteResult) Deleted {
	return Deleted{Existed: r.Existed, Incarnation: r.Incarnation}
}
