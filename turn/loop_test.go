package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/turn"
)

// lookUp is a model that calls a tool once and then answers with its result.
func lookUp(asked *int) turn.Model {
	return func(_ context.Context, p turn.Prompt) (turn.Reply, error) {
		*asked++
		if len(p.Steps) == 0 {
			return turn.Reply{Calls: []turn.ToolCall{{Tool: "look_up", Input: json.RawMessage(`{"order":7}`)}}}, nil
		}
		r := p.Steps[0].Results[0]
		return turn.Reply{Content: "found " + string(r.Result) + r.Error}, nil
	}
}

func TestALoopAsksAndCallsAndRecordsTheConversation(t *testing.T) {
	sim(t, func(k *kit) {
		asked, calls := 0, map[string]int{}
		l := turn.Loop{
			Model:  lookUp(&asked),
			Tools:  map[string]turn.Tool{"look_up": {Class: turn.Pure, Call: count(calls, `"tea"`)}},
			Memory: turn.Memory{Capture: turn.CaptureConversation, Inject: turn.InjectInstructions},
		}
		got, err := l.Chat(k.Context(), k.runner, "s", "r1", "what was it?")
		if err != nil || got != `found "tea"` || asked != 2 {
			k.Fatalf("%q, %v; asked %d times", got, err, asked)
		}
		want := []string{agent.KindMessage, agent.KindToolCall, agent.KindToolResult, agent.KindMessage}
		if kinds := k.kinds(); !slices.Equal(kinds, want) {
			k.Errorf("the thread: %v", kinds)
		}
		// The next turn's prompt has the thread and the memory of this turn.
		l.Model = func(_ context.Context, p turn.Prompt) (turn.Reply, error) {
			if len(p.History) != 4 || p.Instructions != "- User: what was it?\nAssistant: found \"tea\"" {
				k.Errorf("history %d, instructions %q", len(p.History), p.Instructions)
			}
			return turn.Reply{Content: "and again"}, nil
		}
		if got, err := l.Chat(k.Context(), k.runner, "s", "r2", "and now?"); err != nil || got != "and again" {
			k.Errorf("%q, %v", got, err)
		}
		if s := k.expectStatus(agent.SessionFinished); s.Conversation.TurnCount != 2 || string(s.Result) != `{"content":"and again"}` {
			k.Errorf("%+v, %s", s.Conversation, s.Result)
		}
	})
}

// A page of a thread ends after some bytes. The prompt has all of the newest entries.
func TestAPromptHasTheNewestOfLargeEntries(t *testing.T) {
	sim(t, func(k *kit) {
		l := turn.Loop{Model: func(context.Context, turn.Prompt) (turn.Reply, error) { return turn.Reply{Content: "first"}, nil }}
		if _, err := l.Chat(k.Context(), k.runner, "s", "r1", "one"); err != nil {
			k.Fatal(err)
		}
		thread := find[*agent.Session](k, &agent.GetSession{Session: "s"}).Thread
		const large = 10
		for range large {
			payload := agent.JSON(`{"result":"` + strings.Repeat("x", 2<<20) + `"}`)
			k.commit(&agent.AppendThread{Thread: thread, Entries: []agent.Draft{{Kind: agent.KindToolResult, Payload: payload}}})
		}
		k.commit(&agent.AppendThread{Thread: thread, Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"user","content":"newest"}`)}}})
		l.Model = func(_ context.Context, p turn.Prompt) (turn.Reply, error) {
			if n := len(p.History); n != 2+large+1 || !strings.Contains(string(p.History[n-1].Payload), "newest") {
				k.Errorf("the prompt has %d entries", n)
			}
			return turn.Reply{Content: "second"}, nil
		}
		if got, err := l.Chat(k.Context(), k.runner, "s", "r2", "two"); err != nil || got != "second" {
			k.Errorf("%q, %v", got, err)
		}
	})
}

// A memory has less room than a request: it keeps the beginning.
func TestALongRequestIsCapturedInPart(t *testing.T) {
	sim(t, func(k *kit) {
		l := turn.Loop{
			Model:  func(context.Context, turn.Prompt) (turn.Reply, error) { return turn.Reply{Content: "read"}, nil },
			Memory: turn.Memory{Capture: turn.CaptureConversation},
		}
		if got, err := l.Chat(k.Context(), k.runner, "s", "r1", strings.Repeat("long ", agent.MemoryBytesMax/4)); err != nil || got != "read" {
			k.Fatalf("%q, %v", got, err)
		}
		k.expectStatus(agent.SessionFinished)
		answers, err := k.service.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.Recall{Agent: "a", Query: "long"}}})
		if err != nil {
			k.Fatal(err)
		}
		if found, ok := answers.Answers[0].Found.(*agent.Recalled); !ok || len(found.Items) != 1 || len(found.Items[0].Memory.Content) < agent.MemoryBytesMax/2 {
			k.Errorf("%+v", answers.Answers[0].Err)
		}
	})
}

// The turn pauses and resumes at each boundary. The model and the tool are
// called once, and the conversation is written once.
func TestALoopThatIsResumedRepeatsNothing(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Pause = turn.PauseAfterEachPhase
		asked, calls := 0, map[string]int{}
		l := turn.Loop{Model: lookUp(&asked), Tools: map[string]turn.Tool{"look_up": {Class: turn.UnsafeOnce, Call: count(calls, `"tea"`)}}}
		if _, err := l.Chat(k.Context(), k.runner, "s", "r1", "hi"); !errors.Is(err, turn.ErrPaused) {
			k.Fatal(err)
		}
		pauses := 1
		for {
			reply, row, err := l.Resume(k.Context(), k.runner, "s")
			if err != nil {
				k.Fatal(err)
			}
			if row.Status == agent.SessionFinished {
				if reply.Content != `found "tea"` {
					k.Errorf("%+v", reply)
				}
				break
			}
			pauses++
		}
		if asked != 2 || len(calls) != 1 || pauses != 4 || len(k.kinds()) != 4 {
			k.Errorf("asked %d times, called %v, paused %d times; thread %v", asked, calls, pauses, k.kinds())
		}
	})
}

func TestALoopPassesToolErrorsToTheModel(t *testing.T) {
	cases := map[string]struct {
		tools map[string]turn.Tool
		want  string
	}{
		"that is not there": {nil, `found there is no tool "look_up"`},
		"that fails": {map[string]turn.Tool{"look_up": {Class: turn.Pure, Call: func(context.Context, turn.Call) (agent.JSON, error) {
			return nil, errors.New("is broken")
		}}}, "found is broken"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				asked := 0
				got, err := turn.Loop{Model: lookUp(&asked), Tools: c.tools}.Chat(k.Context(), k.runner, "s", "r1", "hi")
				if err != nil || got != c.want {
					k.Errorf("%q, %v", got, err)
				}
			})
		})
	}
}

func TestALoopStopsAfterStepsMax(t *testing.T) {
	sim(t, func(k *kit) {
		l := turn.Loop{StepsMax: 2, Model: func(context.Context, turn.Prompt) (turn.Reply, error) {
			return turn.Reply{Calls: []turn.ToolCall{{Tool: "nothing"}}}, nil
		}}
		if _, err := l.Chat(k.Context(), k.runner, "s", "r1", "hi"); !errors.Is(err, agent.ErrTooLarge) || !strings.Contains(err.Error(), "steps_max") {
			k.Error(err)
		}
		k.expectStatus(agent.SessionFailed)
	})
}

func TestAnUnknownMemoryPolicyIsRefused(t *testing.T) {
	for name, m := range map[string]turn.Memory{"capture": {Capture: "all"}, "inject": {Inject: "everywhere"}} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				asked := 0
				if _, err := (turn.Loop{Model: lookUp(&asked), Memory: m}).Chat(k.Context(), k.runner, "s", "r1", "hi"); !errors.Is(err, agent.ErrInvalid) || asked != 0 {
					k.Errorf("%v; asked %d times", err, asked)
				}
			})
		})
	}
}

// Memories injected as context are unchanged, up to the maximum number.
func TestMemoriesInjectedAsContext(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(
			&agent.WriteMemory{Agent: "a", Content: "likes tea"}, &agent.WriteMemory{Agent: "a", Content: "hates rain"},
			&agent.WriteMemory{Agent: "a", Content: "of another session", Session: "other"})
		l := turn.Loop{
			Instructions: "be kind", Memory: turn.Memory{Inject: turn.InjectContext, EntriesMax: 1},
			Model: func(_ context.Context, p turn.Prompt) (turn.Reply, error) {
				if len(p.Memories) != 1 || p.Memories[0].Memory.Content != "hates rain" || p.Instructions != "be kind" {
					k.Errorf("%+v, %q", p.Memories, p.Instructions)
				}
				return turn.Reply{Content: "yes"}, nil
			},
		}
		if _, err := l.Chat(k.Context(), k.runner, "s", "r1", "hi"); err != nil {
			k.Error(err)
		}
		if m := find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a"}); len(m.Items) != 3 {
			k.Errorf("%d memories", len(m.Items))
		}
	})
}

// Each call of a tool in one answer has its own result, and the model is asked StepsMax times at most.
func TestEachCallOfAToolHasItsOwnResult(t *testing.T) {
	sim(t, func(k *kit) {
		asked := 0
		var got []string
		loop := turn.Loop{
			StepsMax: 2,
			Tools: map[string]turn.Tool{"echo": {Class: turn.Pure, Call: func(_ context.Context, c turn.Call) (agent.JSON, error) {
				return c.Input, nil
			}}},
			Model: func(_ context.Context, p turn.Prompt) (turn.Reply, error) {
				asked++
				for _, step := range p.Steps {
					for _, r := range step.Results {
						got = append(got, string(r.Result)+r.Error)
					}
				}
				return turn.Reply{Calls: []turn.ToolCall{{Tool: "echo", Input: []byte(`1`)}, {Tool: "echo", Input: []byte(`2`)}}}, nil
			},
		}
		_, _, err := loop.Run(k.Context(), k.runner, "s", request("r1"))
		if !errors.Is(err, agent.ErrTooLarge) || asked != 2 || strings.Join(got, " ") != "1 2" {
			k.Errorf("asked %d times, results %v, %v", asked, got, err)
		}
	})
}
