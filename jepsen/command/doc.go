// Package command calls a cluster with the program dormctl, whose exit codes are the
// outcomes.
package command
