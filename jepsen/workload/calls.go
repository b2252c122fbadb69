package workload

// The names of the calls that several workloads make.
const (
	callAppend = "append"
	callClaim  = "claim"
	callCommit = "commit"
	callGet    = "get"
	callMeta   = "meta"
	callPut    = "put"
	callRead   = "read"
	callSleep  = "sleep"
)
