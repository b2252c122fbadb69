package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

// job returns a job as stored in a manifest.
func job(expression, message string) string {
	return fmt.Sprintf(`{"cron_expression":%q,"message":%s,"timezone":"Etc/UTC"}`, expression, message)
}

// cronOf returns an op that changes the manifest of a checkpoint, such as an
// instance's.
func cronOf(key, specs string) *agent.PatchCron {
	return &agent.PatchCron{Key: key, Specs: agent.JSON(specs)}
}

// ours is the checkpoint of instance k of manager m.
var ours = agent.InstanceRef{Manager: "m", Key: "k"}.Checkpoint()

func (k *kit) stateOf(key string) string {
	k.Helper()
	return string(find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: key}).State)
}

// jobTimers returns the timers of instance k of manager m.
func (k *kit) jobTimers() string {
	k.Helper()
	var all []string
	for _, t := range find[*agent.TimerList](k, &agent.ListTimers{Manager: "m", Key: "k"}).Items {
		all = append(all, t.ID+" "+t.Cron)
	}
	return strings.Join(all, ", ")
}

var cronClaims = []claim{
	{"C-1_a_job_is_in_the_checkpoint_and_survives_a_thaw", func(k *kit) {
		k.commit(cronOf(ours, `{"nightly": {"message": {"type":"remind","data":{"n":1}}, "cron_expression": "0 2 * * *", "timezone": "Europe/Paris"}}`))
		want := `{"nightly":{"cron_expression":"0 2 * * *","message":{"type":"remind","data":{"n":1}},"timezone":"Europe/Paris"}}`
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":`+want+`}`)
		k.equal("thawed", string(find[*agent.Thawed](k, &agent.Thaw{Key: ours}).Checkpoint.State), `{"__cron_specs__":`+want+`}`)
		timer := *find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:nightly"})
		k.equal("timer", []any{timer.Cron, timer.TimeZone, timer.Type, string(timer.Data)}, []any{"0 2 * * *", "Europe/Paris", "remind", `{"n":1}`})
	}},

	{"C-1_any_message_is_sent_as_it_is", func(k *kit) {
		k.commit(cronOf(ours, `{"a":{"cron_expression":"@daily","message":"wake up"},"b":{"cron_expression":"@daily","message":{"type":"x","more":1},"timezone":""}}`))
		for id, want := range map[string]string{
			"cron:a": `{"job":"a","message":"wake up"}`,
			"cron:b": `{"job":"b","message":{"type":"x","more":1}}`,
		} {
			t := *find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: id})
			k.equal(id, []any{t.Type, string(t.Data), t.TimeZone}, []any{agent.SignalTimer, want, "Etc/UTC"})
		}
	}},

	{"C-2_a_job_replaces_the_one_under_its_id", func(k *kit) {
		k.commit(cronOf(ours, `{"a":`+job("@daily", `1`)+`,"b":`+job("@daily", `2`)+`}`))
		before := find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:a"})
		k.commit(cronOf(ours, `{"a":`+job("@hourly", `{"x":1}`)+`}`))
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":{"a":`+job("@hourly", `{"x":1}`)+`,"b":`+job("@daily", `2`)+`}}`)
		k.equal("timers", k.jobTimers(), "cron:a @hourly, cron:b @daily")
		after := find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:a"})
		if after.Generation <= before.Generation {
			k.Fatal("an occurrence of the job as it was could still be acknowledged")
		}
	}},

	{"C-3_a_patch_that_fails_keeps_the_old_job", func(k *kit) {
		k.commit(cronOf(ours, `{"a":`+job("@daily", `1`)+`}`))
		before := find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:a"})
		stale := cronOf(ours, `{"a":`+job("@hourly", `2`)+`}`)
		stale.IfRevision = ptr(uint64(7))
		k.refuse(agent.CodeRevisionMismatch, 0, stale)
		k.refuse(agent.CodeNotFound, 1, cronOf(ours, `{"a":null}`), &agent.PatchCheckpoint{Key: "none", Patch: agent.JSON(`{}`)})
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":{"a":`+job("@daily", `1`)+`}}`)
		after := find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:a"})
		k.equal("timer", []any{after.Generation, after.Cron}, []any{before.Generation, "@daily"})
	}},

	{"C-4_a_cancelled_job_is_gone_for_good", func(k *kit) {
		k.commit(cronOf(ours, `{"a":`+job("@daily", `1`)+`,"b":`+job("@daily", `2`)+`}`))
		k.commit(cronOf(ours, `{"a":null}`))
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":{"b":`+job("@daily", `2`)+`}}`)
		k.equal("timers", k.jobTimers(), "cron:b @daily")
		k.commit(cronOf(ours, `{"b":null}`))
		k.equal("without jobs", k.stateOf(ours), `{}`)
		k.equal("timers", k.jobTimers(), "")
	}},

	{"C-5_cancelling_an_unknown_job_is_fine", func(k *kit) {
		k.equal("without a checkpoint", apply[*agent.CheckpointResult](k, cronOf(ours, `{"a":null}`)).Revision, uint64(0))
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: ours})
		k.commit(cronOf(ours, `{"b":`+job("@daily", `2`)+`}`))
		k.equal("another's", apply[*agent.CheckpointResult](k, cronOf(ours, `{"a":null}`)).Revision, uint64(1))
		k.equal("timers", k.jobTimers(), "cron:b @daily")
	}},

	{"C-6_falsy_ids_and_messages_are_kept", func(k *kit) {
		specs := `{"false":` + job("@daily", `false`) + `,"nil":` + job("@daily", `0`) + `,"null":` + job("@daily", `""`) + `,"0":` + job("@daily", `[]`) + `}`
		k.commit(cronOf(ours, specs))
		k.commit(cronOf(ours, `{"other":null}`))
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":`+specs+`}`)
		k.equal("timers", k.jobTimers(), "cron:0 @daily, cron:false @daily, cron:nil @daily, cron:null @daily")
		k.refuseInvalid(agent.CodeInvalid, 0, "specs", cronOf(ours, `{"":`+job("@daily", `1`)+`}`))
	}},

	{"C-7_what_is_no_job_is_dropped_and_the_others_stay", func(k *kit) {
		good := job("@daily", `1`)
		k.commit(&agent.PutCheckpoint{Key: ours, State: agent.JSON(`{"__cron_specs__":{"n":7,"good":` + good + `,"s":"x","":` + good +
			`,"no_message":{"cron_expression":"@daily"},"no_expression":{"message":1},"zone":{"cron_expression":"@daily","message":1,"timezone":7}},"x":1}`)})
		k.commit(cronOf(ours, `{"new":`+good+`}`))
		k.equal("state", k.stateOf(ours), `{"__cron_specs__":{"good":`+good+`,"new":`+good+`},"x":1}`)
		k.commit(&agent.PutCheckpoint{Key: "b", State: agent.JSON(`{"__cron_specs__":[1],"x":1}`)})
		k.commit(cronOf("b", `{}`))
		k.equal("no manifest at all", k.stateOf("b"), `{"x":1}`)
	}},

	{"C-8_a_message_that_cannot_be_stored_is_refused", func(k *kit) {
		for specs, field := range map[string]string{
			`{"a":{"cron_expression":"@daily"}}`:                         "specs.a.message",
			`{"a":{"cron_expression":"@daily","message":null}}`:          "specs.a.message",
			`{"a":{"cron_expression":"@daily","message":NaN}}`:           "specs",
			`{"a":{"cron_expression":"@daily","message":#PID}}`:          "specs",
			`{"a":{"cron_expression":"@daily","message":{"a":1,"a":2}}}`: "specs",
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, field, cronOf(ours, specs))
		}
		k.refuseInvalid(agent.CodeTooLarge, 0, "specs.a.message",
			cronOf(ours, `{"a":`+job("@daily", `"`+strings.Repeat("x", agent.TimerDataBytesMax)+`"`)+`}`))
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: ours})
	}},

	{"C-9_a_job_is_judged_with_its_field", func(k *kit) {
		for specs, field := range map[string]string{
			`{"a":{"cron_expression":"61 * * * *","message":1}}`:                          "specs.a.cron_expression",
			`{"a":{"message":1}}`:                                                         "specs.a.cron_expression",
			`{"a":{"cron_expression":"@daily","message":1,"timezone":"Mars/Olympus"}}`:    "specs.a.timezone",
			`{"a":{"cron_expression":"@daily","message":1,"missed":"often"}}`:             "specs.a.missed",
			`{"a":{"cron_expression":"@daily","message":1,"missed":"skip","catch_up":2}}`: "specs.a.catch_up",
			`{"a":{"cron_expression":"@daily","message":1,"more":1}}`:                     "specs.a",
			`{"a":"@daily"}`: "specs.a",
			`["@daily"]`:     "specs",
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, field, cronOf(ours, specs))
		}
		k.refuseInvalid(agent.CodeTooLarge, 0, "specs", cronOf(ours, `{"`+strings.Repeat("x", agent.CronJobBytesMax+1)+`":null}`))
	}},

	// A local time that its zone skips never fires. The tests of internal/cron and
	// node cover one that occurs twice.
	{"C-10_a_local_time_that_is_skipped_does_not_come", func(k *kit) {
		k.refuseInvalid(agent.CodeInvalid, 0, "specs.a.cron_expression",
			cronOf(ours, `{"a":{"cron_expression":"0 30 2 28 3 * 2100","message":1,"timezone":"Europe/Paris"}}`))
		k.commit(cronOf(ours, `{"a":{"cron_expression":"0 30 3 28 3 * 2100","message":1,"timezone":"Europe/Paris"}}`))
	}},

	{"C-11_a_job_is_not_caught_up_on_unless_it_says_so", func(k *kit) {
		k.commit(cronOf(ours, `{"a":`+job("@daily", `1`)+`,"b":{"cron_expression":"@daily","message":1,"missed":"catch_up"}}`))
		k.equal("a", find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:a"}).Missed, agent.MissedSkip)
		b := find[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "cron:b"})
		k.equal("b", []any{b.Missed, b.CatchUp}, []any{agent.MissedCatchUp, uint64(agent.TimerCatchUpDefault)})
	}},

	{"C-12_a_patch_leaves_all_else_as_it_is_stored", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		k.commit(&agent.PutCheckpoint{
			Key: "a", Version: 7, State: agent.JSON(`{"name":"Alice","__cron_specs__":{"j":` + job("@daily", `1`) + `},"n":18446744073709551615,"f":1.0}`),
			Thread: &agent.Pointer{Thread: "t", Rev: 1}, Lifecycle: "idle", Metadata: agent.JSON(`{"m":1}`), TTL: agent.TTLMax,
		})
		before := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		patched := k.commit(cronOf("a", `{"k":`+job("@hourly", `2`)+`}`))
		want := *before
		want.Revision, want.UpdatedAt = 2, patched.Time
		want.State = agent.JSON(`{"name":"Alice","__cron_specs__":{"j":` + job("@daily", `1`) + `,"k":` + job("@hourly", `2`) + `},"n":18446744073709551615,"f":1.0}`)
		k.equal("checkpoint", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}), &want)
	}},

	{"C-13_the_first_job_makes_the_checkpoint", func(k *kit) {
		made := apply[*agent.CheckpointResult](k, cronOf("a", `{"j":`+job("@daily", `1`)+`}`))
		k.equal("revision", made.Revision, uint64(1))
		got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
		k.equal("checkpoint", []any{string(got.State), string(got.Metadata), got.Version}, []any{`{"__cron_specs__":{"j":` + job("@daily", `1`) + `}}`, `{}`, uint64(1)})
		// Together with the agent's whole state, in one commit.
		k.commit(&agent.PutCheckpoint{Key: "b", State: agent.JSON(`{"n":1}`), IfRevision: ptr(uint64(0))}, cronOf("b", `{"j":`+job("@daily", `1`)+`}`))
		k.equal("whole", k.stateOf("b"), `{"n":1,"__cron_specs__":{"j":`+job("@daily", `1`)+`}}`)
	}},

	{"C-14_a_job_that_the_manager_declares_is_not_the_instances_to_set", func(k *kit) {
		k.commit(cronOf(ours, `{"a":`+job("@daily", `1`)+`}`))
		declaring := documents("m")
		declaring.Manager.Schedules = agent.JSON(`{"a": {"cron_expression":"@hourly","message":1}}`)
		got := apply[*agent.ManagerResult](k, declaring).Manager
		k.equal("declared", string(got.Schedules), `{"a":`+job("@hourly", `1`)+`}`)
		k.equal("read", string(find[*agent.Manager](k, &agent.GetManager{Name: "m"}).Schedules), string(got.Schedules))
		k.refuse(agent.CodeConflict, 0, cronOf(ours, `{"a":`+job("@daily", `2`)+`}`))
		k.commit(cronOf(ours, `{"a":null}`)) // the stored job is removed; its timer is now the manager's
		k.equal("state", k.stateOf(ours), `{}`)
		k.equal("timers", k.jobTimers(), "cron:a @daily")
		declaring.Manager.Schedules = agent.JSON(`{"a":null}`)
		k.refuseInvalid(agent.CodeInvalid, 0, "manager.schedules.a", declaring)
	}},

	{"a_manifest_has_so_many_jobs_and_no_more", func(k *kit) {
		many := func(from, n int) *agent.PatchCron {
			var specs []string
			for i := range n {
				specs = append(specs, fmt.Sprintf(`"j%d":%s`, from+i, job("@daily", `1`)))
			}
			return cronOf("a", `{`+strings.Join(specs, ",")+`}`)
		}
		k.refuseInvalid(agent.CodeTooLarge, 0, "specs", many(0, agent.CronSpecsMax+1))
		k.commit(many(0, agent.CronSpecsMax))
		e := k.refuse(agent.CodeTooLarge, 0, many(agent.CronSpecsMax, 1))
		k.equal("limit", e.Limit, fmt.Sprintf("cron_specs_max=%d", agent.CronSpecsMax))
		k.commit(many(0, 1))
	}},
}
