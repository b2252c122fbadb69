package kit

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/cli"
)

// OutputIn returns the value of --output in args, or otherwise if args have none. It
// ignores other flags, which may be invalid.
func OutputIn(args []string, otherwise string) string {
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

// errorDoc is the document of an error.
type errorDoc struct {
	Code         string  `json:"code"` // of the store's error; otherwise "usage" or "failed"
	Message      string  `json:"message"`
	Hint         string  `json:"hint,omitempty"`
	Exit         int     `json:"exit"`
	RequestID    string  `json:"request_id,omitempty"` // repeats a commit of unknown outcome
	Field        string  `json:"field,omitempty"`
	Reason       string  `json:"reason,omitempty"`
	Limit        string  `json:"limit,omitempty"`
	Op           *int    `json:"op,omitempty"`
	Rev          *uint64 `json:"rev,omitempty"`
	Revision     *uint64 `json:"revision,omitempty"`
	Epoch        *uint64 `json:"epoch,omitempty"`
	Holder       string  `json:"holder,omitempty"`
	Head         string  `json:"head,omitempty"`
	Thread       string  `json:"thread,omitempty"`
	Seq          *uint64 `json:"seq,omitempty"`
	Incarnation  *uint64 `json:"incarnation,omitempty"`
	Floor        *uint64 `json:"floor,omitempty"`
	State        string  `json:"state,omitempty"`
	ExpiresAt    int64   `json:"expires_at,omitempty"`
	RetryAfterMS int64   `json:"retry_after_ms,omitempty"`
}

// errorOf returns the document of err.
func (a *App) errorOf(err error) errorDoc {
	doc := errorDoc{Code: "failed", Message: err.Error(), Hint: a.hint(err), Exit: ExitCode(err)}
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		doc.Code = "usage"
	}
	var e *agent.Error
	if errors.As(err, &e) {
		doc.Code, doc.Message = string(e.Code), e.Detail
		doc.Field, doc.Reason, doc.Limit, doc.RetryAfterMS = e.Field, e.Reason, e.Limit, e.RetryAfterMS
		p := document.ProblemOf(e)
		doc.Rev, doc.Revision, doc.Epoch = told(e.Rev, p.Rev), told(e.Revision, p.Revision), told(e.Epoch, p.Epoch)
		doc.Seq, doc.Incarnation, doc.Floor = told(e.Seq, p.Seq), told(e.Incarnation, nil), told(e.Floor, p.Floor)
		doc.Holder, doc.Head, doc.Thread = e.Holder, e.Head, e.Thread
		doc.State, doc.ExpiresAt = e.State, e.ExpiresAt
		if e.Op >= 0 {
			doc.Op = &e.Op
		}
	}
	var exit *exitError
	if errors.As(err, &exit) { // its message says what can be done
		doc.Message = err.Error()
	}
	var commit *CommitError
	if errors.As(err, &commit) && agent.OutcomeOf(err) == agent.Undecided && commit.Settle == "" {
		doc.RequestID = commit.Request.Client
	}
	return doc
}

// told returns a number of an error: a zero too if the problem of HTTP has it, since 0 is a revision.
func told(n uint64, inProblem *uint64) *uint64 {
	if n == 0 && inProblem == nil {
		return nil
	}
	return &n
}

// explainDocument writes an error to stderr as {"error": …}, in JSON or YAML.
func (a *App) explainDocument(err error) {
	raw, broken := json.Marshal(struct {
		Error errorDoc `json:"error"`
	}{a.errorOf(err)})
	if broken != nil {
		raw = fmt.Appendf(nil, `{"error":{"code":"failed","message":%q,"exit":%d}}`, err.Error(), ExitCode(err))
	}
	raw = append(raw, '\n')
	if a.Output == OutputYAML {
		if doc, broken := cli.ToYAML(raw); broken == nil {
			raw = doc
		}
	}
	_, _ = a.Stderr.Write(raw)
}
