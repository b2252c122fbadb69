// Package cli is shared by the programs dormctl, dormjepsen and dormbench: groups of
// commands and their usage errors, tables, JSON and YAML output, and progress.
package cli
