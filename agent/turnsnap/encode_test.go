package turnsnap_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/turnsnap"
)

// chain is a linked list, which may be a cycle.
type chain struct {
	Name string `json:"name"`
	Next *chain `json:"next,omitempty"`
}

type failingMarshaler struct{}

func (failingMarshaler) MarshalJSON() ([]byte, error) { return nil, errors.New("not today") }

func TestWhatCannotBeWrittenIsNamedByItsPath(t *testing.T) {
	ring := &chain{Name: "a", Next: &chain{Name: "b"}}
	ring.Next.Next = ring
	self := map[string]any{}
	self["kin"] = []any{1, self}
	slice := []any{0, 1}
	slice[1] = slice
	type itself *itself
	var pointer itself
	pointer = &pointer
	for _, c := range []struct {
		path  string
		value any
		says  string
	}{
		{"turn_state.tools[2].fn", map[string]any{"tools": []any{1, []int{}, map[string]any{"a": 1, "fn": func() {}}}}, "func()"},
		{"turn_state.tools[1].fn", map[string]any{"tools": []struct {
			Fn func() `json:"fn,omitzero"`
		}{{}, {Fn: func() {}}}}, "func()"},
		{"turn_state.a.b", map[string]any{"a": map[string]any{"b": make(chan int)}}, "chan int"},
		{"turn_state.a[0][1]", map[string]any{"a": [][]float64{{1, math.NaN()}}}, "NaN"},
		{"turn_state.a", map[string]any{"a": float32(math.Inf(-1))}, "-Inf"},
		{"turn_state.a", map[string]any{"a": complex(1, 2)}, "complex128"},
		{"turn_state.a", map[string]any{"a": map[int]string{1: "x"}}, "not strings"},
		{"turn_state.a", map[string]any{"a": map[any]string{}}, "not strings"},
		{"turn_state.a[0]", map[string]any{"a": []string{"\xff"}}, "UTF-8"},
		{"turn_state.a", map[string]any{"a": map[string]int{"\xff": 1}}, "UTF-8"},
		{"turn_state.a", map[string]any{"a": struct{ hidden int }{1}}, "no exported fields"},
		{"turn_state.a", map[string]any{"a": failingMarshaler{}}, "not today"},
		{"turn_state.a", map[string]any{"a": agent.JSON(`{"b":`)}, "EOF"},
		{`turn_state["a.b"][""].c`, map[string]any{"a.b": map[string]any{"": map[string]any{"c": make(chan int)}}}, "chan"},
		{"turn_state.a/b~c", map[string]any{"a/b~c": make(chan int)}, "chan"},
		{"turn_state.kin[1]", self, "cycle"},
		{"turn_state.s[1]", map[string]any{"s": slice}, "cycle"},
		{"turn_state.c.next.next", map[string]any{"c": ring}, "cycle"},
		{"turn_state.p", map[string]any{"p": pointer}, "cycle"},
		{"turn_state", func() {}, "func()"},
	} {
		_, err := turnsnap.Encode("turn_state", c.value)
		var e *agent.Error
		if !errors.As(err, &e) || e.Code != turnsnap.CodeNonSerializable || e.Field != c.path || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

func TestWhatIsNoObjectIsInvalid(t *testing.T) {
	for _, value := range []any{7, "text", []int{1}, true} {
		if _, err := turnsnap.Encode("metadata", value); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%v: %v", value, err)
		}
	}
}

func TestGoValuesBecomeJSON(t *testing.T) {
	shared := &chain{Name: "twice"}
	for want, value := range map[string]any{
		`{}`: nil,
		`{"n":9007199254740993,"u":18446744073709551615,"d":1500,"b":"AQI=","t":"1970-01-01T00:00:00Z"}`: struct {
			N int64         `json:"n"`
			U uint64        `json:"u"`
			D time.Duration `json:"d"`
			B []byte        `json:"b"`
			T time.Time     `json:"t"`
			S int           `json:"-"`
		}{1<<53 + 1, math.MaxUint64, 1500, []byte{1, 2}, time.Unix(0, 0).UTC(), 1},
		`{"a":[{"name":"twice"},{"name":"twice"}],"none":[]}`: map[string]any{"a": []*chain{shared, shared}, "none": []int(nil)},
		`{"already":{"b":1,"a":2.50},"not":null}`:             map[string]any{"already": agent.JSON(`{"b": 1, "a": 2.50}`), "not": agent.JSON(nil)},
		`{"name":"a","next":{"name":"b"}}`:                    &chain{"a", &chain{Name: "b"}},
	} {
		got, err := turnsnap.Encode("turn_state", value)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
	if got, err := turnsnap.Encode("turn_state", map[string]any(nil)); err != nil || string(got) != "{}" {
		t.Errorf("a nil map: %s, %v", got, err)
	}
}

// A value that nests deeper than JSONDepthMax is refused.
func TestWhatNestsTooDeepIsInvalid(t *testing.T) {
	var deep *chain
	for range agent.JSONDepthMax + 1 {
		deep = &chain{Name: "x", Next: deep}
	}
	if _, err := turnsnap.Encode("turn_state", deep); agent.CodeOf(err) != agent.CodeInvalid {
		t.Error(err)
	}
}
