// Package kit holds what the commands of dormctl share: the App with the values of
// the global flags, connections, output, exit codes and common flags.
package kit
