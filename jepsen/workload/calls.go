package workload

// The names of the calls that several workloads make.
const (
	CallAppend = "append"
	CallClaim  = "claim"
	CallCommit = "commit"
	CallGet    = "get"
	CallMeta   = "meta"
	CallPut    = "put"
	CallRead   = "read"
	CallSleep  = "sleep"
)
