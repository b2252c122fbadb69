package layout

import "time"

// Limits of nodes, hosts and partitions.
const (
	NodeLeaseTTLMin      = 500 * time.Millisecond // of a node's lease, which is renewed every third of its ttl
	NodeLeaseTTLMax      = 10 * time.Minute
	PlacementEventsMax   = 1024   // ownership changes kept in the history
	PlacementWhyBytesMax = 512    // reason for moving a partition
	HostsMax             = 256    // members that run instances and store no data
	HostWeightMax        = 10_000 // the largest weight of a host; 100 is the usual
	LeaseHandlersMax     = 256    // Go handlers of one process that runs instances
)
