package node

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"dormouse/cluster/gossip"
	"dormouse/cluster/membership"
	"dormouse/cluster/transport"

	"dormouse/cluster/raftlog"
	"dormouse/storage"
)

// Exit codes of the daemon's faults; cmd/node has the table that describes them.
const (
	codeFailed      = 1
	codeConfig      = 2
	codeForeignData = 3
	codeLocked      = 4
	codeDamaged     = 5
	codeListen      = 6
	codeRemoved     = 7
	codeDisk        = 8
)

// ExitError is the reason why a node could not start or had to stop.
type ExitError struct {
	code int
	err  error
}

func (e *ExitError) Error() string { return e.err.Error() }
func (e *ExitError) Unwrap() error { return e.err }

// ExitCode returns the daemon's exit code.
func (e *ExitError) ExitCode() int { return e.code }

// fault wraps err with the operation that failed, and with the exit code of its cause, or else
// otherwise.
func fault(doing string, err error, otherwise int) error {
	if err == nil {
		return nil
	}
	var known *ExitError
	if errors.As(err, &known) {
		return err
	}
	code := otherwise
	switch {
	case errors.Is(err, storage.ErrLocked), errors.Is(err, raftlog.ErrLocked):
		code = codeLocked
	case errors.Is(err, storage.ErrForeign), errors.Is(err, raftlog.ErrForeign):
		code = codeForeignData
	case errors.Is(err, raftlog.ErrSettings):
		code = codeConfig
	case errors.Is(err, raftlog.ErrDamaged):
		code = codeDamaged
	case errors.Is(err, errUnfinished):
		code = codeDamaged
	case errors.Is(err, storage.ErrDamaged): // the part that found it does not know how to repair it
		code, err = codeDamaged, fmt.Errorf("%w: %s", err, raftlog.Rebuild)
	case errors.Is(err, transport.ErrListen), errors.Is(err, gossip.ErrListen):
		code = codeListen
	case errors.Is(err, transport.ErrRemoved), errors.Is(err, membership.ErrRefused):
		code = codeRemoved
	case errors.Is(err, raftlog.ErrDisk), isDiskError(err):
		code = codeDisk
	case otherwise == codeConfig && isNetworkError(err):
		code = codeFailed // it may pass: a supervisor starts the node again
	}
	return &ExitError{code: code, err: fmt.Errorf("%s: %w", doing, err)}
}

// isNetworkError reports whether a name was not found, an address not reached, or a connection lost.
func isNetworkError(err error) bool {
	var lookup *net.DNSError
	var call *net.OpError // of a dial, a read or a write
	return errors.As(err, &lookup) || errors.As(err, &call) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isDiskError reports whether the operating system's error says that a disk is full, has failed or
// is read-only.
func isDiskError(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
