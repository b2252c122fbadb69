// Command release builds the archives of a release: the programs for each platform with
// their NOTICE and SBOM, the Go library and its adapters in the layout of a module
// proxy, and SHA256SUMS over all of them.
//
// The archives depend on the source, the version and the Go release only: their entries
// have a fixed order and time, so that anyone can build them again and compare.
package main
