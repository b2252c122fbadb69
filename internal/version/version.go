// Package version has the version of this build.
package version

import "runtime/debug"

// stamped is the version that a release was built as; the linker sets it.
var stamped string

// String returns the version of the release, or else the module's version, with the
// commit if it is known.
func String() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
