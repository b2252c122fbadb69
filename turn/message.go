package turn

import (
	"bytes"
	"encoding/json"
	"fmt"

	"dormouse/agent"
)

// message is the payload of an entry of kind agent.KindMessage.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// toolEntry is the payload of entries of the kinds agent.KindToolCall and
// agent.KindToolResult.
type toolEntry struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// encode returns v as JSON, without escapes for HTML.
func encode(v any) (agent.JSON, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a %T: %w", v, err)
	}
	return agent.JSON(bytes.TrimSpace(out.Bytes())), nil
}

// history adds the newest entries of the session's thread to a prompt, and returns the thread's rev.
func (t *Turn) history(p *Prompt) (rev uint64, err error) {
	if t.initial.Thread == "" {
		return 0, nil
	}
	read := agent.LoadEntries{Thread: t.initial.Thread, Tail: historyMax}
	for {
		page := read
		answers, err := t.Read(&page)
		if err != nil {
			return 0, err
		}
		if e := answers[0].Err; e != nil {
			if e.Code == agent.CodeNotFound {
				return 0, nil
			}
			return 0, e
		}
		found, ok := answers[0].Found.(*agent.Entries)
		if !ok {
			return 0, errUnexpected(answers[0])
		}
		p.History = append(p.History, found.Items...)
		if !read.Continue(found) { // entries of more than agent.ReadBytesMax come in pages
			return found.Thread.Rev, nil
		}
	}
}

// messages returns a turn's entries: the request, the tool calls with their
// results, and the answer.
func messages(t *Turn, steps []Step, last Reply) ([]agent.Draft, error) {
	refs, err := encode(struct {
		Session string `json:"session_id"`
		Request string `json:"request_id"`
	}{t.session, t.request.ID})
	if err != nil {
		return nil, err
	}
	w := drafts{refs: refs}
	input := t.request.Input
	if input == nil {
		input = agent.JSON("null")
	}
	w.add(agent.KindMessage, message{"user", json.RawMessage(input)})
	for _, s := range steps {
		if s.Reply.Content != "" {
			w.addMessage(s.Reply.Content)
		}
		for i, c := range s.Reply.Calls {
			w.add(agent.KindToolCall, toolEntry{Tool: c.Tool, Input: c.Input})
			w.add(agent.KindToolResult, toolEntry{Tool: c.Tool, Result: s.Results[i].Result, Error: s.Results[i].Error})
		}
	}
	if last.Content == "" && last.Value != nil {
		w.add(agent.KindMessage, message{"assistant", last.Value})
	} else {
		w.addMessage(last.Content)
	}
	return w.list, w.err
}

// drafts collects entries; err is the first error.
type drafts struct {
	refs agent.JSON
	list []agent.Draft
	err  error
}

func (w *drafts) add(kind string, payload any) {
	raw, err := encode(payload)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.list = append(w.list, agent.Draft{Kind: kind, Payload: raw, Refs: w.refs})
}

func (w *drafts) addMessage(text string) {
	raw, err := encode(text)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.add(agent.KindMessage, message{"assistant", json.RawMessage(raw)})
}
