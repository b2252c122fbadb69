// Package transfer holds the commands of dormctl that move data into and out of a
// cluster: import, export, backup and snapshot.
package transfer

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	root.AddCommand(importCommand(app), exportCommand(app), backupCommand(app), snapshotCommand(app))
}
