package top

import (
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// filterMax is the maximum number of characters of a filter.
const filterMax = 200

// press does what a key says.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	if key == "ctrl+z" {
		return tea.Suspend
	}
	switch {
	case m.typing:
		m.typed(k)
		return nil
	case m.help:
		m.help = false
		if key == "q" {
			return tea.Quit
		}
		return nil
	}
	if m.scroll(key) {
		return nil
	}
	switch key {
	case "q":
		return tea.Quit
	case "?", "h", "f1":
		m.help = true
	case "1", "2", "3", "4", "5":
		return m.turnTo(int(key[0] - '1'))
	case "tab":
		return m.turnTo((m.at + 1) % pageCount)
	case "shift+tab":
		return m.turnTo((m.at + pageCount - 1) % pageCount)
	case "left":
		m.tab().next(-1)
	case "right":
		m.tab().next(1)
	case "r":
		m.tab().reverse()
	case "/":
		m.typing, m.detail = true, false
	case "enter":
		m.detail = !m.detail && len(m.tab().shown) > 0
	case "esc":
		if m.detail {
			m.detail = false
		} else {
			m.tab().search("")
		}
	case "p", "space":
		m.paused = !m.paused
		return m.ask(time.Now())
	case "+", "=":
		m.every = max(m.every, min(2*m.every, topEveryMax))
		return m.wait()
	case "-":
		m.every = max(m.every/2, topEveryMin)
		return m.wait()
	}
	return nil
}

// scroll moves the cursor if the key says so.
func (m *model) scroll(key string) bool {
	t := m.tab()
	switch key {
	case "up", "k":
		t.move(-1)
	case "down", "j":
		t.move(1)
	case "pgup", "ctrl+b":
		t.move(-m.rows())
	case "pgdown", "ctrl+f":
		t.move(m.rows())
	case "home", "g":
		t.move(-len(t.shown))
	case "end", "G":
		t.move(len(t.shown))
	default:
		return false
	}
	return true
}

// typed changes the filter.
func (m *model) typed(k tea.KeyPressMsg) {
	t := m.tab()
	switch k.String() {
	case "enter", "tab", "up", "down":
		m.typing = false
	case "esc":
		m.typing = false
		t.search("")
	case "backspace":
		_, last := utf8.DecodeLastRuneInString(t.filter)
		t.search(t.filter[:len(t.filter)-last])
	case "ctrl+u":
		t.search("")
	default:
		m.add(k.Text)
	}
}

// add adds text to the filter, up to filterMax characters.
func (m *model) add(text string) {
	all := []rune(m.tab().filter + oneLine(text))
	m.tab().search(string(all[:min(len(all), filterMax)]))
}
