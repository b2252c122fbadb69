// Command adk-team runs a team of ADK agents whose session and effects are kept in Dormouse. It may be
// killed at any moment: the next process goes on where the session ends, and no step is done twice.
//
//	./run.sh
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	dormouse "dormouse/adapters/go/adk"
	"dormouse/sdk/go/client"
)

// The names of the session in ADK.
const (
	app  = "dinner"
	user = "ada"
	id   = "friday"
)

func main() {
	slow := flag.Int("slow", 0, "the step whose answer takes a minute, so that there is time to kill the process before it")
	check := flag.Bool("check", false, "check the ledger and the transcript instead of running the team")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := func(c *client.Client) error { return work(ctx, c, *slow) }
	if *check {
		do = func(c *client.Client) error { return verify(ctx, c) }
	}
	c, err := client.Dial(client.Options{Scope: "adk-team"}) // DORMOUSE_ENDPOINTS
	if err == nil {
		err = errors.Join(do(c), c.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "adk-team:", err)
		os.Exit(1)
	}
}

// say prints a line that names this process.
func say(format string, args ...any) {
	fmt.Printf("  [%d] %s\n", os.Getpid(), fmt.Sprintf(format, args...))
}

// work takes the claim on the dinner and lets the team go on until the plan is done.
func work(ctx context.Context, c *client.Client, slow int) error {
	held, err := take(ctx, c)
	if err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	go func() { lost(held.keep(ctx)) }()

	// All writes from here on carry the claim: a process that lost it stores nothing.
	sessions := dormouse.NewSessions(held.service(), "")
	ledger := ledger{held.scope()}
	team, err := newTeam(ledger, slow)
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Config{AppName: app, Agent: team, SessionService: sessions})
	if err != nil {
		return err
	}
	next, err := resume(ctx, sessions, ledger)
	if err != nil {
		return err
	}
	if next.message == nil {
		say("finds nothing left to do")
		return held.release(ctx)
	}
	for event, err := range r.Run(ctx, user, id, next.message, agent.RunConfig{}, runner.WithStateDelta(next.state)) {
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		show(event)
	}
	return held.release(ctx)
}

// show prints what an agent said, or which agent it handed over to. Tools print their own lines.
func show(event *session.Event) {
	if event.Content == nil {
		return
	}
	for _, part := range event.Content.Parts {
		switch {
		case part.Text != "":
			say("%s: %s", event.Author, part.Text)
		case part.FunctionCall != nil && part.FunctionCall.Name == transferTool:
			say("%s: over to you, %v", event.Author, part.FunctionCall.Args["agent_name"])
		}
	}
}

// pause takes the time that a model or a tool would.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
