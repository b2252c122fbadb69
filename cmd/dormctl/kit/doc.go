// Package kit is what the commands of dormctl share: the App with the values of the
// global flags, connections, output, exit codes, and flags that several commands
// have.
package kit
