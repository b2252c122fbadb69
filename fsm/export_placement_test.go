package fsm

// DecodePartition reads the row of a partition.
var DecodePartition = decodePartition
