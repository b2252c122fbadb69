package fsm

import (
	"cmp"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// The dedup table keeps answers per entry, not per request. The requests of a client that share a
// log entry share an answers row, and the client's row lists which request is in which answers row.
// So a request needs no row of its own, and the client's row alone shows that an out-of-order
// request is new.

// clientState is a client's row while an entry is applied.
type clientState struct {
	logpb.ClientRow
	known   bool
	changed bool
	key     string // of the row

	answered []answered // the columns of ClientRow, decoded

	fresh    []*logpb.Answer // of this entry
	notAfter uint64          // the tick when the last of fresh may be removed
}

// clientID names a client.
type clientID struct{ scope, client string }

// client returns the entry's own copy of a client's row, which callers change in place.
// storeClients writes it.
func (b *batch) client(scope, client string) (row *clientState, err error) {
	if row, ok := b.clients[clientID{scope, client}]; ok {
		return row, nil
	}
	row = &clientState{key: kv.IDKey(kv.KindClient, scope, client)}
	raw, err := b.Rows.Get(row.key)
	if err != nil {
		return nil, err
	}
	if raw != nil {
		if err := command.Unmarshal(raw, &row.ClientRow); err != nil {
			return nil, fmt.Errorf("decode client %q: %w", client, err)
		}
		if row.answered, err = answeredOf(&row.ClientRow); err != nil {
			return nil, fmt.Errorf("decode client %q: %w", client, err)
		}
		row.known = true
	}
	b.clients[clientID{scope, client}] = row
	return row, nil
}

// answer adds an answer of this entry.
func (c *clientState) answer(a *logpb.Answer, notAfter uint64) {
	c.fresh = append(c.fresh, a)
	c.notAfter = max(c.notAfter, notAfter)
}

// answered lists the requests whose answers are in one row.
type answered struct {
	max      uint64   // the highest request, which names the row
	notAfter uint64   // the tick when the last of them may be removed
	back     []uint64 // how far each is below max, in descending order; the last is 0
}

// lowest returns the row's first request.
func (a answered) lowest() uint64 { return a.max - a.back[0] }

// has reports whether the answer to a request is in the row.
func (a answered) has(seq uint64) bool {
	if seq > a.max {
		return false
	}
	_, ok := slices.BinarySearchFunc(a.back, a.max-seq, func(back, want uint64) int { return cmp.Compare(want, back) })
	return ok
}

// answeredOf decodes the columns of a client's row.
func answeredOf(row *logpb.ClientRow) ([]answered, error) {
	n, back := len(row.AnsweredMax), row.AnsweredBack
	if len(row.AnsweredNotAfter) != n || len(row.AnsweredCount) != n {
		return nil, fmt.Errorf("%d rows of answers have %d times and %d counts", n, len(row.AnsweredNotAfter), len(row.AnsweredCount))
	}
	out := make([]answered, n)
	for i := range out {
		count := row.AnsweredCount[i]
		if count == 0 || count > uint64(len(back)) {
			return nil, fmt.Errorf("a row of answers has %d requests, and %d are left", count, len(back))
		}
		out[i] = answered{max: row.AnsweredMax[i], notAfter: row.AnsweredNotAfter[i], back: back[:count:count]}
		back = back[count:]
	}
	if len(back) > 0 {
		return nil, fmt.Errorf("%d requests are in no row of answers", len(back))
	}
	return out, nil
}

// columns encodes c.answered into the columns of the client's row.
func (c *clientState) columns() {
	requests := 0
	for _, in := range c.answered {
		requests += len(in.back)
	}
	n := len(c.answered)
	numbers := make([]uint64, 0, 3*n+requests)
	c.AnsweredMax, c.AnsweredNotAfter, c.AnsweredCount = numbers[:n:n], numbers[n:2*n:2*n], numbers[2*n:3*n:3*n]
	c.AnsweredBack = numbers[3*n : 3*n]
	for i, in := range c.answered {
		c.AnsweredMax[i], c.AnsweredNotAfter[i], c.AnsweredCount[i] = in.max, in.notAfter, uint64(len(in.back))
		c.AnsweredBack = append(c.AnsweredBack, in.back...)
	}
}

// answeredIn returns the highest request of the row that holds a request's answer. ok is false if
// the request is new or was settled.
func answeredIn(low uint64, rows []answered, seq uint64) (highest uint64, ok bool) {
	if seq < low {
		return 0, false
	}
	for _, in := range rows {
		if in.has(seq) {
			return in.max, true
		}
	}
	return 0, false
}

// decodeAnswer returns a request's answer from its row.
func decodeAnswer(raw []byte, client string, seq uint64) (*logpb.Answer, error) {
	var row logpb.AnswersRow
	if err := command.Unmarshal(raw, &row); err != nil {
		return nil, fmt.Errorf("decode answers of client %q: %w", client, err)
	}
	at, ok := slices.BinarySearchFunc(row.Answers, seq, func(a *logpb.Answer, seq uint64) int { return cmp.Compare(a.Seq, seq) })
	if !ok {
		return nil, fmt.Errorf("the answer to request %d of client %q is missing", seq, client)
	}
	return row.Answers[at], nil
}

// answered returns the answer that the request got before, if there is one.
func (b *batch) answered(p *logpb.Commit, client *clientState) (decided agent.Decided, found bool, err error) {
	answer, err := b.answer(p, client)
	if err != nil || answer == nil {
		return agent.Decided{}, false, err
	}
	if answer.BodyHash != p.BodyHash {
		e := agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was used for another commit", p.Seq, p.Client)
		return refused(e), true, nil
	}
	b.counted.Answered++
	decided, err = command.DecodeOutcome(answer.Outcome)
	if err != nil { // it must not stop the replicas: rows of an import may be in it
		return refused(agent.Errorf(agent.CodeCorrupt, "the answer to request %d of client %q cannot be decoded: %v", p.Seq, p.Client, err)), true, nil
	}
	return decided, true, nil
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
	highest, ok := answeredIn(client.Low, client.answered, p.Seq)
	if !ok {
		return nil, nil
	}
	raw, err := b.Rows.Get(kv.AnswersKey(p.Scope, p.Client, highest))
	if err != nil {
		return nil, err
	}
	return decodeAnswer(raw, p.Client, p.Seq)
}

// storeClients writes the clients that the entry has changed, and their answers.
func (b *batch) storeClients() error {
	for _, row := range b.clients {
		key := row.key
		switch {
		case !row.changed:
			continue
		case !row.known:
			b.Rows.Remove(key)
			continue
		}
		answers := kv.KindAnswers + key[len(kv.KindClient):]
		if err := b.storeAnswers(answers, row); err != nil {
			return err
		}
		b.forgetSettled(answers, row)
		row.columns()
		b.Rows.SetMessage(key, &row.ClientRow)
	}
	return nil
}

// storeAnswers writes the answers that a client got in this entry. prefix begins the keys of its
// answers.
func (b *batch) storeAnswers(prefix string, client *clientState) error {
	fresh := slices.DeleteFunc(client.fresh, func(a *logpb.Answer) bool { return a.Seq < client.Low })
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b *logpb.Answer) int { return cmp.Compare(a.Seq, b.Seq) })
	in := answered{max: fresh[len(fresh)-1].Seq, notAfter: client.notAfter, back: make([]uint64, len(fresh))}
	for i, a := range fresh {
		in.back[i] = in.max - a.Seq
	}
	b.Rows.SetMessage(prefix+kv.EncodeNumber(in.max), &logpb.AnswersRow{Answers: fresh})
	client.answered = append(client.answered, in)
	return nil
}

// forgetSettled removes the rows whose requests are all settled.
func (b *batch) forgetSettled(prefix string, client *clientState) {
	client.answered = slices.DeleteFunc(client.answered, func(in answered) bool {
		if in.max >= client.Low {
			return false
		}
		b.Rows.Remove(prefix + kv.EncodeNumber(in.max))
		return true
	})
}

// review settles the expired requests of a client, up to the first that has not expired, in at most
// limit rows of answers. It removes the client if no requests are left. It returns the number of
// rows.
func (b *batch) review(scope, client string, limit int) (int, error) {
	row, err := b.client(scope, client)
	if err != nil || !row.known {
		return 0, err
	}
	row.changed = true
	standing := firstStanding(row.answered, b.Progress.Tick)
	gone := expiredBefore(row.answered, standing)
	more := len(gone) > limit
	gone = gone[:min(len(gone), limit)]
	if len(gone) > 0 {
		row.Low = max(row.Low, gone[len(gone)-1].max+1)
	}
	switch {
	case more: // continue in the next entry
		b.reviewClient(scope, client, row, b.Progress.Tick)
	case standing != nil:
		b.reviewClient(scope, client, row, txn.AddTicks(standing.notAfter, 1))
	case row.LastTick >= b.Progress.Tick: // low still rejects requests that were acknowledged
		b.reviewClient(scope, client, row, txn.AddTicks(row.LastTick, 1))
	default:
		b.forgetSettled(kv.IDKey(kv.KindAnswers, scope, client), row)
		*row = clientState{key: row.key, changed: true}
	}
	return len(gone), nil
}

// firstStanding returns the row with the lowest request that can still apply, or nil.
func firstStanding(rows []answered, tick uint64) (first *answered) {
	for i := range rows {
		if in := &rows[i]; in.notAfter >= tick && (first == nil || in.lowest() < first.lowest()) {
			first = in
		}
	}
	return first
}

// expiredBefore returns, in order, the rows whose requests all precede those of standing.
func expiredBefore(rows []answered, standing *answered) (gone []answered) {
	for _, in := range rows {
		if standing == nil || in.max < standing.lowest() {
			gone = append(gone, in)
		}
	}
	slices.SortFunc(gone, func(a, b answered) int { return cmp.Compare(a.max, b.max) })
	return gone
}
