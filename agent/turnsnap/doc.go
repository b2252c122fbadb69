// Package turnsnap makes portable strings of a session's turn snapshots: for a
// queue, a file or another cluster, to be opened again by whoever has the key.
//
// A portable string is Prefix, the snapshot, the key's id and a signature:
//
//	dormouse:snapshot:v1:<base64url of JSON>.<key id>.<base64url of HMAC-SHA256>
//
// The JSON is {"schema_version": …, "snapshot": {…}} in a canonical form:
// members sorted, no white space, strings with the least escapes, number
// literals as the caller wrote them (RFC 8785 would round them). So one
// snapshot under one key has one string, and opening a string and signing what
// came out gives that string again. The signature covers every byte before it,
// the prefix included.
//
// A signature says that somebody with the key made the string. It neither hides
// what is in it, nor says that it is the newest, nor whose it is: give tenants
// that must not read each other's strings a Ring each.
//
// Encode makes the JSON of a snapshot from Go values, and names the path of
// what cannot be written down.
//
// Errors are *agent.Error with the codes below, beside agent's invalid and
// too_large. All of them are refusals: nothing of a string that is refused is
// ever handed out.
package turnsnap

import "dormouse/agent"

// The codes, by the names that SEMANTICS §7.1 gives them.
const (
	CodeMissingSecret        agent.Code = "missing_snapshot_signing_secret"     // none, or one that is too short
	CodeInvalidSignature     agent.Code = "invalid_snapshot_signature"          // tampered with, or signed with a key that the ring has not
	CodeUnsafeInput          agent.Code = "unsafe_snapshot_input"               // nobody signed it
	CodeInvalidSerialization agent.Code = "invalid_snapshot_serialization"      // not a string of ours
	CodeUnsupportedSchema    agent.Code = "unsupported_snapshot_schema_version" // of a newer release
	CodeNonSerializable      agent.Code = "non_serializable_snapshot_value"     // a value that JSON has no words for; Field is its path
)

// Prefix begins every portable string. Its version is that of the string's
// outer form; the snapshot inside has a schema version of its own.
const Prefix = prefixOfAll + "v1:"

// prefixOfAll begins those of later versions too.
const prefixOfAll = "dormouse:snapshot:"

// Limits. The last one lets every snapshot pass that a session takes: what is
// beside its contents are ids, whose bytes may each be escaped.
const (
	SecretBytesMin   = 32 // of a key: as many as the signature has
	KeyIDBytesMax    = 64
	SchemaVersionMax = 1 // the newest schema that is understood, and the one that is written

	payloadBytesMax  = agent.SessionSnapshotBytesMax + 32<<10
	PortableBytesMax = len(Prefix) + (payloadBytesMax+2)/3*4 + 1 + KeyIDBytesMax + 1 + signatureBytes
)

// signatureBytes is how long a signature is as base64url.
const signatureBytes = 43
