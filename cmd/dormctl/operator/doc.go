// Package operator holds the commands of dormctl for those who operate a cluster.
package operator

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	root.AddCommand(
		statusCommand(app), membersCommand(app), topCommand(app), placementCommand(app),
		leaveCommand(app), transferCommand(app), promoteCommand(app), demoteCommand(app), certsCommand(app),
	)
}
