package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/cron"
)

func timersCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("timers", "Timers: signals to instances, once or on a cron schedule", timersList(a), timersGet(a), timersSet(a), timersRemove(a))
	cmd.Long = `A timer wakes an instance and sends it a signal. It is durable: the commit of the
turn that an occurrence causes acknowledges the occurrence. Failed attempts are
retried with growing delays; then the timer is parked until it is set again.`
	return cmd
}

func timersList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls MANAGER [KEY]", Short: "List the timers of an instance, or of all instances of a manager", Args: cli.Between(1, 2, "MANAGER", "[KEY]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := &agent.ListTimers{Manager: args[0], Page: page.Page()}
			if len(args) == 2 {
				q.Key = args[1]
			}
			return kit.Show(a, cmd, q, func(list *agent.TimerList) error {
				g := cli.Grid{Head: []string{"key", "timer", "schedule", "next", "attempts", "state"}, Note: kit.More(list.Next)}
				for i := range list.Items {
					t := &list.Items[i]
					g.Add(t.Key, t.ID, timerPlan(t), whenOrNever(t.Next), cli.Number(t.Attempts), timerState(t))
				}
				return a.Print(document.ListOf(list.Items, list.Next, document.TimerOf), g)
			})
		},
	}
	page.Define(cmd)
	return cmd
}

func timersGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get MANAGER KEY TIMER", Short: "Show a timer", Args: cli.Exactly("MANAGER", "KEY", "TIMER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetTimer{Manager: args[0], Key: args[1], ID: args[2]}, func(t *agent.Timer) error {
				return printTimer(a, t)
			})
		},
	}
}

func timersSet(a *kit.App) *cobra.Command {
	var t agent.Timer
	var at, missed, data string
	var in time.Duration
	cmd := &cobra.Command{
		Use: "put MANAGER KEY TIMER (--cron CRON | --at TIME | --in DURATION)", Aliases: []string{"set"}, Short: "Create or replace a timer", Args: cli.Exactly("MANAGER", "KEY", "TIMER"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t.Manager, t.Key, t.ID, t.Missed = args[0], args[1], args[2], agent.Missed(missed)
			if t.Data, err = a.OptionalObject("data", data); err != nil {
				return err
			}
			if at != "" {
				instant, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return cli.Usagef("--at is %q: use a time such as 2026-11-22T09:00:00Z", at)
				}
				t.Next = instant.UnixMilli()
			}
			if cmd.Flags().Changed("in") {
				if at != "" {
					return cli.Usagef("--in and --at exclude each other: give one of them")
				}
				if in < 0 {
					return cli.Usagef("--in is %v: use a duration from now on, such as 5m", in)
				}
				t.Next = time.Now().Add(in).UnixMilli()
			}
			err = kit.Change(a, cmd, &agent.PutTimer{Timer: t}, func(set *agent.TimerResult) error {
				showNext(&set.Timer)
				return printTimer(a, &set.Timer)
			})
			var commit *kit.CommitError
			if cmd.Flags().Changed("in") && errors.As(err, &commit) { // --in names another time in a moment
				at := time.UnixMilli(t.Next).UTC().Format(time.RFC3339Nano)
				commit.Settle = fmt.Sprintf("to find out, run the same command again with --at %s in place of --in, and with --request-id %s", at, commit.Request.Client)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.Cron, "cron", "", "five fields, six (seconds first), seven (and the year last), or a macro such as @daily")
	flags.StringVar(&at, "at", "", "fire once at this time, such as 2026-11-22T09:00:00Z")
	flags.DurationVar(&in, "in", 0, "fire once after this time, such as 5m")
	flags.StringVar(&t.TimeZone, "time-zone", "", "of --cron, such as Europe/Paris (default UTC)")
	flags.StringVar(&missed, "missed", "", "skip, fire_once or catch_up: what happens to occurrences that could not fire in time")
	flags.Uint64Var(&t.CatchUp, "catch-up", 0, "with --missed catch_up: how many of the latest occurrences fire")
	flags.StringVar(&t.Type, "type", "", "type of the signal (default timer)")
	flags.StringVar(&data, "data", "", "data of the signal: a JSON object, @FILE or -")
	return cmd
}

// showNext computes when a timer that was just set fires first. The leader does so
// right after.
func showNext(t *agent.Timer) {
	if t.Next == 0 {
		t.Next = nextOf(t.Cron, t.TimeZone, time.UnixMilli(t.UpdatedAt))
	}
}

// nextOf is when an expression comes next after a time, in Unix ms; 0 where it does
// not.
func nextOf(expression, zone string, after time.Time) int64 {
	schedule, err := cron.Parse(expression, zone)
	if err != nil {
		return 0
	}
	next := schedule.Next(after)
	if next.IsZero() {
		return 0
	}
	return next.UnixMilli()
}

func timersRemove(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "rm MANAGER KEY TIMER", Short: "Cancel a timer", Args: cli.Exactly("MANAGER", "KEY", "TIMER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return remove(a, cmd, "timer", args[2:], []agent.Op{&agent.DeleteTimer{Manager: args[0], Key: args[1], ID: args[2]}})
		},
	}
}

// timerPlan is when a timer fires, on a line.
func timerPlan(t *agent.Timer) string {
	switch {
	case t.Cron == "":
		return "once"
	case t.TimeZone == "":
		return t.Cron
	default:
		return t.Cron + " " + t.TimeZone
	}
}

func timerState(t *agent.Timer) string {
	switch {
	case t.Parked:
		return "parked: " + t.LastError
	case t.LastError != "":
		return "failed: " + t.LastError
	default:
		return "waits"
	}
}

// whenOrNever is a time that may not be known yet.
func whenOrNever(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return cli.When(ms)
}

func printTimer(a *kit.App, t *agent.Timer) error {
	var g cli.Grid
	g.Add("timer", t.ID)
	g.Add("instance", t.Manager+" "+t.Key)
	g.Add("plan", timerPlan(t))
	g.Add("missed", string(t.Missed))
	g.Add("signal", t.Type)
	g.Add("next", whenOrNever(t.Next))
	g.Add("state", timerState(t))
	if t.Attempts > 0 {
		g.Add("attempts", cli.Number(t.Attempts))
	}
	return a.Print(document.TimerOf(*t), g)
}
