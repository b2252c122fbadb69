package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
)

// Turns returns the number of turns of all conversations.
func Turns(list []Conversation) int {
	n := 0
	for i := range list {
		n += len(list[i].turnSpans())
	}
	return n
}

// StartSessions makes a session of each conversation, with an agent and a
// thread of its own, all of the same name. It returns the number of messages of
// turns that are finished already.
func StartSessions(ctx context.Context, s agent.Service, list []Conversation, o Options) (already int, err error) {
	o = o.withDefaults()
	var counted counters
	var mu sync.Mutex
	err = forEachCopy(ctx, list, o, func(ctx context.Context, jobs <-chan job) error {
		client := newRetryClient(s, o.Scope, o.GiveUp, &counted)
		for j := range jobs {
			n, err := startSession(ctx, client, j)
			if err != nil {
				return fmt.Errorf("start session %s (line %d): %w", j.name, j.conversation.Line, err)
			}
			mu.Lock()
			already += n
			mu.Unlock()
		}
		return nil
	})
	return already, err
}

func startSession(ctx context.Context, s *retryClient, j job) (already int, err error) {
	none := uint64(0)
	err = s.commit(ctx, &agent.PutSession{
		Session: j.name, Agent: j.name, SessionSettings: agent.SessionSettings{Thread: j.name}, Metadata: j.conversation.metadata(), IfRevision: &none,
	})
	if agent.CodeOf(err) != agent.CodeAlreadyExists {
		return 0, err
	}
	answers, err := s.read(ctx, &agent.GetSession{Session: j.name})
	if err != nil {
		return 0, err
	}
	found, err := foundIn[*agent.Session](answers, 0)
	if err != nil {
		return 0, err
	}
	turns := j.conversation.turnSpans()
	if n := min(int(found.Conversation.TurnCount), len(turns)); n > 0 {
		already = turns[n-1].to
	}
	return already, nil
}

// metadata returns the members of the file that describe the whole
// conversation.
func (c *Conversation) metadata() agent.JSON {
	about := c.stateMembers
	if n := len(about); n > 0 {
		about = about[:n-1] // without the last comma
	}
	return slices.Concat(agent.JSON{'{'}, about, agent.JSON{'}'})
}

// refsOf returns the refs of a turn's entries.
func refsOf(session, request string) (agent.JSON, error) {
	raw, err := json.Marshal(struct {
		Session string `json:"session_id"`
		Request string `json:"request_id"`
	}{session, request})
	if err != nil {
		return nil, fmt.Errorf("encode the refs of a turn: %w", err)
	}
	return raw, nil
}

// VerifySessions compares every session and its thread with its conversation:
// each turn has finished once, in order, and every message is stored byte for
// byte.
func VerifySessions(ctx context.Context, s agent.Service, list []Conversation, o Options) (Report, error) {
	return verifyEach(ctx, s, list, o, verifySession)
}

func verifySession(ctx context.Context, s *retryClient, j job, d *Differences) (entries int, nodes map[string]bool, err error) {
	stored, err := loadStored(ctx, s, j.name)
	if err != nil {
		return 0, nil, err
	}
	if stored.thread == nil {
		d.add("%s: there is no such thread", j.name)
	} else {
		stored.compareThread(d, j, len(j.conversation.Messages))
	}
	answers, err := s.read(ctx, &agent.GetSession{Session: j.name})
	if err != nil {
		return 0, nil, err
	}
	found, err := foundIn[*agent.Session](answers, 0)
	switch {
	case errors.Is(err, agent.ErrNotFound):
		d.add("%s: there is no such session", j.name)
	case err != nil:
		return 0, nil, err
	default:
		compareSession(d, j, found)
	}
	stored.nodes[answers.Node] = true
	return len(stored.entries), stored.nodes, nil
}

func compareSession(d *Differences, j job, s *agent.Session) {
	turns := j.conversation.turnSpans()
	if s.Status != agent.SessionFinished {
		d.add("%s: the session is %s", j.name, s.Status)
	}
	if got := s.Conversation.TurnCount; got != uint64(len(turns)) {
		d.add("%s: the session has %d turns, the file %d", j.name, got, len(turns))
	}
	if got, want := s.Conversation.LastCompletedRequestID, requestID(len(turns)-1); got != want {
		d.add("%s: the last turn was %q, the file's is %q", j.name, got, want)
	}
	if want := j.conversation.Messages[len(j.conversation.Messages)-1].Payload; !equal(s.Result, want) {
		d.add("%s: the session's result is not the last message: %s", j.name, firstDifference(s.Result, want))
	}
	finished := map[string]int{}
	for _, r := range s.Requests {
		switch r.Outcome {
		case agent.RequestFinished:
			finished[r.ID]++
		case agent.RequestOpen:
			d.add("%s: request %s was begun and has no end", j.name, r.ID)
		default: // another runner answered the same request
		}
	}
	for n := range turns {
		times := finished[requestID(n)]
		if times > 1 || times == 0 && len(s.Requests) < agent.SessionRequestsMax { // the oldest are no longer stored
			d.add("%s: request %s was finished %d times", j.name, requestID(n), times)
		}
	}
}
