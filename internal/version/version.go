// Package version says what was built.
package version

import "runtime/debug"

// String is the module's version, which carries the commit where one is known.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
