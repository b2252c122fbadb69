// Package operator holds the commands of dormctl that operate a cluster: status,
// members, placement and certificates.
package operator

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// commands are the commands of this package.
type commands struct{ *kit.App }

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	c := commands{app}
	root.AddCommand(
		c.statusCommand(), c.membersCommand(), c.topCommand(), c.placementCommand(),
		c.leaveCommand(), c.transferCommand(), c.promoteCommand(), c.demoteCommand(), c.certsCommand(),
	)
}
