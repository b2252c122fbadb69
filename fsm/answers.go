package fsm

import (
	"cmp"
	"fmt"
	"slices"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// Answers are kept by the entry, not by the request: the requests of a client
// that share a log entry share a row, and the client's row says which request
// is in which. So a request costs no row of its own, and one that comes out of
// order is known to be new without a look at the engine.

// clientState is a client's row while an entry is applied.
type clientState struct {
	logpb.ClientRow
	known   bool
	changed bool

	fresh    []*logpb.Answer // of this entry
	notAfter uint64          // of fresh: when the last may go
}

// client is what is known of a client: the entry's own copy, to be changed in
// place. storeClients writes it.
func (b *batch) client(scope, client string) (row *clientState, err error) {
	key := idKey(kindClient, scope, client)
	if row, ok := b.clients[key]; ok {
		return row, nil
	}
	row = &clientState{}
	raw, err := b.rows.get(key)
	if err != nil {
		return nil, err
	}
	if raw != nil {
		if err := unmarshal(raw, &row.ClientRow); err != nil {
			return nil, fmt.Errorf("decode client %q: %w", client, err)
		}
		row.known = true
	}
	b.clients[key] = row
	return row, nil
}

// answer adds an answer of this entry.
func (c *clientState) answer(a *logpb.Answer, notAfter uint64) {
	c.fresh = append(c.fresh, a)
	c.notAfter = max(c.notAfter, notAfter)
}

// answeredIn is the row that a request's answer is in; nil where it has none
// that was not settled.
func answeredIn(client *logpb.ClientRow, seq uint64) *logpb.Answered {
	if seq < client.Low {
		return nil
	}
	for _, in := range client.Answered {
		if seq > in.Max {
			continue
		}
		if _, ok := slices.BinarySearchFunc(in.Back, in.Max-seq, func(back, want uint64) int { return cmp.Compare(want, back) }); ok {
			return in
		}
	}
	return nil
}

// decodeAnswer picks a request's answer from its row.
func decodeAnswer(raw []byte, client string, seq uint64) (*logpb.Answer, error) {
	var row logpb.AnswersRow
	if err := unmarshal(raw, &row); err != nil {
		return nil, fmt.Errorf("decode answers of client %q: %w", client, err)
	}
	at, ok := slices.BinarySearchFunc(row.Answers, seq, func(a *logpb.Answer, seq uint64) int { return cmp.Compare(a.Seq, seq) })
	if !ok {
		return nil, fmt.Errorf("the answer to request %d of client %q is missing", seq, client)
	}
	return row.Answers[at], nil
}

// answered looks for the answer that the request got before.
func (b *batch) answered(p *logpb.Commit, client *clientState) (decided agent.Decided, found bool, err error) {
	answer, err := b.answer(p, client)
	if err != nil || answer == nil {
		return agent.Decided{}, false, err
	}
	if answer.BodyHash != p.BodyHash {
		e := agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was another commit", p.Seq, p.Client)
		return refused(e), true, nil
	}
	decided, err = decodeOutcome(answer.Outcome)
	return decided, true, err
}

func (b *batch) answer(p *logpb.Commit, client *clientState) (*logpb.Answer, error) {
	if p.Seq < client.Low {
		return nil, nil
	}
	for _, a := range client.fresh {
		if a.Seq == p.Seq {
			return a, nil
		}
	}
	in := answeredIn(&client.ClientRow, p.Seq)
	if in == nil {
		return nil, nil
	}
	raw, err := b.rows.get(answersKey(p.Scope, p.Client, in.Max))
	if err != nil {
		return nil, err
	}
	return decodeAnswer(raw, p.Client, p.Seq)
}

// storeClients writes the clients that the entry has changed, and their answers.
func (b *batch) storeClients() error {
	for key, row := range b.clients {
		switch {
		case !row.changed:
			continue
		case !row.known:
			b.rows.remove(key)
			continue
		}
		answers := kindAnswers + key[len(kindClient):]
		if err := b.storeAnswers(answers, row); err != nil {
			return err
		}
		b.forgetSettled(answers, row)
		raw, err := marshal(&row.ClientRow)
		if err != nil {
			return fmt.Errorf("encode client %q: %w", key, err)
		}
		b.rows.set(key, raw)
	}
	return nil
}

// storeAnswers writes what a client was answered in this entry; prefix begins
// the keys of its answers.
func (b *batch) storeAnswers(prefix string, client *clientState) error {
	fresh := slices.DeleteFunc(client.fresh, func(a *logpb.Answer) bool { return a.Seq < client.Low })
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b *logpb.Answer) int { return cmp.Compare(a.Seq, b.Seq) })
	in := &logpb.Answered{Max: fresh[len(fresh)-1].Seq, NotAfterTick: client.notAfter, Back: make([]uint64, len(fresh))}
	for i, a := range fresh {
		in.Back[i] = in.Max - a.Seq
	}
	raw, err := marshal(&logpb.AnswersRow{Answers: fresh})
	if err != nil {
		return fmt.Errorf("encode answers: %w", err)
	}
	b.rows.set(prefix+encodeNumber(in.Max), raw)
	client.Answered = append(client.Answered, in)
	return nil
}

// forgetSettled lets go of the rows of which every request is settled.
func (b *batch) forgetSettled(prefix string, client *clientState) {
	client.Answered = slices.DeleteFunc(client.Answered, func(in *logpb.Answered) bool {
		if in.Max >= client.Low {
			return false
		}
		b.rows.remove(prefix + encodeNumber(in.Max))
		return true
	})
}

// review settles the requests of a client that have expired, up to the first
// that has not, in at most limit rows of answers, and lets go of the client
// where none are left. It returns how many rows.
func (b *batch) review(scope, client string, limit int) (int, error) {
	row, err := b.client(scope, client)
	if err != nil || !row.known {
		return 0, err
	}
	row.changed = true
	standing := firstStanding(&row.ClientRow, b.progress.tick)
	gone := expiredBefore(&row.ClientRow, standing)
	more := len(gone) > limit
	gone = gone[:min(len(gone), limit)]
	if len(gone) > 0 {
		row.Low = max(row.Low, gone[len(gone)-1].Max+1)
	}
	switch {
	case more: // go on in the next entry
		b.reviewClient(scope, client, row, b.progress.tick)
	case standing != nil:
		b.reviewClient(scope, client, row, later(standing.NotAfterTick, 1))
	case row.LastTick >= b.progress.tick: // low still guards what was acknowledged
		b.reviewClient(scope, client, row, later(row.LastTick, 1))
	default:
		b.forgetSettled(idKey(kindAnswers, scope, client), row)
		*row = clientState{changed: true}
	}
	return len(gone), nil
}

// firstStanding is the row with the lowest request that can still apply, or nil.
func firstStanding(client *logpb.ClientRow, tick uint64) (first *logpb.Answered) {
	for _, in := range client.Answered {
		if in.NotAfterTick >= tick && (first == nil || lowest(in) < lowest(first)) {
			first = in
		}
	}
	return first
}

// lowest is the first request of a row of answers.
func lowest(in *logpb.Answered) uint64 { return in.Max - in.Back[0] }

// expiredBefore lists the rows that have nothing from standing on, in order.
func expiredBefore(client *logpb.ClientRow, standing *logpb.Answered) (rows []*logpb.Answered) {
	for _, in := range client.Answered {
		if standing == nil || in.Max < lowest(standing) {
			rows = append(rows, in)
		}
	}
	slices.SortFunc(rows, func(a, b *logpb.Answered) int { return cmp.Compare(a.Max, b.Max) })
	return rows
}
