package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// readAnswer returns the answer that a retry of the request would get at the view's entry.
func readAnswer(r txn.Reader, q *agent.GetAnswer) (agent.Found, error) {
	var client logpb.ClientRow
	raw, err := r.Get(kv.IDKey(kv.KindClient, r.Scope, q.Client))
	if err != nil {
		return nil, err
	}
	if err := command.Unmarshal(raw, &client); err != nil {
		return nil, fmt.Errorf("decode client %q: %w", q.Client, err)
	}
	rows, err := answeredOf(&client)
	if err != nil {
		return nil, fmt.Errorf("decode client %q: %w", q.Client, err)
	}
	if highest, ok := answeredIn(client.Low, rows, q.Seq); ok {
		raw, err := r.Get(kv.AnswersKey(r.Scope, q.Client, highest))
		if err != nil {
			return nil, err
		}
		answer, err := decodeAnswer(raw, q.Client, q.Seq)
		if err != nil {
			return nil, err
		}
		decided, err := command.DecodeOutcome(answer.Outcome)
		return &decided, err
	}
	if q.Seq < client.Low {
		return nil, expiredRequest(&logpb.Commit{Client: q.Client, Seq: q.Seq},
			fmt.Sprintf("it is below %d, which its client or time has settled", client.Low))
	}
	return nil, agent.Errorf(agent.CodeNotFound, "request %d of client %q has not been decided", q.Seq, q.Client)
}
