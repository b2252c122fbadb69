// Package schedule takes backups and ships the log while its node leads.
//
// What has been done is at the destination, not in this process: a new leader lists the backups, and
// continues the log behind the last entry that was shipped. If its log lacks the next entry, the
// shipped log has a gap. The leader counts it, and takes backups until its log continues one.
//
// A backup is verified before its manifest is written: the node reads the object back, decrypts it,
// restores it, and compares the hash of all rows. So each backup with a manifest was restored once.
package schedule
