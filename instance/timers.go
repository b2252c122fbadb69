package instance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
)

// setTimers adds ops that set and cancel timers of the instance to the turn's
// commit. The object specs has the timers by id; null cancels one.
func (t *Turn) setTimers(specs jsontext.Value) error {
	if !isSet(specs) {
		return nil
	}
	if _, service, _ := t.runner.table.managerConfig(t.instance.manager); service != t.runner.o.Service {
		return agent.Invalid("timers", "manager %q is not stored in the cluster, and only the cluster keeps timers", t.instance.manager.name)
	}
	var plans map[string]*document.TimerBody
	if err := decodeField(agent.JSON(specs), "timers", &plans); err != nil {
		return err
	}
	ref, handler := t.Ref(), agent.Handler{Kind: t.kind}
	for _, id := range slices.Sorted(maps.Keys(plans)) {
		p := plans[id]
		if p == nil {
			t.Commit(&agent.DeleteTimer{Manager: ref.Manager, Key: ref.Key, ID: id})
			continue
		}
		if p.Type != "" {
			if err := handler.TakesIn("timers", fmt.Sprintf("timer %q", id), p.Type); err != nil {
				return err
			}
		}
		t.Commit(&agent.PutTimer{Timer: p.ToAgent(ref.Manager, ref.Key, id)})
	}
	return nil
}
