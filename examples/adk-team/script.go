package main

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// transferTool is ADK's tool by which an agent hands over to another.
const transferTool = "transfer_to_agent"

// scripted is a model that needs no network: it reads in the instruction how many steps are done, and
// decides what its agent does next. A real model takes its place in team.go.
type scripted struct{ agent string }

var stepsDone = regexp.MustCompile(`Steps done: (\d+)\.`)

// Name returns the name of the model.
func (scripted) Name() string { return "scripted" }

// GenerateContent answers a request with one call of a tool, or with a text at the end.
func (s scripted) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		pause(ctx, 150*time.Millisecond) // a model thinks
		part, err := s.decide(req)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel)}, nil)
	}
}

func (s scripted) decide(req *model.LLMRequest) (*genai.Part, error) {
	var text string
	for _, part := range req.Config.SystemInstruction.Parts {
		text += part.Text
	}
	found := stepsDone.FindStringSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("the instruction of the %s does not say how many steps are done: %q", s.agent, text)
	}
	done, err := strconv.Atoi(found[1])
	switch {
	case err != nil:
		return nil, err
	case done < len(plan) && plan[done].who == s.agent:
		return genai.NewPartFromFunctionCall(doTool, map[string]any{"step": done + 1}), nil
	case done < len(plan) && s.agent == chef:
		return genai.NewPartFromFunctionCall(transferTool, map[string]any{"agent_name": plan[done].who}), nil
	case s.agent != chef:
		return genai.NewPartFromFunctionCall(transferTool, map[string]any{"agent_name": chef}), nil
	default:
		return genai.NewPartFromText("Dinner is ready."), nil
	}
}
