package fsm

// DecodePartition reads the row of a partition.
var DecodePartition = decodePartition

// KindPlacementEvent is the kind of the trail's rows.
const KindPlacementEvent = kindPlacementEvent
