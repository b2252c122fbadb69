package main

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"dormouse/sdk/go/agent"
)

// turn is what the runner is called with.
type turn struct {
	message *genai.Content // nil if there is nothing to do
	state   map[string]any
}

// resume returns how the session goes on, from its events alone.
func resume(ctx context.Context, sessions session.Service, ledger ledger) (turn, error) {
	got, err := sessions.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if agent.CodeOf(err) == agent.CodeNotFound {
		say("begins a new session")
		_, err = sessions.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: id, State: map[string]any{doneKey: 0}})
		return turn{message: genai.NewContentFromText("Prepare the dinner.", genai.RoleUser)}, err
	}
	if err != nil {
		return turn{}, err
	}
	done, err := got.Session.State().Get(doneKey)
	if err != nil {
		return turn{}, err
	}
	say("goes on with a session of %d events, %v of %d steps done", got.Session.Events().Len(), done, len(plan))
	if open := unanswered(got.Session.Events()); open != nil {
		return answer(ctx, open, ledger)
	}
	if done == float64(len(plan)) && said(got.Session.Events()) {
		return turn{}, nil
	}
	return turn{message: genai.NewContentFromText("Go on.", genai.RoleUser)}, nil
}

// unanswered returns the last call of a tool if its answer is not in the session: the process ended
// in between. The model makes one call at a time.
func unanswered(events session.Events) *genai.FunctionCall {
	var open *genai.FunctionCall
	for event := range events.All() {
		if event.Content == nil {
			continue
		}
		for _, part := range event.Content.Parts {
			switch {
			case part.FunctionCall != nil:
				open = part.FunctionCall
			case part.FunctionResponse != nil:
				open = nil
			}
		}
	}
	return open
}

// said reports whether the last event is a text, and so the end of a turn.
func said(events session.Events) bool {
	if events.Len() == 0 {
		return false
	}
	last := events.At(events.Len() - 1)
	return last.Author != "user" && last.Content != nil && len(last.Content.Parts) > 0 && last.Content.Parts[0].Text != ""
}

// answer returns the turn that answers a call. A step is done here if it was not done before. The agent
// that asked to hand over decides again.
func answer(ctx context.Context, call *genai.FunctionCall, ledger ledger) (turn, error) {
	say("finds the call %s %v without an answer", call.Name, call.Args)
	result, state := map[string]any{"error": "interrupted: decide again"}, map[string]any(nil)
	if call.Name == doTool {
		step, _ := call.Args["step"].(float64)
		if err := ledger.do(ctx, int(step)); err != nil {
			return turn{}, err
		}
		result, state = map[string]any{"result": "done"}, map[string]any{doneKey: step}
	}
	part := &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: result}}
	if call.ID == "" {
		return turn{}, fmt.Errorf("the call of %s has no id: it cannot be answered", call.Name)
	}
	return turn{genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser), state}, nil
}
