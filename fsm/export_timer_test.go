package fsm

const (
	KindTimer     = kindTimer
	KindTimerData = kindTimerData
	KindTimerDue  = kindTimerDue
)
