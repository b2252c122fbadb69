package agent

import (
	"strconv"
	"strings"
)

// Claims under these names stand for something: they are taken and given up by
// calls of their own.
const (
	sessionClaimPrefix   = "session:"
	partitionClaimPrefix = "partition:"
)

// SessionClaim is the claim that a session's lease is: a commit that carries
// it and the lease's epoch as its fence applies only while the lease stands.
func SessionClaim(session string) string { return sessionClaimPrefix + session }

// ValidSessionID is ValidID for a session's: its lease's name must be an id too.
func ValidSessionID(field, id string) error {
	if len(id) > SessionIDBytesMax {
		return TooLarge(field, "session_id_bytes_max", len(id), SessionIDBytesMax)
	}
	return ValidID(field, id)
}

// ClaimedSession is the session whose lease a claim is.
func ClaimedSession(claim string) (session string, ok bool) {
	return strings.CutPrefix(claim, sessionClaimPrefix)
}

const leasePrefix = "lease_"

// LeaseID names the lease that was given under an epoch.
func LeaseID(epoch uint64) string { return leasePrefix + strconv.FormatUint(epoch, 10) }

// LeaseEpoch is the epoch of a lease; 0 where the id is none of ours, and so
// names no lease that ever was.
func LeaseEpoch(lease string) uint64 {
	number, ok := strings.CutPrefix(lease, leasePrefix)
	if !ok {
		return 0
	}
	epoch, err := strconv.ParseUint(number, 10, 64)
	if err != nil || LeaseID(epoch) != lease {
		return 0
	}
	return epoch
}

// Fence is what a commit carries that is to apply only while the session's
// lease stands; nil where nobody holds one.
func (s SessionRow) Fence() *Fence {
	if s.Lease == nil {
		return nil
	}
	return &Fence{Claim: SessionClaim(s.ID), Epoch: s.Lease.Epoch}
}
