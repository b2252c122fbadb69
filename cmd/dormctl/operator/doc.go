// Package operator holds the commands of dormctl that operate a cluster: status,
// members, placement and certificates.
package operator

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	root.AddCommand(
		statusCommand(app), membersCommand(app), placementCommand(app),
		leaveCommand(app), transferCommand(app), promoteCommand(app), demoteCommand(app), drainCommand(app), resumeCommand(app), certsCommand(app), clusterKeyCommand(app), joinTokenCommand(app), auditCommand(app), uiCommand(app),
	)
}
