package timer

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"dormouse/agent"
)

// requestTTL is how long an attempt's commit may take to apply, and how long
// its answer is kept.
const requestTTL = time.Hour

// Request returns the request id of an attempt at a timer's pending occurrence.
// All nodes use the same one for the same attempt. Each generation of a timer
// is a client of its own, whose earlier requests have definite outcomes.
func Request(scope string, t *agent.Timer) agent.Request {
	name := sha256.Sum256([]byte(strings.Join([]string{scope, t.Manager, t.Key, t.ID}, "\x00")))
	seq := uint64(t.Next)*2*agent.TimerAttemptsMax + t.Attempts
	return agent.Request{
		Client: agent.TimerClient + hex.EncodeToString(name[:12]) + "-" + strconv.FormatUint(t.Generation, 36),
		Seq:    seq, Low: seq, TTL: requestTTL,
	}
}
