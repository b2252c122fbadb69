// Package identity holds the commands of dormctl about tokens: create, list, revoke and rotate
// them, log in and out, and show the caller.
package identity

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	tokens := cli.Group("tokens", "Credentials of callers: create, list, revoke and rotate tokens", create(app), list(app), revoke(app), rotate(app), secretCommand(app))
	tokens.Long = `A token gives its principal verbs on scopes, and verbs of the cluster. Its secret is
shown once: the cluster stores a hash. Commits with a token are refused from the
index on at which it was revoked.

Verbs of scopes:
  read     reads and watches
  write    values, checkpoints, threads, conversations, memories
  run      claims, sessions, managers, instances, timers
  decide   reviews
  admin    erase an agent; delete, export or import a scope
Verbs of the cluster:
  cluster:read, cluster:change, cluster:backup, scopes:policy, tokens:change`
	root.AddCommand(tokens, login(app), logout(app), whoAmI(app))
}
