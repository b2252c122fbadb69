package fsm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
)

// modelCron is a simple model of an instance's jobs.
type modelCron struct {
	revision uint64
	other    int               // the rest of the state
	stored   map[string]string // :: job → its stored spec, valid or not
	declared map[string]bool   // by the manager
	timers   map[string]string // :: job → its expression
}

const noJob = "7" // a key that a manifest may get from outside, and is not a job

func drawSpec(t *rapid.T) (sent, kept, expression string) {
	expression = rapid.SampledFrom([]string{"@daily", "@hourly", "0 2 * * *"}).Draw(t, "expression")
	message := rapid.SampledFrom([]string{`1`, `"x"`, `{"type":"t","data":{"n":1}}`}).Draw(t, "message")
	kept = fmt.Sprintf(`{"cron_expression":%q,"message":%s,"timezone":"Etc/UTC"}`, expression, message)
	sent = rapid.SampledFrom([]string{kept, fmt.Sprintf(` { "message" : %s , "cron_expression" : %q } `, message, expression)}).Draw(t, "as")
	return sent, kept, expression
}

// patch draws a patch, sends it, and applies its expected effect to the model.
func (m *modelCron) patch(t *rapid.T, r *subject, key string, names []string) {
	sent, next, timers, refused := []string{}, maps.Clone(m.stored), maps.Clone(m.timers), false
	maps.DeleteFunc(next, func(job, spec string) bool {
		if spec == noJob && !m.declared[job] {
			delete(timers, job)
		}
		return spec == noJob
	})
	for _, job := range names {
		switch rapid.IntRange(0, 3).Draw(t, job) {
		case 0:
			sent = append(sent, strconv.Quote(job)+":null")
			delete(next, job)
			if !m.declared[job] {
				delete(timers, job)
			}
		case 1:
			spec, kept, expression := drawSpec(t)
			sent = append(sent, strconv.Quote(job)+":"+spec)
			next[job], timers[job] = kept, expression
			refused = refused || m.declared[job]
		default:
		}
	}
	result, refusal := r.try(&agent.PatchCron{Key: key, Specs: agent.JSON("{" + strings.Join(sent, ",") + "}")})
	if refused {
		wantCode(t, refusal, agent.CodeConflict)
		return
	}
	if refusal != nil {
		t.Fatalf("a patch of %s: %v", sent, refusal)
	}
	if !maps.Equal(next, m.stored) {
		m.revision++
	}
	m.stored, m.timers = next, timers
	if got := result.Results[0].(*agent.CheckpointResult).Revision; got != m.revision {
		t.Fatalf("a patch of %s answers revision %d, want %d", sent, got, m.revision)
	}
}

// same compares what is stored with the model.
func (m *modelCron) same(t *rapid.T, r *subject, key string) {
	if m.revision == 0 {
		r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: key})
	} else {
		got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: key})
		var state struct {
			N    int                        `json:"n"`
			Jobs map[string]json.RawMessage `json:"__cron_specs__"`
		}
		if err := json.Unmarshal(got.State, &state); err != nil {
			t.Fatal(err)
		}
		jobs := map[string]string{}
		for job, spec := range state.Jobs {
			jobs[job] = string(spec)
		}
		if diff := cmp.Diff(m.stored, jobs); diff != "" || state.N != m.other || got.Revision != m.revision {
			t.Fatalf("n %d at revision %d, want %d at %d; the manifest:\n%s", state.N, got.Revision, m.other, m.revision, diff)
		}
	}
	timers := map[string]string{}
	for _, timer := range read[*agent.TimerList](r, &agent.ListTimers{Manager: "m", Key: "k"}).Items {
		timers[strings.TrimPrefix(timer.ID, agent.CronTimerPrefix)] = timer.Cron
	}
	if diff := cmp.Diff(m.timers, timers); diff != "" {
		t.Fatalf("the timers:\n%s", diff)
	}
}

// C-2, C-4, C-5, C-7, C-12 and C-14 in any order: after patches the manifest, the rest of its
// state, and the jobs' timers agree with a map of jobs.
func TestPatchesOfAManifestFollowAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newSubject(t)
		key := agent.InstanceRef{Manager: "m", Key: "k"}.Checkpoint()
		names := []string{"a", "b", "false", "d \"e\""}
		m := &modelCron{stored: map[string]string{}, declared: map[string]bool{}, timers: map[string]string{}}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0: // from outside: no timer changes before the instance is activated
				m.other++
				m.revision++
				m.stored = map[string]string{}
				for _, job := range names {
					switch rapid.IntRange(0, 2).Draw(rt, job) {
					case 0:
						m.stored[job] = noJob
					case 1:
						_, m.stored[job], _ = drawSpec(rt)
					default:
					}
				}
				var members []string
				for _, job := range slices.Sorted(maps.Keys(m.stored)) {
					members = append(members, strconv.Quote(job)+":"+m.stored[job])
				}
				state := fmt.Sprintf(`{"n":%d,"__cron_specs__":{%s}}`, m.other, strings.Join(members, ","))
				if len(members) == 0 {
					state = fmt.Sprintf(`{"n":%d}`, m.other)
				}
				do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: key, State: agent.JSON(state)})
			case 1:
				declared := rapid.SampledFrom(names).Draw(rt, "declared")
				m.declared = map[string]bool{declared: true}
				schedules := fmt.Sprintf(`{%q:{"cron_expression":"@weekly","message":1}}`, declared)
				do[*agent.ManagerResult](r, &agent.PutManager{Manager: agent.Manager{
					Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}, Schedules: agent.JSON(schedules),
				}})
			default:
				m.patch(rt, r, key, names)
			}
			m.same(rt, r, key)
		}
	})
}
