// Package transfer holds the commands of dormctl that move data into and out of a
// cluster: import, export, backup and snapshot.
package transfer

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// commands are the commands of this package.
type commands struct{ *kit.App }

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) {
	c := commands{app}
	root.AddCommand(c.importCommand(), c.exportCommand(), c.backupCommand(), c.snapshotCommand())
}
