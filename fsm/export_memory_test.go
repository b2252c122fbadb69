package fsm

// Names of memory_list.go for tests.
const (
	KindMemoryList  = kindMemoryList
	KindMemoryPlace = kindMemoryPlace
	ListedLevel     = listedLevel
)
