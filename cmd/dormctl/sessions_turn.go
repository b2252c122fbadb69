package main

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// runnerFlags adds --owner and --ttl of a turn's lease to cmd.
func runnerFlags(cmd *cobra.Command, owner *string, ttl *time.Duration) {
	cmd.Flags().StringVar(owner, "owner", "", "owner of the lease")
	cmd.Flags().DurationVar(ttl, "ttl", agent.ClaimTTLDefault, "the lease expires after this time unless it is renewed")
}

// underFlags name the lease that a turn runs under. In classic mode there is
// none.
func underFlags(cmd *cobra.Command, lease, owner *string) {
	cmd.Flags().StringVar(lease, "lease", "", "id of the lease, as claim, recover or resume printed it")
	cmd.Flags().StringVar(owner, "owner", "", "owner of the lease")
}

// valueArg is a flag that holds any JSON value; empty means absent.
func valueArg(a *kit.App, what, arg string) (agent.JSON, error) {
	if arg == "" {
		return nil, nil
	}
	raw, err := a.BytesArg(what, arg)
	if err != nil {
		return nil, err
	}
	value, err := agent.Compact(raw)
	if err != nil {
		return nil, cli.Usagef("%s: %w", what, err)
	}
	return value, nil
}

// documentArg reads a flag that holds a JSON document; empty means absent.
func documentArg[T any](a *kit.App, what, arg string) (into T, err error) {
	if arg == "" {
		return into, nil
	}
	raw, err := a.BytesArg(what, arg)
	if err != nil {
		return into, err
	}
	if !jsontext.Value(raw).IsValid() {
		return into, kit.BadDocument(what, document.Decode(raw, &into, what))
	}
	named := slices.Concat([]byte(`{"`+what+`":`), raw, []byte("}")) // so that errors name the member as the contract does
	var member map[string]T
	if err := document.Decode(named, &member, what); err != nil {
		return into, kit.BadDocument("", err)
	}
	return member[what], nil
}

// reviewsArg reads a flag that holds what to ask people.
func reviewsArg(a *kit.App, arg string) ([]agent.ReviewDraft, error) {
	drafts, err := documentArg[[]document.ReviewDraft](a, "reviews", arg)
	if err != nil {
		return nil, err
	}
	reviews, err := document.DraftedReviews(drafts)
	if err != nil {
		return nil, kit.BadDocument("reviews", err)
	}
	return reviews, nil
}

// shownSnapshot is a snapshot as a caller writes it. It may also be as it was
// shown: the time is taken and ignored.
type shownSnapshot struct {
	document.SnapshotBody
	At int64 `json:"at"`
}

// snapshotsArg reads a flag that holds snapshots of a turn.
func snapshotsArg(a *kit.App, arg string) ([]agent.SessionSnapshot, error) {
	bodies, err := documentArg[[]shownSnapshot](a, "snapshots", arg)
	var snapshots []agent.SessionSnapshot
	for i := range bodies {
		snapshots = append(snapshots, bodies[i].ToAgent())
	}
	return snapshots, err
}

func sessionsClaim(a *kit.App) *cobra.Command {
	op := &agent.ClaimSession{}
	var request, input, metadata string
	var revision uint64
	cmd := &cobra.Command{
		Use: "claim SESSION --owner OWNER --request ID", Short: "Begin a turn under a new lease", Args: cli.Exactly("SESSION"),
		Long: `claim begins a turn. If another turn runs, the session's busy policy decides: the
claim is refused, waits, or takes the session over. Without --request it takes the
request that has waited longest.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Session, op.ConversationRevision = args[0], kit.Optional(cmd, "conversation-revision", &revision)
			if request == "" {
				if input != "" || metadata != "" {
					return cli.Usagef("--input and --metadata are of a request: name it with --request")
				}
				return changeSession(a, cmd, op)
			}
			op.Request = &agent.SessionRequest{ID: request}
			var err error
			if op.Request.Input, err = valueArg(a, "input", input); err != nil {
				return err
			}
			if op.Request.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			return changeSession(a, cmd, op)
		},
	}
	runnerFlags(cmd, &op.Owner, &op.TTL)
	cmd.Flags().StringVar(&request, "request", "", "id of the request that the turn answers")
	cmd.Flags().StringVar(&input, "input", "", "input of the request: any JSON value, @FILE or -")
	cmd.Flags().StringVar(&metadata, "metadata", "", "metadata of the request: a JSON object, @FILE or -")
	cmd.Flags().Uint64Var(&revision, "conversation-revision", 0, "revision of the conversation on which the request is based: another one refuses the claim")
	return cmd
}

func sessionsResume(a *kit.App) *cobra.Command {
	op := &agent.ResumeSession{}
	return takeTurnCommand(a, "resume", "Continue a turn that hibernates or waits, under a new lease", op, &op.Session, &op.Owner, &op.TTL)
}

// takeTurnCommand commits op, which takes a turn of the session that the argument names.
func takeTurnCommand(a *kit.App, verb, short string, op agent.Op, session, owner *string, ttl *time.Duration) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " SESSION --owner OWNER", Short: short, Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			*session = args[0]
			return changeSession(a, cmd, op)
		},
	}
	runnerFlags(cmd, owner, ttl)
	return cmd
}

func sessionsRecover(a *kit.App) *cobra.Command {
	op := &agent.RecoverSession{}
	return takeTurnCommand(a, "recover", "Take over a turn whose lease has expired", op, &op.Session, &op.Owner, &op.TTL)
}

func sessionsCheckpoint(a *kit.App) *cobra.Command {
	op := &agent.CheckpointSession{}
	var state, metadata, reviews string
	cmd := &cobra.Command{
		Use:   "checkpoint SESSION --lease LEASE --owner OWNER --snapshot ID --phase PHASE",
		Short: "Save a snapshot of the running turn, and renew its lease", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Session = args[0]
			if op.Snapshot.TurnState, err = a.OptionalObject("turn-state", state); err != nil {
				return err
			}
			if op.Snapshot.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			if op.Reviews, err = reviewsArg(a, reviews); err != nil {
				return err
			}
			return changeSession(a, cmd, op)
		},
	}
	underFlags(cmd, &op.LeaseID, &op.Owner)
	flags := cmd.Flags()
	flags.DurationVar(&op.TTL, "ttl", 0, "new ttl of the lease; 0 keeps the current one")
	flags.StringVar(&op.Snapshot.ID, "snapshot", "", "id of the snapshot; a snapshot with this id is replaced")
	flags.StringVar((*string)(&op.Snapshot.Cursor.Phase), "phase", "", "step of the turn: start, after_prompt, before_effect, review or wait")
	flags.Uint64Var(&op.Snapshot.Cursor.LoopIndex, "loop", 0, "number of the turn's loop iteration")
	flags.StringVar(&state, "turn-state", "", "a JSON object, @FILE or -")
	flags.StringVar(&metadata, "metadata", "", "metadata of the snapshot: a JSON object, @FILE or -")
	flags.StringVar(&reviews, "reviews", "", "reviews to request: a JSON array, @FILE or -")
	return cmd
}

func sessionsCommit(a *kit.App) *cobra.Command {
	op := &agent.CommitSession{}
	var result, failure, environment, conversation, kept, reviews string
	cmd := &cobra.Command{
		Use: "commit SESSION --lease LEASE --owner OWNER --status STATUS", Short: "End a turn and its lease, and store the outcome", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Session = args[0]
			if op.Result, err = valueArg(a, "result", result); err != nil {
				return err
			}
			if op.Failure, err = valueArg(a, "error", failure); err != nil {
				return err
			}
			if op.Environment, err = a.OptionalObject("environment", environment); err != nil {
				return err
			}
			next, err := documentArg[*document.Conversation](a, "conversation", conversation)
			if err != nil {
				return err
			}
			op.Conversation = next.ToAgent()
			if op.Snapshots, err = snapshotsArg(a, kept); err != nil {
				return err
			}
			if op.Reviews, err = reviewsArg(a, reviews); err != nil {
				return err
			}
			return changeSession(a, cmd, op)
		},
	}
	underFlags(cmd, &op.LeaseID, &op.Owner)
	flags := cmd.Flags()
	flags.StringVar((*string)(&op.Status), "status", "", "finished, error, cancelled, hibernated or waiting")
	flags.StringVar(&result, "result", "", "any JSON value, @FILE or -")
	flags.StringVar(&failure, "error", "", "any JSON value, @FILE or -")
	flags.StringVar(&environment, "environment", "", "a JSON object, @FILE or - (default: unchanged)")
	flags.StringVar(&conversation, "conversation", "", "a JSON object, @FILE or - (default: unchanged)")
	flags.StringVar(&kept, "snapshots", "", "snapshots from which the turn can continue: a JSON array, @FILE or -")
	flags.StringVar(&reviews, "reviews", "", "reviews to request: a JSON array, @FILE or -")
	return cmd
}

func sessionsRenew(a *kit.App) *cobra.Command {
	op := &agent.RenewSession{}
	cmd := &cobra.Command{
		Use: "renew SESSION --lease LEASE --owner OWNER", Short: "Renew a lease: restart its ttl", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Session = args[0]
			return changeSession(a, cmd, op)
		},
	}
	underFlags(cmd, &op.LeaseID, &op.Owner)
	cmd.Flags().DurationVar(&op.TTL, "ttl", 0, "new ttl; 0 keeps the current one")
	return cmd
}

func sessionsCancel(a *kit.App) *cobra.Command {
	op := &agent.CancelSession{}
	var reason string
	var revision uint64
	cmd := &cobra.Command{
		Use: "cancel SESSION", Short: "Cancel a session: end its turn, and drop its queue and pending reviews", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Session, op.IfRevision = args[0], kit.Optional(cmd, "if-revision", &revision)
			if op.Reason, err = valueArg(a, "reason", reason); err != nil {
				return err
			}
			return changeSession(a, cmd, op)
		},
	}
	underFlags(cmd, &op.LeaseID, &op.Owner)
	cmd.Flags().StringVar(&reason, "reason", "", "stored as the session's error: any JSON value, @FILE or -")
	cmd.Flags().Uint64Var(&revision, "if-revision", 0, "only at this revision")
	return cmd
}
