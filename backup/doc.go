// Package backup defines what is stored at a destination of backups, and reads it.
//
// The objects of a cluster are below its id:
//
//	CLUSTER/backups/NAME/state          a snapshot stream, encrypted if there are recipients
//	CLUSTER/backups/NAME/manifest.json  describes it; written last, once the backup is verified
//	CLUSTER/log/FROM-TO-NODE            a segment: the entries of the log in a range of indexes
//	CLUSTER/head.json                   how far the log has been shipped
//
// Manifests, the heads of segments and head.json are signed with a key that follows from the
// cluster key. A backup together with the segments after it gives the state at any later entry or
// instant: see Plan and Replay. What is missing, damaged or of another signer is an error, never a
// shorter history.
package backup
