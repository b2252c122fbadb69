package top

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
)

// asked is an asker that records what it is asked.
type asked struct {
	looks []bool // with or without placement
	pages []int
	shown bool // whether the dormant instances are counted
}

func (a *asked) nodes(_ context.Context, placement bool) (*sample, error) {
	a.looks = append(a.looks, placement)
	return nil, errors.New("not now")
}

func (a *asked) page(_ context.Context, page int) answer {
	a.pages = append(a.pages, page)
	return answer{}
}

func (a *asked) dormant(shown bool) *int {
	a.shown = shown
	n := 1234
	return &n
}

// began is before the time of a bubble of synctest.
var began = time.UnixMilli(900_000_000_000)

// sampleAt returns a sample of three nodes, some seconds after began.
func sampleAt(second int) *sample {
	s := &sample{At: began.Add(time.Duration(second) * time.Second)}
	s.status = layout.ClusterStatus{ClusterID: "c-1", Leader: "n2", CommitIndex: uint64(1000 + 100*second)}
	s.Placement.Free = 1
	for i, status := range []string{"alive", "alive", "failed"} {
		id := fmt.Sprintf("n%d", i+1)
		applied := uint64(1000 + 100*second - 7*i)
		s.status.Members = append(s.status.Members, layout.MemberStatus{Member: layout.Member{ID: id}, Status: status, AppliedIndex: applied})
		s.Placement.Nodes = append(s.Placement.Nodes, layout.PlacedNode{Node: id, Zone: "a", Leased: true, Owned: 1365})
		n := agent.NodeStats{Node: id, Awake: 10 * i, Signals: uint64(second * second * i)}
		if status == "failed" {
			n.Error = "no answer\x1b[31m"
		}
		s.Stats.Nodes = append(s.Stats.Nodes, n)
	}
	s.Placement.Moving = []layout.Partition{{Owner: "n3", To: "n1", Why: "balance"}}
	return s
}

// fullAnswers are answers of each page, with wide characters and control characters.
func fullAnswers() [pageCount]answer {
	var out [pageCount]answer
	for i := range 30 {
		name := fmt.Sprintf("会話\x1b[2J-%d-%s", i, strings.Repeat("長い", i))
		m := managerName{name, name}
		now := &managersSample{at: began.Add(time.Second), stats: map[managerName]agent.ManagerStats{m: {Nodes: []agent.NodeStats{{Node: "n1", Awake: i, Failed: 1}}}}}
		out[onInstances].rows = append(out[onInstances].rows, managerRow(m, &managersSample{}, now))
		out[onSessions].rows = append(out[onSessions].rows, sessionRow(began, name, &agent.SessionRow{
			ID: name, Agent: name, Status: agent.SessionRunning, Lease: &agent.Lease{Owner: name, ExpiresAt: began.UnixMilli() + int64(i)*1000}, Recoverable: i%2 == 0,
		}))
		out[onTimers].rows = append(out[onTimers].rows, timerRow(began, &agent.DueTimer{Scope: name, Timer: agent.Timer{
			Manager: name, Key: name, ID: name, Next: began.UnixMilli() + int64(i)*60_000, LastError: "it said\n\x07" + name, Attempts: uint64(i), Parked: i%3 == 0,
		}}))
		out[onSlow].rows = append(out[onSlow].rows, slowRow(began, "n1", i, &document.SlowCall{
			At: began.UnixMilli(), Call: "commit", Scope: name, First: "PutValue", Manager: name, Key: name, TookUS: int64(i) * 100_000, Code: "unknown", Trace: name,
		}))
	}
	for i := range out {
		out[i].note("a note\nabout %s", "会話\x1b[2J")
		for range 5 {
			out[i].fail("n3", errors.New("it does not answer: "+strings.Repeat("長い\x1b]0;x\x07", 30)))
		}
	}
	return out
}

// fullModel is a model with rows on all pages.
func fullModel() *model {
	m := newModel(context.Background(), &asked{}, sampleAt(0), time.Second, time.Second)
	for second := range 300 {
		m.Update(looked{sample: sampleAt(second), at: began})
	}
	for i, a := range fullAnswers() {
		if i != onNodes {
			m.Update(answered{page: i, answer: a})
		}
	}
	return m
}

// key returns the message of a key.
func key(name string) tea.KeyPressMsg {
	for code, special := range map[rune]string{
		tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyLeft: "left", tea.KeyRight: "right", tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown", tea.KeyHome: "home",
		tea.KeyEnd: "end", tea.KeyTab: "tab", tea.KeyEnter: "enter", tea.KeyEscape: "esc", tea.KeyBackspace: "backspace", tea.KeySpace: "space",
	} {
		if name == special {
			return tea.KeyPressMsg{Code: code}
		}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// ticksEnd waits until the ticks that a test began have come: no goroutine may outlive its bubble.
func ticksEnd() { time.Sleep(2 * time.Hour) }

// press presses keys, and runs what they ask for.
func press(m *model, keys ...string) {
	for _, k := range keys {
		_, cmd := m.Update(key(k))
		perform(cmd)
	}
}

// perform runs a command, and those of a batch, except waits. It needs a bubble.
func perform(cmd tea.Cmd) (got []tea.Msg) {
	if cmd == nil {
		return nil
	}
	answers := make(chan tea.Msg, 1)
	go func() { answers <- cmd() }()
	select {
	case msg := <-answers:
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, one := range batch {
				got = append(got, perform(one)...)
			}
			return got
		}
		return []tea.Msg{msg}
	case <-time.After(100 * time.Millisecond): // a tick
		return nil
	}
}

func shown(m *model) string { return ansi.Strip(strings.Join(m.screen(), "\n")) }

// sgr is a sequence that sets colours, the only ones that top itself writes.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// The screen never has more lines or columns than the terminal, whatever is shown, and no control
// characters of the cluster's.
func TestTheScreenNeverOverflows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer ticksEnd()
		states := map[string][]string{
			"rows": nil, "the last row": {"end"}, "help": {"?"}, "a whole row": {"down", "enter"}, "typing": {"/", "会", "話"}, "no row": {"/", "x", "y", "enter"}, "paused": {"p"},
		}
		for name, keys := range states {
			for at := range pages {
				m := fullModel()
				press(m, fmt.Sprint(at+1))
				press(m, keys...)
				m.lookErr = strings.Repeat("長い", 100)
				for _, size := range [][2]int{{80, 24}, {200, 50}, {79, 23}, {40, 10}, {20, 8}, {10, 5}, {3, 3}, {1, 1}, {500, 8}} {
					m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					lines := strings.Split(m.View().Content, "\n")
					if len(lines) > size[1] {
						t.Errorf("%s of %s: %d lines at %v", name, pages[at].name, len(lines), size)
					}
					for _, line := range lines {
						if got := ansi.StringWidth(line); got > size[0] {
							t.Errorf("%s of %s: %d columns at %v: %q", name, pages[at].name, got, size, line)
						}
						if rest := sgr.ReplaceAllString(line, ""); strings.ContainsFunc(rest, unicode.IsControl) {
							t.Errorf("%s of %s: control characters: %q", name, pages[at].name, rest)
						}
					}
				}
			}
		}
	})
}

func TestTheScreenOfNodes(t *testing.T) {
	m := newModel(context.Background(), &asked{}, sampleAt(0), time.Second, time.Second)
	for second := range 20 {
		m.Update(looked{sample: sampleAt(second + 1), at: began})
	}
	text := shown(m)
	for _, want := range []string{
		"leader n2  2 of 3 nodes alive  16:00:20Z  every 1s  cluster c-1",
		"100.0   signals/s", "▁▁▁▁", "39.0", "instances: 30 awake, 1204 dormant   partitions: 4096, 1 moving, 1 free",
		"from n3 to n1: 1 partition (balance)", "n3: no answer�[31m", "q quit  ? help",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not show %q:\n%s", want, text)
		}
	}
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	if text := shown(m); !regexp.MustCompile(`n1 +alive +yes +1365 +33\.3% +0 +0 +3000 +0 +100\.0 +0 +0 +0 +0\.0 +▁{10} +0\.0 +0 +0`).MatchString(text) ||
		!regexp.MustCompile(`n2 \* +alive .* 39\.0 +▅▅▆▆▆▇▇███ `).MatchString(text) || !regexp.MustCompile(`n3 +failed .* 2986 +14 +100\.0( +\?){8}`).MatchString(text) {
		t.Errorf("the nodes:\n%s", text)
	}
}

// A page asks only while it is shown, once at a time, and rests after a slow answer.
func TestAPageAsksOnlyForWhatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer ticksEnd()
		a := &asked{}
		m := newModel(context.Background(), a, sampleAt(0), time.Hour, time.Second)
		m.wait()
		next := func(at time.Time) {
			t.Helper()
			m.round++
			_, cmd := m.Update(tick{m.round, at})
			perform(cmd)
		}
		want := func(what string, looks []bool, pages []int) {
			t.Helper()
			if fmt.Sprint(a.looks) != fmt.Sprint(looks) || fmt.Sprint(a.pages) != fmt.Sprint(pages) {
				t.Errorf("%s: looks %v and pages %v, want %v and %v", what, a.looks, a.pages, looks, pages)
			}
			a.looks, a.pages = nil, nil
		}
		next(began.Add(time.Second))
		want("nodes", []bool{true}, nil)
		next(began.Add(2 * time.Second))
		want("while the look is under way", nil, nil)
		m.Update(looked{sample: sampleAt(2), at: began.Add(2 * time.Second)})
		press(m, "3")
		want("sessions", []bool{false}, []int{onSessions})
		if a.shown {
			t.Error("the dormant instances are counted while they are not shown")
		}
		press(m, "tab")
		want("timers, while the look is under way", nil, []int{onTimers})
		m.Update(answered{page: onTimers, answer: answer{at: began.Add(10 * time.Second)}, took: 3 * time.Second})
		next(began.Add(12 * time.Second))
		want("timers, after a slow answer", nil, nil)
		next(began.Add(17 * time.Second))
		want("timers, later", nil, []int{onTimers})
		if _, cmd := m.Update(tick{m.round - 1, began.Add(time.Hour)}); cmd != nil {
			t.Error("a tick of an earlier interval asks")
		}
		m.Update(looked{err: errors.New("x"), at: began})
		press(m, "p")
		next(began.Add(time.Hour))
		want("paused", nil, nil)
		press(m, "p")
		want("no longer paused", []bool{false}, nil)
	})
}

// While something does not answer, the last data stays, and the line below says so.
func TestErrorsStandBelowTheLastData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer ticksEnd()
		m := fullModel()
		m.Update(looked{err: errors.New("no leader"), at: began})
		if text := shown(m); !strings.Contains(text, "the cluster does not answer: no leader") || !strings.Contains(text, "n2 *") {
			t.Errorf("nodes:\n%s", text)
		}
		press(m, "3")
		lost := answer{}
		lost.lose("list the sessions", errors.New("forbidden"))
		m.tab().at, lost.at = began, began.Add(time.Hour)
		m.Update(answered{page: onSessions, answer: lost})
		if text := shown(m); !strings.Contains(text, "list the sessions: forbidden") || !strings.Contains(text, "30 rows of 16:00:00Z") || !strings.Contains(text, "no leader") {
			t.Errorf("sessions:\n%s", text)
		}
		m.Update(looked{sample: sampleAt(400), at: began})
		m.Update(answered{page: onSessions, answer: fullAnswers()[onSessions]})
		if text := shown(m); strings.Contains(text, "forbidden") || strings.Contains(text, "no leader") {
			t.Errorf("it answers again:\n%s", text)
		}
		fresh := newModel(context.Background(), &asked{}, sampleAt(0), time.Second, time.Second)
		press(fresh, "5")
		if text := shown(fresh); !strings.Contains(text, "asking the cluster") {
			t.Errorf("before the first answer:\n%s", text)
		}
		press(fresh, "p", "4")
		if text := shown(fresh); !strings.Contains(text, "paused: p goes on") {
			t.Errorf("paused before the first answer:\n%s", text)
		}
		press(fresh, "p", "5")
		fresh.Update(answered{page: onSlow, answer: answer{}})
		if text := shown(fresh); !strings.Contains(text, pages[onSlow].nothing) {
			t.Errorf("without slow calls:\n%s", text)
		}
	})
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer ticksEnd()
		for _, c := range []struct {
			keys string
			want string // on the screen
			not  string
		}{
			{"2", "MANAGER▲", "NODE"},
			{"tab tab tab tab tab", "NODE▲", ""},
			{"shift+tab", "AGO▲", ""},
			{"3 right", "AGENT▲", ""},
			{"3 left left", "TURNS▼", ""},
			{"3 r", "SESSION▼", ""},
			{"1 / n 2 enter", "1 of 3 rows", "n1     alive"},
			{"1 / n 2 backspace 1", "1 of 3 rows", "n2 *"},
			{"1 / z", "no row contains z", ""},
			{"1 / z esc", "3 rows", "no row"},
			{"1 / z enter esc", "3 rows", "no row"},
			{"1 / q", "/q▏", ""},
			{"2 enter", "hibernating     0", "MANAGER▲"},
			{"2 enter enter", "MANAGER▲", ""},
			{"?", "double or halve the interval", "NODE▲"},
			{"? x", "NODE▲", "double or halve"},
			{"p", "paused", "every 1s"},
			{"p space", "every 1s", "paused"},
			{"+", "every 2s", ""},
			{"+ + + + + + +", "every 1m0s", ""},
			{"-", "every 500ms", ""},
			{"- - - - - -", "every 100ms", ""},
		} {
			m := fullModel()
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
			press(m, strings.Fields(c.keys)...)
			if text := shown(m); !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("%s: want %q, and no %q:\n%s", c.keys, c.want, c.not, text)
			}
		}
		for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"?", "q"}, {"/", "ctrl+c"}} {
			m := fullModel()
			press(m, keys[:len(keys)-1]...)
			if _, cmd := m.Update(key(keys[len(keys)-1])); cmd == nil || !reflect.DeepEqual(cmd(), tea.Quit()) {
				t.Errorf("%v does not quit", keys)
			}
		}
	})
}

// A filter has a bound, also when text is pasted.
func TestTheFilterIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer ticksEnd()
		m := fullModel()
		press(m, "/")
		m.Update(tea.PasteMsg{Content: strings.Repeat("会\n", 10_000)})
		press(m, "x")
		if got := len([]rune(m.tab().filter)); got != filterMax {
			t.Errorf("%d characters", got)
		}
	})
}
