package importer

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/turn"
)

// turnSpan is a turn of a conversation: a user's message and all messages up to
// the next one. Messages before the first user's belong to the first turn.
type turnSpan struct {
	from, to int // indexes of messages; to is exclusive
	asked    int // the message that the turn answers
}

// turnSpans splits a conversation into turns. There is at least one.
func (c *Conversation) turnSpans() []turnSpan {
	var list []turnSpan
	for i, m := range c.Messages {
		switch {
		case string(m.role) != `"user"`:
		case list == nil:
			list = []turnSpan{{asked: i}}
		default:
			list[len(list)-1].to = i
			list = append(list, turnSpan{from: i, asked: i})
		}
	}
	if list == nil {
		list = []turnSpan{{}}
	}
	list[len(list)-1].to = len(c.Messages)
	return list
}

// requestID returns the id of the nth turn's request, from 0.
func requestID(n int) string { return "turn-" + strconv.Itoa(n+1) }

// toolCall is a tool call of an assistant's message.
type toolCall struct {
	name   string
	input  agent.JSON // the call's "function", as in the file
	answer agent.JSON // the tool's message, as in the file; nil if there is none
}

// calls returns the tool calls of a message. It skips calls of another format.
// The answers are the messages after it, in order.
func (c *Conversation) calls(i int) []toolCall {
	var m struct {
		Calls []struct {
			Function jsontext.Value `json:"function"`
		} `json:"tool_calls"`
	}
	if c.Messages[i].Kind != agent.KindToolCall || json.Unmarshal(c.Messages[i].Payload, &m) != nil {
		return nil
	}
	var list []toolCall
	for k, raw := range m.Calls {
		var function struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw.Function, &function) != nil || function.Name == "" {
			continue
		}
		call := toolCall{name: function.Name, input: agent.JSON(bytes.Clone(raw.Function))}
		if at := i + 1 + k; at < len(c.Messages) && c.Messages[at].Kind == agent.KindToolResult {
			call.answer = c.Messages[at].Payload
		}
		list = append(list, call)
	}
	return list
}

// readOnlyPrefixes are prefixes of the names of tools that change nothing.
var readOnlyPrefixes = []string{"get_", "search_", "list_", "find_", "calculate", "think"}

// classOf returns the effect class of a tool. Tools that change something get
// the effect's key, so repeats have no further effect.
func classOf(tool string) turn.Class {
	for _, prefix := range readOnlyPrefixes {
		if strings.HasPrefix(tool, prefix) {
			return turn.Pure
		}
	}
	return turn.Idempotent
}

// effectID returns the id of a call within its turn.
func effectID(message, call int) string { return fmt.Sprintf("message-%d/call-%d", message, call+1) }
