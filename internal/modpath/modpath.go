// Package modpath has the path of this module, for code that needs it as a
// string. "make module-path NEW=host/path" changes it, here and everywhere.
package modpath

// Path is the module's path, as go.mod has it.
const Path = "dormouse"
