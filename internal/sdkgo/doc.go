// Package sdkgo assembles the Go library for programs that use a cluster as a module of
// its own, without the requirements of the servers.
//
// The packages have one source, in the module of the servers. The assembled module has
// copies of the packages that the library needs, under another import path: ADR 40 says
// why. A release has the module, and the adapters for Go on it, in the layout of a module
// proxy.
package sdkgo
