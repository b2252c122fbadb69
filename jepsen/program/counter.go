package program

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"

	"dormouse/agent"
	"dormouse/instance"
)

// counter is a live counter. It counts in its own memory, so that the effect of a turn
// that was not applied would show in every later state.
type counter struct {
	state counted
}

// counted is the stored state of a counter.
type counted struct {
	By    string         `json:"by"` // program that made the last increment
	Marks map[string]int `json:"marks"`
}

// handlers returns the handlers of a program.
func handlers(name string) map[string]instance.GoHandler {
	return map[string]instance.GoHandler{name: {New: func(agent.InstanceRef) instance.Handler { return &counter{} }}}
}

// Restore implements instance.Restorer.
func (c *counter) Restore(state agent.JSON) error { return json.Unmarshal(state, &c.state) }

// Checkpoint implements instance.Checkpointer.
func (c *counter) Checkpoint() (agent.JSON, error) { return json.Marshal(c.state) }

// Handle implements instance.Handler. It takes those signals of the document handler
// that the workload sends: "turn" with one entry, and "get".
func (c *counter) Handle(_ context.Context, t *instance.Turn) error {
	switch t.Type() {
	case "get":
		reply, err := json.Marshal(map[string]counted{"state": c.state})
		if err != nil {
			return err
		}
		return t.Reply(reply)
	case "turn":
		return c.increment(t)
	default:
		return agent.Invalid("type", "a counter takes no signal %q", t.Type())
	}
}

func (c *counter) increment(t *instance.Turn) error {
	var in struct {
		Entries struct {
			Payload json.RawMessage `json:"payload"`
		} `json:"entries"`
		Patch counted `json:"patch"`
	}
	if err := json.Unmarshal(t.Data(), &in); err != nil {
		return agent.Invalid("data", "%v", err)
	}
	if c.state.Marks == nil {
		c.state.Marks = map[string]int{}
	}
	c.state.By = in.Patch.By
	for name := range in.Patch.Marks {
		c.state.Marks[name]++
	}
	t.Append(agent.Draft{Payload: agent.JSON(in.Entries.Payload)})
	if spoilt(in.Patch.By) {
		return errors.New("this increment fails on purpose")
	}
	return nil
}

// spoilt selects increments that the handler fails after it has done everything. Such
// an increment is refused and must leave no trace, not even in memory.
func spoilt(name string) bool { return crc32.ChecksumIEEE([]byte(name))%8 == 0 }
