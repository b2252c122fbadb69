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

	names []string // of the ops, in order; set by ToOps
}

// ToOps decodes the ops; an error has the index of its op.
func (b *CommitBody) ToOps() ([]agent.Op, error) {
	if len(b.Ops) > agent.CommitOpsMax {
		return nil, agent.TooLarge("ops", "commit_ops_max", len(b.Ops), agent.CommitOpsMax)
	}
	ops := make([]agent.Op, len(b.Ops))
	b.names = make([]string, len(b.Ops))
	for i, raw := range b.Ops {
		name, op, err := decodeOp(raw.JSON)
		if err != nil {
			return nil, numbered(err, i)
		}
		ops[i], b.names[i] = op, name
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

// Committed returns the document of the result of the commit whose ops ToOps returned.
func (b *CommitBody) Committed(r agent.Result) (Committed, error) {
	out := Committed{Index: r.Index, Time: r.Time, Results: make([]WireResult, len(r.Results))}
	if len(r.Results) != len(b.names) {
		return Committed{}, agent.Errorf(agent.CodeInternal, "%d ops have %d results", len(b.names), len(r.Results))
	}
	for i, each := range r.Results {
		body, err := results.documentOf(each)
		if err != nil {
			return Committed{}, err
		}
		out.Results[i] = WireResult{op: b.names[i], body: body}
	}
	return out, nil
}

// WireResult is the result of one op: its name, and the members of the answer of the op's own call.
type WireResult struct {
	op   string
	body any
}

// MarshalJSONTo writes the members of the body after the name.
func (r WireResult) MarshalJSONTo(enc *jsontext.Encoder) error {
	members, err := json.Marshal(r.body, enc.Options())
	if err != nil {
		return err
	}
	whole := append(make([]byte, 0, len(members)+len(r.op)+len(`{"op":"",`)), `{"op":"`+r.op+`"`...)
	if members = members[1:]; members[0] != '}' {
		whole = append(whole, ',')
	}
	return enc.WriteValue(append(whole, members...))
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
