package register

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// store is a kind of object that is a register.
type store interface {
	// do makes a call.
	do(ctx context.Context, p *workload.Process, call, key string, in model.RegisterIn) (model.RegisterOut, error)
	// draw returns a new call that only this kind has.
	draw(w *register, p *workload.Process, known model.RegisterOut) (string, model.RegisterIn)
}

const (
	checkpointPrefix = "c"
	valuePrefix      = "v"
)

// storeOf returns the kind of a key.
func storeOf(key string) store {
	if strings.HasPrefix(key, valuePrefix) {
		return values{}
	}
	return checkpoints{}
}

// checkpoints store a content as their state.
type checkpoints struct{}

func (checkpoints) draw(w *register, p *workload.Process, known model.RegisterOut) (string, model.RegisterIn) {
	in := model.RegisterIn{Content: model.Content{B: w.written.Add(1)}}
	switch p.Rand.IntN(4) {
	case 0:
		in = model.RegisterIn{Drop: true}
	case 1:
		in.IfRevision = &known.Revision
	case 2:
		in.IfIncarnation = known.Incarnation
	}
	return model.RegisterPatch, in
}

func (checkpoints) do(ctx context.Context, p *workload.Process, call, key string, in model.RegisterIn) (model.RegisterOut, error) {
	at := p.Client.In(p.Scope)
	switch call {
	case model.RegisterPut:
		return checkpointWritten(at.PutCheckpoint(ctx, agent.PutCheckpoint{
			Key: key, State: stateOf(in.Content), IfRevision: in.IfRevision, IfIncarnation: in.IfIncarnation,
		}))
	case model.RegisterPatch:
		return checkpointWritten(at.PatchCheckpoint(ctx, agent.PatchCheckpoint{
			Key: key, Patch: patchOf(in), IfRevision: in.IfRevision, IfIncarnation: in.IfIncarnation,
		}))
	case model.RegisterDelete:
		return deleted(at.DeleteCheckpoint(ctx, agent.DeleteCheckpoint{Key: key, IfRevision: in.IfRevision, IfIncarnation: in.IfIncarnation}))
	default:
		c, err := at.GetCheckpoint(ctx, key)
		if err != nil {
			return model.RegisterOut{}, err
		}
		return model.RegisterOut{Incarnation: c.Incarnation, Revision: c.Revision, Content: contentOf(c.State)}, nil
	}
}

func checkpointWritten(r *agent.CheckpointResult, err error) (model.RegisterOut, error) {
	if err != nil {
		return model.RegisterOut{}, err
	}
	return model.RegisterOut{Incarnation: r.Incarnation, Revision: r.Revision}, nil
}

func deleted(r *agent.DeleteResult, err error) (model.RegisterOut, error) {
	if err != nil {
		return model.RegisterOut{}, err
	}
	if !workload.Told(r) {
		return model.RegisterOut{Untold: true}, nil
	}
	return model.RegisterOut{Existed: r.Existed, Incarnation: r.Incarnation}, nil
}

// stateOf returns a content as the state of a checkpoint.
func stateOf(c model.Content) agent.JSON {
	state, err := json.Marshal(c)
	if err != nil {
		panic(err) // cannot fail: two numbers
	}
	return state
}

// contentOf returns the content of a state. A state that no call wrote is Odd.
func contentOf(state agent.JSON) model.Content {
	var c model.Content
	if err := json.Unmarshal(state, &c); err != nil || c.Odd != "" {
		return model.Content{Odd: string(state)}
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(state, &members); err != nil || len(members) != c.Members() {
		return model.Content{Odd: string(state)}
	}
	return c
}

func patchOf(in model.RegisterIn) agent.JSON {
	if in.Drop {
		return agent.JSON(`{"b":null}`)
	}
	return stateOf(in.Content)
}

// values store a content as the digits of its members.
type values struct{}

func (values) draw(w *register, p *workload.Process, known model.RegisterOut) (string, model.RegisterIn) {
	in := model.RegisterIn{Content: w.fresh(p)}
	switch {
	case known.Revision == 0:
		in.IfAbsent = true
	case p.Rand.IntN(4) == 0:
		return model.RegisterDelete, model.RegisterIn{IfContent: &known.Content}
	default:
		in.IfContent = &known.Content
	}
	return model.RegisterPut, in
}

func (values) do(ctx context.Context, p *workload.Process, call, key string, in model.RegisterIn) (model.RegisterOut, error) {
	at := p.Client.In(p.Scope)
	var expected *[]byte
	switch {
	case in.IfAbsent:
		expected = new([]byte)
	case in.IfContent != nil:
		stored := bytesOf(*in.IfContent)
		expected = &stored
	}
	switch call {
	case model.RegisterPut:
		r, err := at.PutValue(ctx, agent.PutValue{
			Key: key, Bytes: bytesOf(in.Content), IfRevision: in.IfRevision, IfBytes: expected, IfIncarnation: in.IfIncarnation,
		})
		if err != nil {
			return model.RegisterOut{}, err
		}
		return model.RegisterOut{Incarnation: r.Incarnation, Revision: r.Revision}, nil
	case model.RegisterDelete:
		return deleted(at.DeleteValue(ctx, agent.DeleteValue{Key: key, IfRevision: in.IfRevision, IfBytes: expected, IfIncarnation: in.IfIncarnation}))
	default:
		v, err := at.GetValue(ctx, key)
		if err != nil {
			return model.RegisterOut{}, err
		}
		return model.RegisterOut{Incarnation: v.Incarnation, Revision: v.Revision, Content: contentOfBytes(v.Bytes)}, nil
	}
}

const valueFormat = "%d/%d"

func bytesOf(c model.Content) []byte { return fmt.Appendf(nil, valueFormat, c.A, c.B) }

func contentOfBytes(raw []byte) model.Content {
	var c model.Content
	if _, err := fmt.Sscanf(string(raw), valueFormat, &c.A, &c.B); err != nil || !bytes.Equal(bytesOf(c), raw) {
		return model.Content{Odd: string(raw)}
	}
	return c
}
