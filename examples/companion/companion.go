// Package companion is the agent of the examples: a Go handler of live
// instances, and a model that is none, so that every run says the same.
package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/instance"
)

// Name is what managers call the handler by.
const Name = "companion"

// Model answers a question that comes after others. A real one calls out, and
// takes a context for it; both are the same to the handler.
type Model func(ctx context.Context, asked []string, question string) (string, error)

// Fake is a model that only remembers: what it answers follows from what it was
// asked.
func Fake(_ context.Context, asked []string, question string) (string, error) {
	if len(asked) == 0 {
		return fmt.Sprintf("You begin with %q.", question), nil
	}
	return fmt.Sprintf("You asked %s before, and %q now.", strings.Join(asked, ", "), question), nil
}

// Handlers is what a program registers to keep companions that speak by model.
func Handlers(model Model) map[string]instance.GoHandler {
	return map[string]instance.GoHandler{Name: {
		New: func(agent.InstanceRef) instance.Handler { return handler{model} }, Version: 1,
	}}
}

// Manager keeps one companion a key.
func Manager() *agent.PutManager {
	return &agent.PutManager{Manager: agent.Manager{
		Name: "companions", Handler: agent.Handler{Kind: agent.HandlerGo, Name: Name},
		Untracked: true, // its thread is the conversation alone
	}}
}

// Ask asks the companion of that key, and returns what it says.
func Ask(ctx context.Context, instances agent.Instances, key string, request agent.Request, question string) (string, agent.Reply, error) {
	data, err := json.Marshal(map[string]string{"text": question})
	if err != nil {
		return "", agent.Reply{}, err
	}
	signal := agent.Signal{Request: request, Type: "ask", Data: data}
	reply, err := instances.Signal(ctx, agent.InstanceRef{Manager: "companions", Key: key}, signal)
	if err != nil {
		return "", agent.Reply{}, fmt.Errorf("ask %s: %w", key, err)
	}
	var said struct{ Text string }
	return said.Text, reply, decode(reply.Data, &said)
}

// handler answers signals of the type ask. All that it keeps is the state.
type handler struct{ model Model }

// Handle implements instance.Handler. Question and answer, the state and the
// reply are one commit: all of it, once, or nothing.
func (h handler) Handle(ctx context.Context, t *instance.Turn) error {
	var question struct{ Text string }
	if err := decode(t.Data(), &question); err != nil || t.Type() != "ask" {
		return agent.Invalid("type", "a companion is asked: {\"type\": \"ask\", \"data\": {\"text\": …}}")
	}
	var state struct {
		Asked []string `json:"asked"`
	}
	if err := decode(t.State(), &state); err != nil {
		return err
	}
	answer, err := h.model(ctx, state.Asked, question.Text)
	if err != nil {
		return err
	}
	state.Asked = append(state.Asked, question.Text)
	kept, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := t.SetState(kept); err != nil {
		return err
	}
	for _, m := range []message{{"user", question.Text}, {"assistant", answer}} {
		entry, err := m.entry()
		if err != nil {
			return err
		}
		t.Append(entry)
	}
	said, err := json.Marshal(map[string]string{"text": answer})
	if err != nil {
		return err
	}
	return t.Reply(said)
}

// message is what an entry of the thread says.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (m message) entry() (agent.Draft, error) {
	payload, err := json.Marshal(m)
	return agent.Draft{Kind: "message", Payload: payload}, err
}

func decode(data agent.JSON, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("decode %s: %w", data, err)
	}
	return nil
}
