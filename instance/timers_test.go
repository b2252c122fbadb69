package instance_test

import (
	"errors"
	"net/http"
	"testing"

	"dormouse/agent"
)

// timer returns one of instance a's timers, or nil.
func (k *kit) timer(id string) *agent.Timer {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetTimer{Manager: "m", Key: "a", ID: id}}})
	if err != nil {
		k.Fatal(err)
	}
	t, _ := answers.Answers[0].Found.(*agent.Timer)
	return t
}

func TestAnHTTPHandlerSetsTimers(t *testing.T) {
	withEndpoint(t, func(k *kit, e *endpoint) {
		answer := `{"timers":{"t":{"at":4102444800000,"data":{"n":1}}}}`
		e.serve = func(*http.Request, []byte) (int, string, error) { return 200, answer, nil }
		k.send(k.host, "a", signal("x", `{}`))
		if got := k.timer("t"); got == nil || got.Next != 4102444800000 || string(got.Data) != `{"n":1}` {
			k.Errorf("%+v", got)
		}
		answer = `{"timers":{"t":null}}`
		k.send(k.host, "a", signal("x", `{}`))
		if got := k.timer("t"); got != nil {
			k.Errorf("%+v", got)
		}
	})
}

func TestAnInstanceThatIsNotStoredHasNoTimers(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Storage: agent.KeepNone})
		_, err := k.host.Signal(k.Context(), ref("a"), signal("turn", `{"timers":{"t":{"at":4102444800000}}}`))
		var e *agent.Error
		if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != "timers" {
			k.Errorf("%v", err)
		}
	})
}
