// Package doctor holds the commands of dormctl that find out what is wrong with a cluster: doctor and
// support-bundle. They ask each node over gRPC and HTTP, and change nothing.
package doctor

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
)

// Add adds the commands of this package to root.
func Add(root *cobra.Command, app *kit.App) { root.AddCommand(doctorCommand(app), bundleCommand(app)) }
