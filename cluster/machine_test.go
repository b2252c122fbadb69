package cluster_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// command is a commit of the fake machine: set a key, or change a member.
type command struct {
	Key     string         `json:",omitempty"`
	Value   int            `json:",omitempty"`
	Pad     int            `json:"-"` // bytes that follow the JSON
	Put     *layout.Member `json:",omitempty"`
	Remove  *layout.Member `json:",omitempty"`
	Level   uint32         `json:",omitempty"`
	Refuse  bool           `json:",omitempty"` // the machine refuses it
	DueIn   uint64         `json:",omitempty"` // something falls due so many ticks after this commit
	Backlog uint64         `json:",omitempty"` // with DueIn: so many entries are needed for it; 0: one
}

type logEntry struct {
	Tick    uint64
	Wall    int64
	Commits [][]byte
}

// machine is a small state machine: registers and members.
type machine struct {
	gate    sync.Mutex // guards held and release; apart from mu, so that a held machine can still be looked at
	held    chan struct{}
	takes   time.Duration // how long an entry takes, save where held; guarded by gate
	release func()        // of the newest hold
	mu      sync.Mutex
	state   machineState
	news    chan struct{} // closed and replaced at each entry
	log     []logEntry    // what was applied, for tests to look at
}

type machineState struct {
	Registers map[string]int
	Members   map[string]layout.Member
	Removed   map[string]bool
	Level     uint32
	Index     uint64
	Tick      uint64
	Wall      int64
	DueTick   uint64
	Chain     uint32
	Backlog   uint64
	Fired     []uint64 // ticks at which a due thing was seen
}

func newMachine() *machine {
	return &machine{news: make(chan struct{}), state: machineState{
		Registers: map[string]int{}, Members: map[string]layout.Member{}, Removed: map[string]bool{},
	}}
}

// slow makes each entry take that long.
func (m *machine) slow(takes time.Duration) {
	m.gate.Lock()
	defer m.gate.Unlock()
	m.takes = takes
}

// hold stops Apply until the returned function is called; calling it again is
// harmless. A machine that is still held when the test ends is let go then:
// raft's shutdown waits for Apply.
func (m *machine) hold() (release func()) {
	held := make(chan struct{})
	release = sync.OnceFunc(func() {
		m.gate.Lock()
		m.held = nil
		m.gate.Unlock()
		close(held)
	})
	m.gate.Lock()
	defer m.gate.Unlock()
	m.held, m.release = held, release
	return release
}

// let lets the machine go, if it is held.
func (m *machine) let() {
	m.gate.Lock()
	release := m.release
	m.gate.Unlock()
	if release != nil {
		release()
	}
}

func (m *machine) Apply(l *raft.Log) any {
	m.gate.Lock()
	held, takes := m.held, m.takes
	m.gate.Unlock()
	if held != nil {
		<-held
	}
	time.Sleep(takes)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.Index <= m.state.Index {
		return []agent.Decided(nil) // a replay after a restart
	}
	e, err := readEntry(l.Data)
	if err != nil {
		panic(err)
	}
	s := &m.state
	s.Tick, s.Wall, s.Index = max(s.Tick, e.Tick), max(s.Wall, e.Wall), l.Index
	s.Chain = crc32.Update(s.Chain, crc32.IEEETable, l.Data)
	if s.DueTick != 0 && s.DueTick <= s.Tick {
		s.Fired = append(s.Fired, s.Tick)
		if s.Backlog <= 1 {
			s.DueTick = 0
		}
		s.Backlog--
	}
	decided := make([]agent.Decided, 0, len(e.Commits))
	for _, raw := range e.Commits {
		var c command
		text, _, _ := bytes.Cut(raw, []byte("\n"))
		if err := json.Unmarshal(text, &c); err != nil {
			panic(err)
		}
		decided = append(decided, s.decide(c, l.Index))
	}
	m.log = append(m.log, e)
	close(m.news)
	m.news = make(chan struct{})
	return decided
}

func (s *machineState) decide(c command, index uint64) agent.Decided {
	switch {
	case c.Refuse:
		return agent.Decided{Err: &agent.Error{Code: agent.CodeConflict, Final: true, Op: 0}}
	case c.Put != nil:
		s.Members[c.Put.ID] = *c.Put
	case c.Remove != nil:
		s.Removed[c.Remove.Incarnation] = true
		if s.Members[c.Remove.ID].Incarnation == c.Remove.Incarnation {
			delete(s.Members, c.Remove.ID)
		}
	case c.Level != 0:
		s.Level = c.Level
	case c.DueIn != 0:
		s.DueTick, s.Backlog = s.Tick+c.DueIn, max(c.Backlog, 1)
	default:
		s.Registers[c.Key] = c.Value
	}
	return agent.Decided{Result: agent.Result{Index: index, Time: s.Wall}}
}

func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := json.Marshal(m.state)
	return image(b), err
}

func (m *machine) Restore(r io.ReadCloser) error {
	defer func() { _ = r.Close() }()
	var s machineState
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
	return nil
}

type image []byte

func (i image) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(i); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (i image) Release() {}

// Pack copies what commits hold, and no more: some tests fill queues with
// megabytes of it.
func (m *machine) Pack(_, _, tick uint64, wall int64, commits [][]byte) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(logEntry{Tick: tick, Wall: wall, Commits: commits}); err != nil {
		panic(err)
	}
	return binary.LittleEndian.AppendUint32(b.Bytes(), crc32.ChecksumIEEE(b.Bytes()))
}

func (m *machine) Check(entry []byte) error {
	body := entry[:max(len(entry)-4, 0)]
	if len(entry) < 4 || binary.LittleEndian.Uint32(entry[len(body):]) != crc32.ChecksumIEEE(body) {
		return errors.New("entry is damaged")
	}
	return nil
}

func readEntry(raw []byte) (e logEntry, err error) {
	return e, gob.NewDecoder(bytes.NewReader(raw)).Decode(&e)
}

func (m *machine) Applied() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Index
}

func (m *machine) WaitApplied(ctx context.Context, index uint64) error {
	for {
		m.mu.Lock()
		done, news := m.state.Index >= index, m.news
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *machine) Chain() (uint64, uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Index, m.state.Chain
}

func (m *machine) Stamps() (uint64, int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Tick, m.state.Wall
}

func (m *machine) Due() (uint64, int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.DueTick, 0
}

func (m *machine) Members() []layout.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.state.Members))
}

func (m *machine) Removed(incarnation string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Removed[incarnation]
}

func (m *machine) FeatureLevel() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Level
}

func (m *machine) EncodePutMember(row layout.Member) []byte { return encode(command{Put: &row}) }

func (m *machine) EncodeRemoveMember(id, incarnation string) []byte {
	return encode(command{Remove: &layout.Member{ID: id, Incarnation: incarnation}})
}

func (m *machine) EncodeFeatureLevel(level uint32) []byte { return encode(command{Level: level}) }

func encode(c command) []byte {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	if c.Pad > 0 {
		b = append(append(b, '\n'), make([]byte, c.Pad)...)
	}
	return b
}

func (m *machine) get(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Registers[key]
}

func (m *machine) entries() []logEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

func (m *machine) fired() []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.state.Fired)
}
