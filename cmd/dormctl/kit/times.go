package kit

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
)

// TimesFlags are the flags of a read that selects by time.
type TimesFlags struct{ since, until instant }

// Define adds the flags to cmd. done says what happened at the time.
func (f *TimesFlags) Define(cmd *cobra.Command, done string) {
	timesFlags(cmd, &f.since, &f.until, done)
}

// Times returns the times that the flags select.
func (f *TimesFlags) Times() agent.Times { return agent.Times{Since: f.since.ms, Until: f.until.ms} }

func timesFlags(cmd *cobra.Command, since, until *instant, done string) {
	cmd.Flags().Var(since, "since", "only those "+done+" at this time or later: RFC 3339, or a duration before now such as 1h")
	cmd.Flags().Var(until, "until", "only those "+done+" before this time, as --since")
}

// DescFlag adds --desc to cmd.
func DescFlag(cmd *cobra.Command, desc *bool) {
	cmd.Flags().BoolVar(desc, "desc", false, "in descending order")
}

// OrderOf returns the order that --desc selects.
func OrderOf(desc bool) agent.Order {
	if desc {
		return agent.Descending
	}
	return ""
}

// instant is the value of a flag that names a time.
type instant struct {
	text string
	ms   int64 // Unix ms
}

// Set implements pflag.Value.
func (i *instant) Set(text string) error {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		ago, err := time.ParseDuration(text)
		if err != nil || ago < 0 {
			return errors.New("use a time such as 2026-01-02T15:04:05Z, or a duration before now such as 1h30m")
		}
		at = time.Now().Add(-ago)
	}
	*i = instant{text: text, ms: max(1, at.UnixMilli())}
	return nil
}

func (i *instant) String() string { return i.text }

// Type implements pflag.Value.
func (*instant) Type() string { return "TIME" }
