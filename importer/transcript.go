package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// Limits of a file, which is kept in memory.
const (
	lineBytesMax = 64 << 20
	fileBytesMax = 1 << 30
)

// Conversation is one line of a transcripts file.
type Conversation struct {
	ID       string
	Line     int // in the file, from 1
	Messages []Message

	stateMembers []byte // the constant members of its checkpoint's state, each with a comma after it
}

// Message is one message of a conversation, unchanged except for white space.
type Message struct {
	Payload agent.JSON
	Kind    string
	role    jsontext.Value // as in the file, with quotes
}

// ReadTranscripts reads conversations, one a line. Errors name the line.
func ReadTranscripts(r io.Reader) ([]Conversation, error) {
	lines := bufio.NewScanner(io.LimitReader(r, fileBytesMax+1))
	lines.Buffer(make([]byte, 0, 64<<10), lineBytesMax)
	var list []Conversation
	seen := map[string]int{} // :: id → line
	size := 0
	for n := 1; lines.Scan(); n++ {
		if size += len(lines.Bytes()) + 1; size > fileBytesMax {
			return nil, fmt.Errorf("line %d: the file has more than %d bytes: split it", n, fileBytesMax)
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c, err := parseConversation(bytes.Clone(lines.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if first, ok := seen[c.ID]; ok {
			return nil, fmt.Errorf("line %d: conversation %q is also on line %d: give each its own id", n, c.ID, first)
		}
		seen[c.ID], c.Line = n, n
		list = append(list, c)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("a line after %d conversations has more than %d bytes", len(list), lineBytesMax)
		}
		return nil, fmt.Errorf("read transcripts: %w", err)
	}
	if list == nil {
		return nil, errors.New("the file has no conversations")
	}
	return list, nil
}

func parseConversation(line []byte) (Conversation, error) {
	var document struct {
		ID       string           `json:"id"`
		Agent    jsontext.Value   `json:"agent"`
		User     jsontext.Value   `json:"user"`
		Reward   jsontext.Value   `json:"reward"`
		Messages []jsontext.Value `json:"messages"`
	}
	if err := json.Unmarshal(line, &document, json.RejectUnknownMembers(true)); err != nil {
		return Conversation{}, fmt.Errorf("not a conversation: %w", err)
	}
	if err := agent.ValidID("id", document.ID); err != nil {
		return Conversation{}, err
	}
	if len(document.Messages) == 0 {
		return Conversation{}, fmt.Errorf("conversation %q has no messages", document.ID)
	}
	c := Conversation{ID: document.ID}
	for i, raw := range document.Messages {
		m, err := parseMessage(raw)
		if err != nil {
			return Conversation{}, fmt.Errorf("message %d of conversation %q: %w", i, c.ID, err)
		}
		c.Messages = append(c.Messages, m)
	}
	for _, member := range []struct {
		name string
		raw  jsontext.Value
	}{{"agent", document.Agent}, {"user", document.User}, {"reward", document.Reward}} {
		if member.raw == nil {
			continue
		}
		compact, err := agent.Compact(member.raw)
		if err != nil {
			return Conversation{}, fmt.Errorf("%s of conversation %q: %w", member.name, c.ID, err)
		}
		c.stateMembers = append(c.stateMembers, `"`+member.name+`":`...)
		c.stateMembers = append(append(c.stateMembers, compact...), ',')
	}
	return c, nil
}

func parseMessage(raw jsontext.Value) (Message, error) {
	payload, err := agent.CompactObject("message", raw)
	if err != nil {
		return Message{}, err
	}
	var document struct {
		Role      jsontext.Value `json:"role"`
		ToolCalls jsontext.Value `json:"tool_calls"`
	}
	if err := json.Unmarshal(payload, &document); err != nil {
		return Message{}, fmt.Errorf("not a message: %w", err)
	}
	if document.Role.Kind() != '"' {
		return Message{}, errors.New("the message has no role: add a string")
	}
	m := Message{Payload: payload, Kind: agent.KindMessage, role: document.Role}
	switch {
	case string(document.Role) == `"tool"`:
		m.Kind = agent.KindToolResult
	case document.ToolCalls.Kind() == '[' && string(document.ToolCalls) != "[]":
		m.Kind = agent.KindToolCall
	}
	return m, nil
}

// state returns the checkpoint's state after the first n messages.
func (c *Conversation) state(n int) agent.JSON {
	s := append([]byte{'{'}, c.stateMembers...)
	s = append(s, `"messages":`...)
	s = strconv.AppendInt(s, int64(n), 10)
	s = append(s, `,"last_role":`...)
	s = append(s, c.Messages[n-1].role...)
	return append(s, '}')
}

// name returns the name of copy i of the conversation, from 1. The first copy
// has the conversation's id.
func (c *Conversation) name(i int) string {
	if i == 1 {
		return c.ID
	}
	return c.ID + "#" + strconv.Itoa(i)
}

// CheckCopies returns an error if a copy of a conversation would have the id of another conversation: both would be
// written to one thread. Copies of different conversations have different names.
func CheckCopies(list []Conversation, copies int) error {
	lines := map[string]int{} // :: id → line
	for _, c := range list {
		lines[c.ID] = c.Line
	}
	for _, c := range list {
		end := max(0, strings.LastIndexByte(c.ID, '#'))
		id, number := c.ID[:end], strings.TrimPrefix(c.ID[end:], "#")
		n, err := strconv.Atoi(number)
		if err != nil || n < 2 || n > copies || strconv.Itoa(n) != number {
			continue
		}
		if line, ok := lines[id]; ok {
			return fmt.Errorf("line %d: conversation %q has the name of copy %d of conversation %q on line %d: rename one of them, or import fewer than %d copies",
				c.Line, c.ID, n, id, line, n)
		}
	}
	return nil
}

// Messages returns the number of messages of all conversations.
func Messages(list []Conversation) int {
	n := 0
	for _, c := range list {
		n += len(c.Messages)
	}
	return n
}
