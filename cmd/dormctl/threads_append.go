package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func threadsAppend(a *kit.App) *cobra.Command {
	var op agent.AppendThread
	var draft agent.Draft
	var at int64
	var expectedRev uint64
	var refs, metadata, entries, bytes string
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "append THREAD [PAYLOAD...]", Short: "Append entries, and create the thread if it does not exist",
		Args: cli.Between(1, -1, "THREAD [PAYLOAD...]"),
		Long: `append adds one entry for each PAYLOAD (a JSON object, @FILE, or - for stdin),
or the entries in --entries: a JSON array, or one entry a line, each
{"id"?, "at"?, "kind"?, "payload"?, "refs"?}. All are appended, or none.
--bytes appends an entry with bytes beside its payload, which may be absent.`,
		Example: `  dormctl threads append chat-1 '{"role":"user","content":"hello"}' --kind message
  dormctl threads append chat-1 --kind image --bytes @cat.png --content-type image/png
  dormctl threads append chat-1 --entries - --expected-rev 4 < entries.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Thread, op.IfIncarnation = args[0], guard.IfIncarnation
			op.ExpectedRev = kit.Optional(cmd, "expected-rev", &expectedRev)
			draft.At = kit.Optional(cmd, "at", &at)
			if op.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			if draft.Refs, err = a.OptionalObject("refs", refs); err != nil {
				return err
			}
			if cmd.Flags().Changed("bytes") {
				if draft.Bytes, err = a.BytesArg("bytes", bytes); err != nil {
					return err
				}
				draft.ContentType = cmp.Or(draft.ContentType, agent.DefaultContentType)
			}
			if op.Entries, err = entriesOf(a, args[1:], entries, draft); err != nil {
				return err
			}
			return appendEntries(a, cmd, &op)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&draft.Kind, "kind", "", "the entries' kind (default note)")
	flags.StringVar(&draft.ID, "id", "", "the entry's id, unique in the thread (default generated)")
	flags.Int64Var(&at, "at", 0, "the entries' time in Unix ms (default now)")
	flags.StringVar(&refs, "refs", "", "the entries' refs: a JSON object, @FILE or -")
	flags.StringVar(&bytes, "bytes", "", "bytes of the entry: the text itself, @FILE or -")
	flags.StringVar(&draft.ContentType, "content-type", "", "media type of the bytes (default "+agent.DefaultContentType+")")
	flags.StringVar(&entries, "entries", "", "file with whole entries, or - for stdin")
	flags.Uint64Var(&expectedRev, "expected-rev", 0, "append only at this rev")
	flags.BoolVar(&op.SkipExisting, "skip-existing", false, "keep entries whose id the thread has, also with other content")
	flags.BoolVar(&op.CreateOnly, "create-only", false, "the thread must not exist")
	flags.StringVar(&op.ExpectedHead, "expected-head", "", "append only at this head")
	flags.StringVar(&metadata, "metadata", "", "the thread's metadata, while it has no entries: a JSON object, @FILE or -")
	guard.Define(cmd, false)
	return cmd
}

// entriesOf is what to append: a draft with each payload, or those of a file.
func entriesOf(a *kit.App, payloads []string, file string, draft agent.Draft) ([]agent.Draft, error) {
	switch {
	case file != "" && len(payloads) > 0:
		return nil, cli.Usagef("give payloads or --entries, not both")
	case file != "":
		if draft.ID != "" || draft.Kind != "" || draft.At != nil || draft.Refs != nil || draft.ContentType != "" {
			return nil, cli.Usagef("--id, --kind, --at, --refs, --bytes and --content-type are for payloads; the entries in --entries say their own")
		}
		return a.Drafts(file)
	case draft.ID != "" && len(payloads) > 1:
		return nil, cli.Usagef("--id names one entry, but there are %d payloads: use --entries", len(payloads))
	case draft.ContentType != "" && len(payloads) > 1:
		return nil, cli.Usagef("--bytes is for one entry, but there are %d payloads: use --entries", len(payloads))
	case len(payloads) == 0 && draft.ContentType != "":
		return []agent.Draft{draft}, nil
	case len(payloads) == 0:
		return nil, cli.Usagef("nothing to append: give a payload, --bytes or --entries")
	}
	var drafts []agent.Draft
	for _, arg := range payloads {
		payload, err := a.ObjectArg("payload", arg)
		if err != nil {
			return nil, err
		}
		draft.Payload = payload
		drafts = append(drafts, draft)
	}
	return drafts, nil
}

func appendEntries(a *kit.App, cmd *cobra.Command, op *agent.AppendThread) error {
	return kit.Change(a, cmd, op, func(appended *agent.ThreadResult) error {
		var g cli.Grid
		g.Add("thread", appended.Thread.ID)
		g.Add("rev", cli.Number(appended.Thread.Rev))
		g.Add("head", appended.Thread.Head.String())
		for _, e := range appended.Entries {
			id := e.ID
			if e.Skipped {
				id += " (kept: it was there)"
			}
			g.Add("entry "+cli.Number(e.Seq), id)
		}
		return a.Print(document.ThreadStampOf(appended), g)
	})
}
