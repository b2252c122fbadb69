package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/agent"
)

// hideAliases has help say nothing of other spellings, which are those of earlier
// versions.
func hideAliases(root *cobra.Command) {
	template := root.UsageTemplate()
	begin := strings.Index(template, "{{if gt (len .Aliases) 0}}")
	if begin < 0 {
		return
	}
	const end = "{{end}}"
	if length := strings.Index(template[begin:], end); length >= 0 {
		root.SetUsageTemplate(template[:begin] + template[begin+length+len(end):])
	}
}

// suggest names the commands of a group that a mistyped one may mean.
func suggest(cmd *cobra.Command, name string) string {
	cmd.SuggestionsMinimumDistance = suggestDistance(name)
	near := cmd.SuggestionsFor(name)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// suggestDistance is how many letters of a name may be wrong.
func suggestDistance(name string) int {
	const short = 4
	if len(name) <= short {
		return 1
	}
	return 2
}

// flagError is an error of a command's flags, with the flag that a mistyped one may
// mean.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return &usageError{err}
	}
	// Cobra suggests commands only: flags take part as if they were some.
	flags := &cobra.Command{SuggestionsMinimumDistance: suggestDistance(name)}
	for _, flag := range flagNames(cmd) {
		flags.AddCommand(&cobra.Command{Use: flag, Run: func(*cobra.Command, []string) {}})
	}
	if near := flags.SuggestionsFor(name); len(near) > 0 {
		return usagef("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, strings.Join(near, " or --"))
	}
	return usagef("%s has no flag --%s", cmd.CommandPath(), name)
}

// outputIn returns the value of --output in args, whose other flags may be wrong, or
// otherwise where args have none.
func outputIn(args []string, otherwise string) string {
	flags := pflag.NewFlagSet("output", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	output := flags.StringP("output", "o", otherwise, "")
	flags.BoolP("help", "h", false, "")
	if err := flags.Parse(args); err != nil {
		return otherwise
	}
	return *output
}

// flagNames are the flags that a command takes.
func flagNames(cmd *cobra.Command) (names []string) {
	collect := func(flag *pflag.Flag) { names = append(names, flag.Name) }
	cmd.LocalFlags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	return names
}

// errorDoc is an error as programs read it.
type errorDoc struct {
	Code         string `json:"code"` // of the store; usage, or failed where it is dormctl's own
	Message      string `json:"message"`
	Hint         string `json:"hint,omitempty"`
	Exit         int    `json:"exit"`
	RequestID    string `json:"request_id,omitempty"` // under which a commit of unknown outcome is settled
	Field        string `json:"field,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Limit        string `json:"limit,omitempty"`
	Op           *int   `json:"op,omitempty"`
	Rev          uint64 `json:"rev,omitempty"`
	Revision     uint64 `json:"revision,omitempty"`
	Epoch        uint64 `json:"epoch,omitempty"`
	Holder       string `json:"holder,omitempty"`
	Head         string `json:"head,omitempty"`
	Thread       string `json:"thread,omitempty"`
	Seq          uint64 `json:"seq,omitempty"`
	RetryAfterMS int64  `json:"retry_after_ms,omitempty"`
}

// errorOf is an error for programs.
func (a *app) errorOf(err error) errorDoc {
	doc := errorDoc{Code: "failed", Message: err.Error(), Hint: a.hint(err), Exit: exitCode(err)}
	var usage *usageError
	if errors.As(err, &usage) {
		doc.Code = "usage"
	}
	var e *agent.Error
	if errors.As(err, &e) {
		doc.Code, doc.Message = string(e.Code), e.Detail
		doc.Field, doc.Reason, doc.Limit, doc.RetryAfterMS = e.Field, e.Reason, e.Limit, e.RetryAfterMS
		doc.Rev, doc.Revision, doc.Epoch, doc.Holder = e.Rev, e.Revision, e.Epoch, e.Holder
		doc.Head, doc.Thread, doc.Seq = e.Head, e.Thread, e.Seq
		if e.Op >= 0 {
			doc.Op = &e.Op
		}
	}
	var exit *exitError
	if errors.As(err, &exit) { // it says what can be done
		doc.Message = err.Error()
	}
	var commit *commitError
	if errors.As(err, &commit) && agent.OutcomeOf(err) == agent.Undecided {
		doc.RequestID = commit.request.Client
	}
	return doc
}

// explainJSON writes an error to stderr as {"error": …}.
func (a *app) explainJSON(err error) {
	raw, broken := json.Marshal(struct {
		Error errorDoc `json:"error"`
	}{a.errorOf(err)})
	if broken != nil {
		raw = fmt.Appendf(nil, `{"error":{"code":"failed","message":%q,"exit":%d}}`, err.Error(), exitCode(err))
	}
	_, _ = fmt.Fprintf(a.stderr, "%s\n", raw)
}
