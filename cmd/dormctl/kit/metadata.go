package kit

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
)

// WhereFlag adds --metadata to cmd.
func WhereFlag(cmd *cobra.Command, where *agent.Where) {
	cmd.Flags().Var((*whereValue)(where), "metadata", "only those whose metadata has this member; repeatable. The scope must have declared the key: see scopes index")
}

// whereValue is the value of --metadata.
type whereValue agent.Where

// Set implements pflag.Value.
func (w *whereValue) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("use KEY=VALUE")
	}
	*w = append(*w, agent.MetadataEquals{Key: key, Value: value})
	return nil
}

func (w *whereValue) String() string {
	var pairs []string
	for _, m := range *w {
		pairs = append(pairs, m.Key+"="+m.Value)
	}
	return strings.Join(pairs, ",")
}

// Type implements pflag.Value.
func (*whereValue) Type() string { return "KEY=VALUE" }
