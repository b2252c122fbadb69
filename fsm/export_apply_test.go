package fsm

// RowsOf counts the rows of a kind, to see what is left behind.
func (v *View) RowsOf(kind string) (int, error) {
	cursor, err := v.view.Scan([]byte(kind), []byte(after(kind)))
	if err != nil {
		return 0, err
	}
	n := 0
	for cursor.Next() {
		n++
	}
	return n, cursor.Close()
}

// The kinds that tests count.
const (
	KindEntry    = kindEntry
	KindEntryID  = kindEntryID
	KindAnswer   = kindAnswers
	KindClient   = kindClient
	KindDueTick  = kindDueTick
	KindDueWall  = kindDueWall
	KindBody     = kindCheckpointBody
	KindHistory  = kindCheckpointHistory
	KindSystem   = kindSystem
	KindClaim    = kindClaim
	KindDueClaim = kindDueClaim
	KindChange   = kindChange
	KindFeed     = kindFeed

	KindMemoryTombstone = kindMemoryTombstone

	CarriedBytesMax = carriedBytesMax
)

// MemoryKinds are the kinds of the rows that memories leave, tombstones apart.
var MemoryKinds = []string{
	kindMemory, kindMemoryBody, kindMemoryOrder, kindMemorySession, kindMemoryTime, kindMemoryAgent, kindMemoryGone,
}
