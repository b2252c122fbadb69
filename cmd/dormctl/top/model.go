package top

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// page describes a page: its name, its columns, by which of them it is sorted at first, and what it
// says without rows.
type page struct {
	name    string
	columns []column
	sort    int
	nothing string
}

// The pages, in the order of their keys.
const (
	onNodes = iota
	onInstances
	onSessions
	onTimers
	onSlow
	pageCount
)

var pages = [pageCount]page{nodesPage, instancesPage, sessionsPage, timersPage, slowPage}

// asker asks the cluster for what the pages show. *source implements it.
type asker interface {
	nodes(ctx context.Context, placement bool) (*sample, error)
	page(ctx context.Context, page int) answer
	dormant(shown bool) *int
}

// question is a question that is asked again and again, in the background.
type question struct {
	asking bool
	ended  time.Time
	rest   time.Duration // the least pause until it is asked again
}

// due reports whether it is time to ask.
func (q *question) due(now time.Time) bool { return !q.asking && now.Sub(q.ended) >= q.rest }

// begin records that it is asked.
func (q *question) begin() { q.asking = true }

// end records that it was answered. The pause lasts share times as long as the answer took.
func (q *question) end(at time.Time, took time.Duration, share int) {
	q.asking, q.ended, q.rest = false, at, time.Duration(share)*took
}

// pageShare is how many times as long as an answer took a page rests before it is asked for again,
// which bounds the load on the nodes.
const pageShare = 2

// tab is a page and what it shows.
type tab struct {
	*table
	question
	answer
	loaded bool // it was answered once
}

// model is the state of the screen. Messages change it.
type model struct {
	ctx   context.Context //nolint:containedctx // the library calls Update without one
	asker asker
	every time.Duration
	limit time.Duration // of one answer

	width, height int
	tabs          [pageCount]*tab
	at            int // the page that is shown
	paused        bool
	typing        bool // the filter is typed
	help, detail  bool
	round         int // of the ticks; those of earlier rounds are ignored

	look        question
	before, now *sample
	doc         topDoc
	lookErr     string // why the last look failed
	entries     history
	signals     history
	nodeSignals map[string]*history
}

// tick says that an interval has passed.
type tick struct {
	round int
	at    time.Time
}

// looked is the answer to a look at the nodes.
type looked struct {
	sample *sample
	err    error
	at     time.Time
	took   time.Duration
}

// answered is the answer of a page.
type answered struct {
	page int
	answer
	took time.Duration
}

func newModel(ctx context.Context, from asker, first *sample, every, limit time.Duration) *model {
	m := &model{ctx: ctx, asker: from, every: every, limit: limit, width: 80, height: 24, nodeSignals: map[string]*history{}}
	for i := range pages {
		m.tabs[i] = &tab{table: newTable(pages[i].columns, pages[i].sort)}
	}
	m.look.ended = first.At
	m.see(first)
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.wait() }

// wait returns a command that sends a tick after the interval.
func (m *model) wait() tea.Cmd {
	m.round++
	round := m.round
	return tea.Tick(m.every, func(at time.Time) tea.Msg { return tick{round, at} })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tick:
		if msg.round == m.round {
			return m, tea.Batch(m.ask(msg.at), m.wait())
		}
	case looked:
		m.look.end(msg.at, msg.took, 0)
		switch {
		case m.paused:
		case msg.err != nil:
			m.lookErr = oneLine(msg.err.Error())
		default:
			m.see(msg.sample)
		}
	case answered:
		t := m.tabs[msg.page]
		t.end(msg.at, msg.took, pageShare)
		switch {
		case m.paused:
		case msg.lost && len(t.answer.rows) > 0: // the last rows stay
			t.errs, t.lost = msg.errs, true
		default:
			t.answer, t.loaded = msg.answer, true
			t.set(msg.rows)
		}
	case tea.PasteMsg:
		if m.typing {
			m.add(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// tab returns the page that is shown.
func (m *model) tab() *tab { return m.tabs[m.at] }

// ask returns commands that ask for what is shown, if that is due.
func (m *model) ask(now time.Time) tea.Cmd {
	if m.paused {
		return nil
	}
	var cmds []tea.Cmd
	if m.look.due(now) {
		m.look.begin()
		placement := m.at == onNodes
		cmds = append(cmds, func() tea.Msg {
			ctx, cancel := context.WithTimeout(m.ctx, m.limit)
			defer cancel()
			began := time.Now()
			found, err := m.asker.nodes(ctx, placement)
			return looked{found, err, time.Now(), time.Since(began)}
		})
	}
	if at := m.at; at != onNodes && m.tab().due(now) {
		m.tab().begin()
		cmds = append(cmds, func() tea.Msg {
			ctx, cancel := context.WithTimeout(m.ctx, m.limit)
			defer cancel()
			began := time.Now()
			found := m.asker.page(ctx, at)
			return answered{at, found, time.Since(began)}
		})
	}
	return tea.Batch(cmds...)
}

// see takes in a sample of the nodes.
func (m *model) see(next *sample) {
	m.lookErr = ""
	if len(next.Placement.Nodes) == 0 && m.now != nil { // it was not asked for
		next.Placement = m.now.Placement
	}
	m.before, m.now = m.now, next
	m.doc = topOf(m.before, m.now, m.asker.dormant(m.at == onNodes))
	if m.before != nil {
		m.entries.add(m.doc.EntriesPerSecond)
		m.signals.add(m.doc.SignalsPerSecond)
	}
	old := m.nodeSignals
	m.nodeSignals = map[string]*history{}
	for _, n := range m.doc.Nodes {
		h := old[n.Node]
		if h == nil {
			h = &history{}
		}
		if m.before != nil {
			h.add(n.SignalsPerSecond)
		}
		m.nodeSignals[n.Node] = h
	}
	t := m.tabs[onNodes]
	t.answer, t.loaded = nodeRows(m.doc, m.nodeSignals), true
	t.set(t.answer.rows)
}

// turnTo shows a page.
func (m *model) turnTo(at int) tea.Cmd {
	if m.at == at {
		return nil
	}
	m.at, m.detail = at, false
	m.asker.dormant(at == onNodes)
	if m.paused {
		return nil
	}
	return m.ask(time.Now())
}

// troubles returns what did not answer, for the page that is shown.
func (m *model) troubles() []string {
	var all []string
	if m.lookErr != "" {
		all = append(all, "the cluster does not answer: "+m.lookErr)
	}
	return append(all, slices.Compact(slices.Clone(m.tab().errs))...)
}
