package memory

import (
	"errors"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/recall"
	"dormouse/storage"
)

// RecallBytes is how many bytes the in-memory indexes of all agents' memories have by default: see
// recall.Cache.
const RecallBytes = 512 << 20

// fusedMax is how many of the best of each ranking a hybrid recall merges.
const fusedMax = agent.RecallLimitMax

// recalling is one recall while it is answered.
type recalling struct {
	txn.Reader
	*agent.Recall
	whole  *logpb.MemoryAgentRow
	keeps  func(*recall.Doc) bool
	answer *agent.Recalled
	bytes  int // of the items so far
}

// Recall answers recall.
func Recall(r txn.Reader, q *agent.Recall) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindMemoryAgent, r.Scope, q.Agent))
	if err != nil {
		return nil, err
	}
	whole, err := command.DecodeMemoryAgent(q.Agent, raw)
	if err != nil {
		return nil, err
	}
	request := q.Filled()
	c := &recalling{Reader: r, Recall: &request, whole: whole, answer: &agent.Recalled{Request: request, Entries: whole.Entries}}
	c.answer.Request.Embedding = nil
	c.keeps = recall.Matches(&request, r.Progress.Wall)
	switch request.Mode {
	case agent.ModeRecent:
		err = c.recent()
	case agent.ModeQuery:
		err = c.query()
	default:
		err = c.ranked()
	}
	return c.answer, err
}

// full reports whether the answer has its maximal size.
func (c *recalling) full() bool {
	return uint64(len(c.answer.Items)) >= c.Limit || c.bytes > agent.ReadBytesMax
}

func (c *recalling) add(id string, row *logpb.MemoryRow, body *logpb.MemoryBody, score float64) {
	c.answer.Items = append(c.answer.Items, agent.RecalledMemory{Memory: command.MemoryOf(c.Agent, id, row, body), Score: score})
	c.bytes += len(id) + int(row.Size)
}

// recent adds memories, last written first: of all sessions, of one, or of one and of none, whose
// orders it then merges.
func (c *recalling) recent() error {
	var prefixes []string
	switch {
	case c.Within == agent.WithinAll:
		prefixes = []string{kv.IDKey(kv.KindMemoryOrder, c.Scope, c.Agent)}
	case c.Within == agent.WithinAgent && c.Session != "":
		prefixes = []string{kv.MemorySessionPrefix(c.Scope, c.Agent, ""), kv.MemorySessionPrefix(c.Scope, c.Agent, c.Session)}
	default:
		prefixes = []string{kv.MemorySessionPrefix(c.Scope, c.Agent, c.Session)}
	}
	err := c.eachBackwards(prefixes, func(id string) error {
		row, err := memoryRow(c.Reader, c.Agent, id)
		if err != nil || !c.keeps(docOf(id, row)) {
			return err
		}
		body, err := memoryBody(c.Reader, c.Agent, id)
		if err == nil {
			c.add(id, row, body, 0)
		}
		return err
	})
	c.answer.Matched = uint64(len(c.answer.Items))
	return err
}

// eachBackwards visits the ids under some prefixes, each followed by a number, greatest number
// first, until the answer is full.
func (c *recalling) eachBackwards(prefixes []string, visit func(id string) error) (err error) {
	cursors := make([]*storage.Cursor, 0, len(prefixes))
	defer func() {
		for _, cursor := range cursors {
			err = errors.Join(err, cursor.Close())
		}
	}()
	heads := make([]uint64, len(prefixes)) // 0 at the end
	next := func(i int) {
		heads[i] = 0
		if cursors[i].Next() {
			heads[i] = kv.DecodeNumber(cursors[i].Key()[len(prefixes[i]):])
		}
	}
	for i, prefix := range prefixes {
		cursor, err := c.Engine.ScanBack([]byte(prefix), []byte(kv.After(prefix)))
		if err != nil {
			return err
		}
		cursors = append(cursors, cursor)
		next(i)
	}
	for !c.full() {
		last := 0
		for i := range heads {
			if heads[i] > heads[last] {
				last = i
			}
		}
		if heads[last] == 0 {
			return nil
		}
		id := cursors[last].Value()
		if id == nil {
			return nil // Close returns the error
		}
		if err := visit(string(id)); err != nil {
			return err
		}
		next(last)
	}
	return nil
}

// query adds memories that match the filter, in order of observation, then of ids.
func (c *recalling) query() (err error) {
	prefix := kv.IDKey(kv.KindMemoryTime, c.Scope, c.Agent)
	lower, upper := prefix, kv.After(prefix)
	if since := c.Filter.Since; since != nil {
		lower = prefix + kv.EncodeTime(*since)
	}
	if until := c.Filter.Until; until != nil {
		upper = kv.AfterTime(prefix, *until)
	}
	scan := c.Engine.ScanBack
	if c.Ascending {
		scan = c.Engine.Scan
	}
	cursor, err := scan([]byte(lower), []byte(upper))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	contains := strings.ToLower(c.Filter.Contains)
	for !c.full() && cursor.Next() {
		id := string(cursor.Key()[len(prefix)+8:])
		raw := cursor.Value()
		if raw == nil {
			return nil // Close returns the error
		}
		row, err := command.DecodeMemoryRow(id, raw)
		if err != nil {
			return err
		}
		if !c.keeps(docOf(id, row)) {
			continue
		}
		body, err := memoryBody(c.Reader, c.Agent, id)
		if err != nil {
			return err
		}
		if strings.Contains(strings.ToLower(memoryText(body)), contains) {
			c.add(id, row, body, 0)
		}
	}
	c.answer.Matched = uint64(len(c.answer.Items))
	return nil
}

// ranked adds the best matches first, using the index of the agent's memories.
func (c *recalling) ranked() error {
	if c.whole.Entries == 0 {
		return nil
	}
	if n := len(c.Embedding); n > 0 && c.whole.Dims > 0 && n != int(c.whole.Dims) {
		return agent.Invalid("embedding", "embedding has %d numbers, but those of agent %q have %d: embed the query with the model of the memories",
			n, c.Agent, c.whole.Dims)
	}
	var hits []recall.Hit
	search := func(x *recall.Index) {
		var matched int
		limit := int(min(c.Limit, agent.RecallLimitMax))
		switch c.Mode {
		case agent.ModeText:
			hits, matched = x.Text(c.Query, c.keeps, limit)
		case agent.ModeVector:
			hits, matched = x.Vector(c.Embedding, c.keeps, limit)
		default:
			hits, matched = x.Hybrid(c.Query, c.Embedding, c.keeps, limit, fusedMax)
		}
		c.answer.Matched = uint64(matched)
	}
	source := memories{c.Reader, c.Agent, c.whole}
	err := c.Recalls.Search(kv.IDKey(kv.KindMemoryAgent, c.Scope, c.Agent), source, search)
	if errors.Is(err, recall.ErrTooOld) && !c.Hasty {
		var own *recall.Index
		if own, err = recall.Build(source); err == nil {
			search(own)
		}
	}
	for _, hit := range hits {
		if err != nil || c.full() {
			break
		}
		err = c.addHit(hit)
	}
	return err
}

func (c *recalling) addHit(hit recall.Hit) error {
	row, err := memoryRow(c.Reader, c.Agent, hit.ID)
	if err != nil {
		return err
	}
	body, err := memoryBody(c.Reader, c.Agent, hit.ID)
	if err == nil {
		c.add(hit.ID, row, body, hit.Score)
	}
	return err
}
