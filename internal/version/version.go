// Package version has the version of this build.
package version

import "runtime/debug"

// String returns the module's version, with the commit if it is known.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
