// Package wire converts between the domain (agent) and the public wire format
// (apipb), both ways and without loss, save what the wire does not carry: a
// commit's Principal, which every front sets itself, and a member's
// FeatureLevelMax.
//
// Byte slices are shared, never copied: what comes out aliases what went in,
// so neither may be changed afterwards. Messages of one list are allocated
// together.
//
// From-conversions refuse only what has no domain value at all (an op without
// a kind, a head of the wrong length, a duration that overflows) as invalid
// *agent.Error with Op set; everything else is for Validate.
package wire
