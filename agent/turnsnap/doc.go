// Package turnsnap converts a session's turn snapshots to portable strings, for a
// queue, a file or another cluster. A program with the key opens them again.
//
// A portable string is Prefix, the snapshot, the key's id and a signature:
//
//	dormouse:snapshot:v1:<base64url of JSON>.<key id>.<base64url of HMAC-SHA256>
//
// The JSON is {"schema_version": …, "snapshot": {…}} in a canonical form: members
// sorted, no white space, strings with the fewest escapes, number literals as the
// caller wrote them (RFC 8785 would round them). So a snapshot has exactly one string
// under a key: opening a string and signing the result gives the same string. The
// signature covers all bytes before it, including the prefix.
//
// A signature proves that the string was made with the key. It does not encrypt the
// contents, and does not prove that they are the newest or which tenant they belong
// to. Give each tenant its own Ring if tenants must not read each other's strings.
//
// Encode returns the JSON of Go values for a snapshot. Its errors name the path of a
// value that JSON cannot represent.
//
// Errors are *agent.Error with the codes below, or with invalid or too_large. All of
// them are refusals: nothing of a refused string is ever returned.
package turnsnap

import "dormouse/agent"

// The codes of portable snapshots.
const (
	CodeMissingSecret        agent.Code = "missing_snapshot_signing_secret"     // no secret, or one that is too short
	CodeInvalidSignature     agent.Code = "invalid_snapshot_signature"          // changed after signing, or signed with a key that is not in the ring
	CodeUnsafeInput          agent.Code = "unsafe_snapshot_input"               // not signed
	CodeInvalidSerialization agent.Code = "invalid_snapshot_serialization"      // not a portable string
	CodeUnsupportedSchema    agent.Code = "unsupported_snapshot_schema_version" // of a newer release
	CodeNonSerializable      agent.Code = "non_serializable_snapshot_value"     // a value that JSON cannot represent; Field is its path
)

// Prefix begins every portable string. Its version is that of the string's format; the
// snapshot inside has its own schema version.
const Prefix = prefixOfAll + "v1:"

// prefixOfAll begins strings of all versions.
const prefixOfAll = "dormouse:snapshot:"

// Limits. PortableBytesMax admits every snapshot that a session accepts: besides its
// contents a snapshot has ids, whose bytes may each be escaped.
const (
	SecretBytesMin   = 32 // of a key: as long as the signature
	KeyIDBytesMax    = 64
	SchemaVersionMax = 1 // the newest supported schema version, which Sign writes

	payloadBytesMax  = agent.SessionSnapshotBytesMax + 32<<10
	PortableBytesMax = len(Prefix) + (payloadBytesMax+2)/3*4 + 1 + KeyIDBytesMax + 1 + signatureBytes
)

// signatureBytes is the length of a signature in base64url.
const signatureBytes = 43
