package instance_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

const daily = `{"cron_expression":"@daily","message":{"type":"timer","data":{"n":1}},"timezone":"Etc/UTC"}`

// manifest returns the jobs in the checkpoint of instance a.
func (k *kit) manifest() string {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: ref("a").Checkpoint()}}})
	if err != nil {
		k.Fatal(err)
	}
	c, ok := answers.Answers[0].Found.(*agent.Checkpoint)
	if !ok {
		return "no checkpoint"
	}
	return string(c.State)
}

// jobs returns the ids and plans of the timers of instance a's jobs.
func (k *kit) jobs() string {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.ListTimers{Manager: "m", Key: "a", Page: agent.Page{Prefix: agent.CronTimerPrefix}}}})
	if err != nil {
		k.Fatal(err)
	}
	var all []string
	for _, t := range answers.Answers[0].Found.(*agent.TimerList).Items {
		all = append(all, t.ID+" "+t.Cron)
	}
	return strings.Join(all, ", ")
}

func (k *kit) want(what, got, want string) {
	k.Helper()
	if got != want {
		k.Errorf("%s: %s, want %s", what, got, want)
	}
}

// C-1, C-12: a job outlives hibernation and turns. The handler can neither see
// nor write it.
func TestAJobOutlivesHibernationSim(t *testing.T) {
	for _, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		t.Run(string(durability), func(t *testing.T) {
			sim(t, nil, func(k *kit) {
				k.put(agent.Manager{Name: "m", Durability: durability})
				k.send(k.host, "a", signal("patch", `{"x":1}`))
				k.send(k.host, "a", requested(signal(agent.SignalCron, `{"j":`+daily+`}`), "c", 1))
				k.want("stored with all that was not", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`}}`)
				again := k.send(k.host, "a", requested(signal(agent.SignalCron, `{"j":`+daily+`}`), "c", 1))
				if again.Revision == 0 || !again.Durable {
					k.Errorf("sent again: %+v", again)
				}
				k.want("the handler's state", k.state(k.host, "a"), `{"x":1}`)
				k.send(k.host, "a", signal("patch", `{"x":2,"__cron_specs__":null}`))
				k.send(k.host, "a", signal("patch", `{"__cron_specs__":{"mine":1}}`))
				if err := k.host.Stop(k.Context(), ref("a")); err != nil {
					k.Fatal(err)
				}
				k.want("stored", k.manifest(), `{"x":2,"__cron_specs__":{"j":`+daily+`}}`)
				k.want("thawed", k.state(k.host, "a"), `{"x":2}`)
				k.want("timers", k.jobs(), "cron:j @daily")
				k.send(k.host, "a", signal(agent.SignalCron, `{"j":null,"other":null}`))
				k.send(k.host, "a", signal("patch", `{"x":3}`))
				if err := k.host.Hibernate(k.Context(), ref("a")); err != nil {
					k.Fatal(err)
				}
				k.want("cancelled", k.manifest(), `{"x":3}`)
				k.want("timers", k.jobs(), "")
			})
		})
	}
}

// C-13: a job as the first change of an instance stores the whole instance.
func TestTheFirstJobStoresTheInstanceSim(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		if _, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{InitialState: agent.JSON(`{"x":1}`)}); err != nil {
			k.Fatal(err)
		}
		k.want("before", k.manifest(), "no checkpoint")
		k.send(k.host, "a", signal(agent.SignalCron, `{"j":`+daily+`}`))
		k.want("after", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`}}`)
	})
}

// C-1, C-7: a wake sets the timers of jobs in a checkpoint, for example after
// an import. Invalid jobs are removed.
func TestAWakeSetsTheTimersOfJobsSim(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.write(&agent.PutCheckpoint{Key: ref("a").Checkpoint(), State: agent.JSON(
			`{"x":1,"__cron_specs__":{"j":` + daily + `,"bad":7,"never":{"cron_expression":"0 0 31 2 *","message":1},"mars":{"cron_expression":"@daily","message":1,"timezone":"Mars"}}}`)},
			&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "a", ID: "cron:old", Cron: "@daily"}},
			&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "a", ID: "own", Cron: "@daily"}})
		k.want("the handler's state", k.state(k.host, "a"), `{"x":1}`)
		k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`}}`)
		k.want("timers", k.jobs(), "cron:j @daily")
		first := k.timer("cron:j").Generation
		if k.timer("own") == nil {
			k.Error("a timer that is no job's is gone")
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		k.send(k.host, "a", signal("patch", `{"x":2}`))
		if got := k.timer("cron:j").Generation; got != first {
			k.Error("an unchanged timer was set again")
		}
	})
}

// C-14: a job that the manager declares replaces a stored one of the same name,
// and ends when the manager no longer declares it.
func TestADeclaredJobReplacesAStoredOneSim(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal(agent.SignalCron, `{"j":`+daily+`,"own":`+daily+`}`))
		k.put(agent.Manager{Name: "m", Schedules: agent.JSON(`{"j":{"cron_expression":"@hourly","message":0}}`)})
		k.send(k.host, "a", signal("patch", `{"x":1}`)) // wakes it again, under another manager
		k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"own":`+daily+`}}`)
		k.want("timers", k.jobs(), "cron:j @hourly, cron:own @daily")
		_, err := k.host.Signal(k.Context(), ref("a"), signal(agent.SignalCron, `{"j":`+daily+`}`))
		if agent.CodeOf(err) != agent.CodeConflict {
			k.Errorf("a declared job was set: %v", err)
		}
		k.put(agent.Manager{Name: "m"})
		time.Sleep(time.Second)
		k.send(k.host, "a", signal("patch", `{"x":2}`))
		k.want("timers", k.jobs(), "cron:own @daily")
	})
}

// C-3, C-9: a refused job leaves the instance unchanged.
func TestAJobThatIsRefusedChangesNothingSim(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal(agent.SignalCron, `{"j":`+daily+`}`))
		for field, specs := range map[string]string{
			"specs.j.cron_expression": `{"j":{"cron_expression":"61 * * * *","message":1}}`,
			"specs.j.message":         `{"j":{"cron_expression":"@daily"}}`,
			"specs.j":                 `{"j":1}`,
		} {
			_, err := k.host.Signal(k.Context(), ref("a"), signal(agent.SignalCron, specs))
			var e *agent.Error
			if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != field {
				k.Errorf("%s: %v", specs, err)
			}
		}
		k.send(k.host, "a", signal("patch", `{"x":1}`))
		k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`}}`)
		k.put(agent.Manager{Name: "m", Storage: agent.KeepNone})
		if _, err := k.host.Signal(k.Context(), ref("a"), signal(agent.SignalCron, `{"j":null}`)); agent.CodeOf(err) != agent.CodeInvalid {
			k.Errorf("of what is not stored: %v", err)
		}
	})
}

// write commits ops without the host.
func (k *kit) write(ops ...agent.Op) {
	k.Helper()
	if _, err := k.node.Commit(k.Context(), agent.Commit{Ops: ops}); err != nil {
		k.Fatal(err)
	}
}

// A turn's changes of jobs are in its commit for every kind of handler: once,
// with its state and its reply, or not at all.
func TestATurnChangesItsOwnJobsSim(t *testing.T) {
	hourly := strings.ReplaceAll(daily, "@daily", "@hourly")
	for _, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		t.Run("document "+string(durability), func(t *testing.T) {
			sim(t, nil, func(k *kit) {
				k.put(agent.Manager{Name: "m", Durability: durability})
				s := requested(signal("turn", `{"patch":{"x":1},"entries":{},"cron":{"j":`+daily+`,"k":`+daily+`}}`), "c", 1)
				first := k.send(k.host, "a", s)
				again := k.send(k.host, "a", s)
				if want := `{"rev":1,"revision":2}`; !first.Durable || first.Revision != 2 || string(first.Data) != want || string(again.Data) != want {
					k.Errorf("%+v, sent again %+v", first, again)
				}
				k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`,"k":`+daily+`}}`)
				k.want("timers", k.jobs(), "cron:j @daily, cron:k @daily")
				alone := k.send(k.host, "a", signal("turn", `{"cron":{"j":null,"other":null}}`))
				k.want("the answer", string(alone.Data), `{"rev":1,"revision":3}`)
				same := k.send(k.host, "a", signal("turn", `{"cron":{"k":`+daily+`}}`))
				k.want("what changes nothing", string(same.Data), `{"rev":1,"revision":3}`)
				k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"k":`+daily+`}}`)
				k.want("timers", k.jobs(), "cron:k @daily")
				_, err := k.host.Signal(k.Context(), ref("a"), signal("turn", `{"patch":{"x":2},"cron":{"k":{"cron_expression":"61 * * * *","message":1}}}`))
				if e := k.refusal(err, agent.CodeInvalid); e.Field != "specs.k.cron_expression" {
					k.Errorf("%+v", e)
				}
				k.want("the handler's state", k.state(k.host, "a"), `{"x":1}`)
			})
		})
	}
	t.Run("go", func(t *testing.T) {
		withHandler(t, func(k *kit, f *funcs) {
			k.put(agent.Manager{Name: "m", Handler: goHandler, Schedules: agent.JSON(`{"theirs":{"cron_expression":"@hourly","message":0}}`)})
			f.handle = func(t *instance.Turn) error {
				if err := t.PatchCron(agent.JSON(`{"j":` + daily + `,"k":` + daily + `}`)); err != nil {
					return err
				}
				if err := t.PatchCron(agent.JSON(`{"k":null,"j":` + hourly + `}`)); err != nil {
					return err
				}
				ref := t.Ref()
				t.Commit(&agent.PutTimer{Timer: agent.Timer{Manager: ref.Manager, Key: ref.Key, ID: "once", Next: 4102444800000}})
				return t.Reply(agent.JSON(`{"jobs":` + string(t.Cron()) + `}`))
			}
			s := requested(signal("x", ""), "c", 1)
			k.want("the answer", string(k.send(k.host, "a", s).Data), `{"jobs":{"j":`+hourly+`}}`)
			k.want("sent again", string(k.send(k.host, "a", s).Data), `{"jobs":{"j":`+hourly+`}}`)
			k.want("stored", k.manifest(), `{"__cron_specs__":{"j":`+hourly+`}}`)
			k.want("timers", k.jobs(), "cron:j @hourly, cron:theirs @hourly")
			if k.timer("once") == nil {
				k.Error("its own timer is missing")
			}

			f.handle = func(t *instance.Turn) error {
				k.want("what it has", string(t.Cron()), `{"j":`+hourly+`}`)
				if err := t.PatchCron(agent.JSON(`{"j":null}`)); err != nil {
					return err
				}
				t.Commit(&agent.PutValue{Key: "v", IfRevision: &[]uint64{7}[0]}) // it has no revision 7
				return nil
			}
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			k.code(err, agent.CodeRevisionMismatch)
			k.want("after a turn that was refused", k.manifest(), `{"__cron_specs__":{"j":`+hourly+`}}`)

			f.handle = func(t *instance.Turn) error { return t.PatchCron(agent.JSON(`{"theirs":` + daily + `}`)) }
			made := f.made
			_, err = k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			k.code(err, agent.CodeConflict)
			if f.made != made+1 { // the Handler of the refused turn
				k.Errorf("the handler ran %d times", f.made-made)
			}
			f.handle = func(t *instance.Turn) error { k.want("after all", string(t.Cron()), `{"j":`+hourly+`}`); return nil }
			k.send(k.host, "a", signal("x", ""))
		})
	})
	t.Run("http", func(t *testing.T) {
		withEndpoint(t, func(k *kit, e *endpoint) {
			answer := `{"patch":{"x":1},"cron":{"j":` + daily + `},"timers":{"once":{"at":4102444800000}}}`
			e.serve = func(*http.Request, []byte) (int, string, error) { return 200, answer, nil }
			k.send(k.host, "a", signal("x", `{}`))
			k.want("stored", k.manifest(), `{"x":1,"__cron_specs__":{"j":`+daily+`}}`)
			k.want("timers", k.jobs(), "cron:j @daily")
			answer = `{"cron":{"j":{"cron_expression":"@daily"}}}`
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", `{}`))
			if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "invalid_change" {
				k.Errorf("%+v", e)
			}
			answer = `{"cron":{"j":null},"timers":{"once":null}}`
			k.send(k.host, "a", signal("x", `{}`))
			k.want("cancelled", k.manifest(), `{"x":1}`)
			if k.jobs() != "" || k.timer("once") != nil {
				k.Errorf("timers: %s, %+v", k.jobs(), k.timer("once"))
			}
		})
	})
	t.Run("not stored", func(t *testing.T) {
		sim(t, nil, func(k *kit) {
			k.put(agent.Manager{Name: "m", Storage: agent.KeepNone})
			_, err := k.host.Signal(k.Context(), ref("a"), signal("turn", `{"cron":{"j":null}}`))
			if e := k.refusal(err, agent.CodeInvalid); e.Field != "cron" {
				k.Errorf("%+v", e)
			}
		})
	})
}

// A turn that only changes jobs detects another client's write, and its handler
// runs again with the new state.
func TestATurnOfJobsAloneIsFencedByTheRevisionSim(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		asked := overtaken(k, f, func(t *instance.Turn) error { return t.PatchCron(agent.JSON(`{"j":` + daily + `}`)) })
		k.send(k.host, "a", signal("x", ""))
		k.want("stored", k.manifest(), `{"x":3,"__cron_specs__":{"j":`+daily+`}}`)
		if *asked != 2 {
			k.Errorf("asked %d times", asked)
		}
	})
}

// An instance whose jobs a quota refuses wakes without them, and they are set once there is room.
func TestAQuotaOfTimersKeepsNoInstanceAsleep(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.start("a", `{"x":1}`)
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		limit := func(timers uint64) {
			k.write(&agent.PutScope{Policy: agent.Policy{TimersMax: timers}})
		}
		k.write(&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "b", ID: "other", Cron: "@daily"}})
		limit(1)
		k.put(agent.Manager{Name: "m", Schedules: agent.JSON(`{"j":{"cron_expression":"@hourly","message":0}}`)})
		k.want("the state", k.state(k.host, "a"), `{"x":1}`)
		k.want("timers at the limit", k.jobs(), "")
		limit(10)
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		k.want("the state", k.state(k.host, "a"), `{"x":1}`)
		k.want("timers", k.jobs(), "cron:j @hourly")
	})
}
