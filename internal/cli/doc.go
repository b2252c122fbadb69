// Package cli holds what the command lines dormctl, dormjepsen and dormbench
// share: groups of commands and their usage errors, tables, JSON and YAML
// output, and progress.
package cli
