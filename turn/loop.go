package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"dormouse/agent"
)

// Model calls a language model. Tests can pass a function with fixed answers.
// Answers are effects of class Idempotent, so a turn that continues does not
// ask again.
type Model func(ctx context.Context, p Prompt) (Reply, error)

// Prompt is the input of a model.
type Prompt struct {
	Instructions string
	Request      agent.SessionRequest
	History      []agent.Entry          // the newest messages of the session's thread
	Memories     []agent.RecalledMemory // if the loop's memory injects memories as context
	Steps        []Step                 // of this turn so far
}

// Step is one answer of the model, and the results of the tools that it called.
type Step struct {
	Reply   Reply
	Results []ToolResult // one for each call, in order
}

// Reply is a model's answer: tool calls, or the final answer.
type Reply struct {
	Content string          `json:"content,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"` // an answer in a format of the caller
	Calls   []ToolCall      `json:"calls,omitempty"`
}

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
}

// ToolResult is the result of a ToolCall, or the text of its error.
type ToolResult struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Tool is a capability that the model may call.
type Tool struct {
	Class  Class
	Call   Capability
	Review func(input agent.JSON) *agent.ReviewDraft // returns the review that a call needs; nil, or a nil result, for none
}

// Limits of a loop.
const (
	stepsDefault = 16
	historyMax   = 200 // entries of the thread in a prompt
)

// Loop answers requests: it asks a model, calls the tools that the model
// requests, and asks again until it requests none. The model gets the errors of
// tools and the denials of reviews. A Loop holds no state.
type Loop struct {
	Model        Model
	Tools        map[string]Tool // by name
	Instructions string
	StepsMax     int // answers of the model in one turn; 0 means 16
	Memory       Memory
}

// Chat answers a text with a text. If the turn pauses it returns ErrPaused, and
// Resume returns the answer.
func (l Loop) Chat(ctx context.Context, r Runner, session, request, text string) (string, error) {
	input, err := json.Marshal(text)
	if err != nil {
		return "", fmt.Errorf("chat: %w", err)
	}
	reply, row, err := l.Run(ctx, r, session, agent.SessionRequest{ID: request, Input: input})
	if err == nil && row.Status != agent.SessionFinished {
		err = fmt.Errorf("%w: the session is %s", ErrPaused, row.Status)
	}
	return reply.Content, err
}

// Run answers a request, as Runner.Turn does. The reply is empty if the turn
// pauses.
func (l Loop) Run(ctx context.Context, r Runner, session string, request agent.SessionRequest) (Reply, agent.SessionRow, error) {
	return l.with(func(f Func) (agent.SessionRow, error) { return r.Turn(ctx, session, request, f) })
}

// Resume continues a turn that paused, as Runner.Resume does.
func (l Loop) Resume(ctx context.Context, r Runner, session string) (Reply, agent.SessionRow, error) {
	return l.with(func(f Func) (agent.SessionRow, error) { return r.Resume(ctx, session, f) })
}

// Recover continues a turn whose runner is lost, as Runner.Recover does.
func (l Loop) Recover(ctx context.Context, r Runner, session string) (Reply, agent.SessionRow, error) {
	return l.with(func(f Func) (agent.SessionRow, error) { return r.Recover(ctx, session, f) })
}

func (l Loop) with(run func(Func) (agent.SessionRow, error)) (Reply, agent.SessionRow, error) {
	var reply Reply
	row, err := run(func(t *Turn) (err error) {
		reply, err = l.Answer(t)
		return err
	})
	return reply, row, err
}

// Answer runs the loop within a turn's function, which may do more in the same
// turn. It appends the turn's messages to the session's thread, if it has one,
// and sets the session's result.
func (l Loop) Answer(t *Turn) (Reply, error) {
	p := Prompt{Instructions: l.Instructions, Request: t.Request()}
	rev, err := t.history(&p)
	if err != nil {
		return Reply{}, err
	}
	if err := l.Memory.inject(t, &p); err != nil {
		return Reply{}, err
	}
	if err := t.Reach(agent.PhaseAfterPrompt, "prompt"); err != nil {
		return Reply{}, err
	}
	reply, err := l.steps(t, &p)
	if err != nil {
		return Reply{}, err
	}
	result, err := encode(reply)
	if err != nil {
		return Reply{}, err
	}
	if err := t.SetResult(result); err != nil {
		return Reply{}, err
	}
	l.Memory.capture(t, reply)
	if thread := t.initial.Thread; thread != "" {
		drafts, err := messages(t, p.Steps, reply)
		if err != nil {
			return Reply{}, err
		}
		t.Append(thread, rev, drafts...)
	}
	return reply, nil
}

// steps asks the model until it requests no calls.
func (l Loop) steps(t *Turn, p *Prompt) (Reply, error) {
	stepsMax := l.StepsMax
	if stepsMax == 0 {
		stepsMax = stepsDefault
	}
	for step := range stepsMax {
		reply, err := l.ask(t, *p, step)
		if err != nil || len(reply.Calls) == 0 {
			return reply, err
		}
		results := make([]ToolResult, len(reply.Calls))
		for i, call := range reply.Calls {
			if results[i], err = l.call(t, "tool/"+strconv.Itoa(step)+"/"+strconv.Itoa(i), call); err != nil {
				return Reply{}, err
			}
		}
		p.Steps = append(p.Steps, Step{Reply: reply, Results: results})
	}
	return Reply{}, agent.TooLarge("steps", "steps_max", stepsMax+1, stepsMax)
}

// ask asks the model, unless an earlier run has its answer.
func (l Loop) ask(t *Turn, p Prompt, step int) (Reply, error) {
	raw, err := t.Effect(Effect{ID: "model/" + strconv.Itoa(step), Name: "model", Class: Idempotent},
		func(ctx context.Context, _ Call) (agent.JSON, error) {
			reply, err := l.Model(ctx, p)
			if err != nil {
				return nil, err
			}
			return encode(reply)
		})
	if err != nil {
		return Reply{}, err
	}
	var reply Reply
	if err := json.Unmarshal(raw, &reply); err != nil {
		return Reply{}, fmt.Errorf("read the model's answer: %w", err)
	}
	return reply, nil
}

// call calls a tool. Errors that the model may handle are part of the result.
func (l Loop) call(t *Turn, id string, c ToolCall) (ToolResult, error) {
	tool, ok := l.Tools[c.Tool]
	if !ok {
		return ToolResult{Error: fmt.Sprintf("there is no tool %q", c.Tool)}, nil
	}
	effect := Effect{ID: id, Name: c.Tool, Class: tool.Class, Input: agent.JSON(c.Input)}
	if tool.Review != nil {
		effect.Review = tool.Review(effect.Input)
	}
	raw, err := t.Effect(effect, tool.Call)
	var failed *CallError
	var denied *DeniedError
	switch {
	case err == nil:
		return ToolResult{Result: json.RawMessage(raw)}, nil
	case errors.As(err, &failed):
		return ToolResult{Error: failed.Message}, nil
	case errors.As(err, &denied):
		return ToolResult{Error: denied.Error()}, nil
	default:
		return ToolResult{}, err
	}
}
