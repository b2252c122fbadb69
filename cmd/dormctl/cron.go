package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func cronCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("cron", "Recurring jobs of an instance, on a cron schedule", cronList(a), cronShow(a), cronSet(a), cronPatch(a), cronRemove(a))
	cmd.Long = `An instance keeps its recurring jobs in its checkpoint, by their ids. Each job has a
timer, which wakes the instance and sends it the job's message. A change of jobs is
a turn of the instance, and changes nothing else. Jobs that the manager declares
belong to every instance, and cannot be set here.`
	return cmd
}

func cronList(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls MANAGER KEY", Short: "List an instance's jobs, including those that its manager declares", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				jobs, err := jobs(ctx, a, s, args[0], args[1])
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"job", "source", "schedule", "missed", "message", "next", "state"}}
				for i := range jobs {
					j := &jobs[i]
					g.Add(j.Job, j.Of, j.plan(), j.Missed, string(j.Message), whenOrNever(j.Next), j.State)
				}
				return a.Print(document.ListOf(jobs, "", func(j jobDoc) jobDoc { return j }), g)
			})
		},
	}
}

func cronShow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get MANAGER KEY JOB", Aliases: []string{"show"}, Short: "Show a job", Args: cli.Exactly("MANAGER", "KEY", "JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				jobs, err := jobs(ctx, a, s, args[0], args[1])
				if err != nil {
					return err
				}
				at := slices.IndexFunc(jobs, func(j jobDoc) bool { return j.Job == args[2] })
				if at < 0 {
					return agent.Errorf(agent.CodeNotFound, "instance %q of manager %q has no job %q", args[1], args[0], args[2])
				}
				j := &jobs[at]
				var g cli.Grid
				g.Add("job", j.Job)
				g.Add("of", j.Of)
				g.Add("plan", j.plan())
				g.Add("missed", j.Missed)
				g.Add("message", string(j.Message))
				g.Add("next", whenOrNever(j.Next))
				g.Add("state", j.State)
				return a.Print(j, g)
			})
		},
	}
}

// cronEntry is a job as a manifest keeps it.
type cronEntry struct {
	Expression string         `json:"cron_expression"`
	Message    jsontext.Value `json:"message"`
	TimeZone   string         `json:"timezone,omitzero"`
	Missed     string         `json:"missed,omitzero"`
	CatchUp    uint64         `json:"catch_up,omitzero"`
}

func cronSet(a *kit.App) *cobra.Command {
	var spec cronEntry
	var kind, data, message string
	cmd := &cobra.Command{
		Use: "put MANAGER KEY JOB CRON", Aliases: []string{"set"}, Short: "Create or replace a job; wakes the instance", Args: cli.Exactly("MANAGER", "KEY", "JOB", "CRON"),
		Long: `put sets one job and leaves the others. CRON has five fields, six (seconds first),
seven (and the year last), or is a macro such as @daily. The job sends a signal of
--type with --data, or else --message as it is, in a signal of type timer.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			spec.Expression = args[3]
			if spec.Message, err = cronMessage(a, kind, data, message); err != nil {
				return err
			}
			return changeJobs(a, cmd, args, map[string]*cronEntry{args[2]: &spec})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&spec.TimeZone, "time-zone", "", "such as Europe/Paris (default UTC)")
	flags.StringVar(&kind, "type", "", "type of the signal (default timer)")
	flags.StringVar(&data, "data", "", "data of the signal: a JSON object, @FILE or -")
	flags.StringVar(&message, "message", "", "instead of --type and --data: any JSON value but null, @FILE or -")
	flags.StringVar(&spec.Missed, "missed", "", "skip, fire_once or catch_up: what happens to occurrences that could not fire in time (default skip)")
	flags.Uint64Var(&spec.CatchUp, "catch-up", 0, "with --missed catch_up: how many of the latest occurrences fire")
	return cmd
}

// cronMessage is what a job sends.
func cronMessage(a *kit.App, kind, data, message string) (jsontext.Value, error) {
	if message != "" {
		if kind != "" || data != "" {
			return nil, cli.Usagef("--message stands for --type and --data: give it alone")
		}
		raw, err := a.BytesArg("--message", message)
		if err == nil && !jsontext.Value(raw).IsValid() {
			err = cli.Usagef("--message is no JSON value")
		}
		return raw, err
	}
	object, err := a.OptionalObject("--data", data)
	if err != nil {
		return nil, err
	}
	if object == nil {
		object = agent.JSON("{}")
	}
	return json.Marshal(struct {
		Type string         `json:"type"`
		Data jsontext.Value `json:"data"`
	}{cmp.Or(kind, agent.SignalTimer), jsontext.Value(object)}, jsontext.PreserveRawStrings(true))
}

func cronPatch(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "patch MANAGER KEY SPECS", Short: "Set and cancel several jobs at once; wakes the instance", Args: cli.Exactly("MANAGER", "KEY", "SPECS"),
		Long: `patch sets each job in SPECS, cancels each job that is null there, and leaves the
others: {"nightly":{"cron_expression":"0 2 * * *","message":{"type":"tidy"},"timezone":"Europe/Paris"},"old":null}.
SPECS is a JSON object, @FILE or - for stdin.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.ObjectArg("SPECS", args[2])
			if err != nil {
				return err
			}
			var specs map[string]jsontext.Value
			if err := json.Unmarshal(raw, &specs); err != nil {
				return cli.Usagef("SPECS: %v", err)
			}
			return changeJobs(a, cmd, args, specs)
		},
	}
}

func cronRemove(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "rm MANAGER KEY JOB...", Short: "Cancel jobs; unknown jobs are ignored", Args: cli.Between(3, -1, "MANAGER", "KEY", "JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			specs := map[string]*cronEntry{}
			for _, job := range args[2:] {
				specs[job] = nil
			}
			return changeJobs(a, cmd, args, specs)
		},
	}
}

// changeJobs sets and cancels jobs of the instance that the first two arguments
// name.
func changeJobs(a *kit.App, cmd *cobra.Command, args []string, specs any) error {
	raw, err := json.Marshal(specs, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return fmt.Errorf("write the jobs as JSON: %w", err)
	}
	changes, err := agent.CronChanges(raw)
	if err != nil {
		return err
	}
	signal := agent.Signal{Type: agent.SignalCron, Data: raw, Request: a.Request()}
	return onInstance(a, cmd, args, func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
		reply, err := on.Signal(ctx, ref, signal)
		if err != nil {
			return &kit.CommitError{Request: signal.Request, Err: err}
		}
		var g cli.Grid
		doc := cronChangedDoc{Manager: ref.Manager, Key: ref.Key, Set: []string{}, Next: map[string]int64{}, Cancelled: []string{}, Revision: reply.Revision}
		for _, change := range changes {
			if change.Set != nil {
				doc.Set = append(doc.Set, change.Job)
				next := nextOf(change.Set.Expression, change.Set.TimeZone, time.Now())
				doc.Next[change.Job] = next
				g.Add(change.Job, "set", "next "+whenOrNever(next))
			} else {
				doc.Cancelled = append(doc.Cancelled, change.Job)
				g.Add(change.Job, "cancelled")
			}
		}
		return a.Print(doc, g)
	})
}

type cronChangedDoc struct {
	Manager   string           `json:"manager"`
	Key       string           `json:"key"`
	Set       []string         `json:"set"`
	Next      map[string]int64 `json:"next"` // Unix ms, of each that was set
	Cancelled []string         `json:"cancelled"`
	Revision  uint64           `json:"revision"`
}

// jobDoc is a job and what its timer says.
type jobDoc struct {
	Job      string         `json:"job"`
	Of       string         `json:"of"`
	Cron     string         `json:"cron_expression"`
	TimeZone string         `json:"timezone,omitzero"`
	Missed   string         `json:"missed"`
	CatchUp  uint64         `json:"catch_up,omitzero"`
	Message  jsontext.Value `json:"message"`
	Next     int64          `json:"next,omitzero"`
	State    string         `json:"state"`
}

func (j *jobDoc) plan() string { return strings.TrimSpace(j.Cron + " " + j.TimeZone) }

// Whose a job is, and the state of one that has no timer.
const (
	jobOfInstance = "instance"
	jobOfManager  = "manager"
	jobUntimed    = "set when the instance wakes"
)

// jobs are an instance's jobs in the order of their ids: those of its manifest
// and those that its manager declares, with their timers.
func jobs(ctx context.Context, a *kit.App, s kit.Store, manager, key string) ([]jobDoc, error) {
	checkpoint := agent.InstanceRef{Manager: manager, Key: key}.Checkpoint()
	answers, err := a.Read(ctx, s, &agent.GetManager{Name: manager}, &agent.GetCheckpoint{Key: checkpoint},
		&agent.ListTimers{Manager: manager, Key: key, Page: agent.Page{Prefix: agent.CronTimerPrefix, Limit: agent.TimersMax}})
	if err != nil {
		return nil, err
	}
	m, err := kit.FoundIn[*agent.Manager](answers, 0)
	if err != nil {
		return nil, err
	}
	timers, err := kit.FoundIn[*agent.TimerList](answers, 2)
	if err != nil {
		return nil, err
	}
	var manifest agent.JSON
	if kept, err := kit.FoundIn[*agent.Checkpoint](answers, 1); err == nil {
		if _, manifest, err = agent.SplitCron(kept.State); err != nil {
			return nil, err
		}
	} else if !kit.Missing(err) {
		return nil, err
	}
	declared, _ := agent.CronSpecs(m.Schedules)
	stored, _ := agent.CronSpecs(manifest)
	jobs := []jobDoc{}
	for i := range declared {
		jobs = append(jobs, jobOf(&declared[i], jobOfManager, timers.Items))
	}
	for i := range stored {
		if !slices.ContainsFunc(jobs, func(j jobDoc) bool { return j.Job == stored[i].Job }) {
			jobs = append(jobs, jobOf(&stored[i], jobOfInstance, timers.Items))
		}
	}
	slices.SortFunc(jobs, func(a, b jobDoc) int { return strings.Compare(a.Job, b.Job) })
	return jobs, nil
}

func jobOf(spec *agent.CronSpec, of string, timers []agent.Timer) jobDoc {
	j := jobDoc{
		Job: spec.Job, Of: of, Cron: spec.Expression, TimeZone: spec.TimeZone, Missed: string(cmp.Or(spec.Missed, agent.MissedSkip)),
		CatchUp: spec.CatchUp, Message: jsontext.Value(spec.Message), State: jobUntimed,
	}
	if at := slices.IndexFunc(timers, func(t agent.Timer) bool { return t.ID == agent.CronTimerPrefix+spec.Job }); at >= 0 {
		j.Next, j.State = timers[at].Next, timerState(&timers[at])
	}
	return j
}
