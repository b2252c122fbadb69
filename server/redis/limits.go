package redis

import (
	"time"

	"dormouse/agent"
)

// Bounds of one connection. docs/limits.md lists them.
const (
	argumentsMax    = 1 + agent.CommitOpsMax        // of one command, with its name
	commandBytesMax = agent.CommitBytesMax + 64<<10 // of the arguments of one command, or of the commands of one transaction
	bulkBytesMax    = 64 << 20                      // of one announced argument; a longer one ends the connection
	lineBytesMax    = 4 << 10                       // of a line, such as an inline command; also the size of the buffers
	queueMax        = agent.CommitOpsMax            // commands of one transaction
	earlyArgsMax    = 10                            // of a command before AUTH
	earlyBytesMax   = 16 << 10                      // of a command before AUTH: tokens of other issuers have up to 12 KiB

	argumentCost   = 32       // bytes that an argument counts besides its own
	countedLeast   = 4 << 10  // smaller commands and replies do not count as in flight
	firstRoom      = 16 << 10 // room for an argument before any of it has arrived
	earlyRoom      = 1 << 10  // …before AUTH
	pieceBytes     = 1 << 20  // of a reply that the client must read within writeTimeout
	cursorsMax     = 4096     // scans that can be continued, of all connections
	scanDefault    = 10       // keys of a SCAN without COUNT
	scriptHashes   = 64       // spellings of the script that EVALSHA knows
	nameBytesMax   = 64       // of a name that CLIENT SETNAME sets
	patternMax     = agent.IDBytesMax
	readsMax       = agent.ReadsMax
	authTimeout    = 10 * time.Second // to authenticate
	multiTimeout   = time.Minute      // to end a transaction that has countedLeast bytes, which count as in flight
	commandGrace   = 10 * time.Second // to send a command, and a second more for each receiveRate bytes
	receiveRate    = 64 << 10
	writeTimeout   = 30 * time.Second
	callTimeout    = 10 * time.Second // of a command, with its retries
	requestTTL     = time.Minute      // how long the answer of a commit is kept: longer than callTimeout
	retryFirst     = 5 * time.Millisecond
	retryMost      = 250 * time.Millisecond
	acceptPauseMax = time.Second
)
