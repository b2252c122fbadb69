// Package audit keeps a log of who did what on a node: refused calls, administrative calls, backups,
// deletes, changes of tokens and policies, and decisions of reviews.
//
// The log is files of JSON lines in a directory. Each line ends with a hash of itself and of the line
// before, and with an HMAC of that hash under a key of the cluster. The chain continues across files
// and restarts, and the file "head" names the last line. So Verify finds lines that were changed,
// moved or removed.
//
// A Log writes the lines. A Recorder decides what becomes a line, and wraps what a node gives to its
// servers. Lines never hold payloads or secrets.
package audit
