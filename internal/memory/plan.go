package memory

// Plan divides a Budget: the bounds of the caches, and of Go's heap.
type Plan struct {
	Budget

	Engine    int64 // the storage engine's: memtables, and blocks in the remaining space
	MemTable  uint64
	ApplyRows int64 // rows that apply reads and writes repeatedly
	ReadRows  int64 // rows that reads use repeatedly
	Entries   int64 // the newest entries of the log
	Indexes   int64 // indexes of agents' memories

	Go   int64 // Go's memory limit: its heap has all caches but the engine's
	GOGC int   // how far Go's heap grows before it is collected, in percent of what lives, below that limit
}

const (
	// cachesPart of the budget is for rows, blocks and entries: a quarter.
	cachesPart = 4
	// cachesLeast is what they have even if a quarter is less, unless that is more than
	// cachesMost of the budget. With so much, a node with 1,000,000 agents stays below 512 MiB
	// (docs/performance.md).
	cachesLeast = 224 << 20
	// indexesPart of the budget is for indexes of memories.
	indexesPart = 8

	// Each of these three has a seventh of the caches, and the engine has the rest: 128 of 224 MiB.
	// The heap grows to twice the size of its live data, so a byte of the engine, which allocates
	// with C's malloc, costs half.
	smallPart = 7
	// entriesMost bounds the cache of entries: what a follower needs that was stopped for seconds.
	entriesMost = 64 << 20
	// entriesLeast is one entry of the largest size.
	entriesLeast = 1 << 20

	// memTableMost is the size of a memtable. With larger ones a restart has more to apply again.
	memTableMost = 32 << 20
	// memTableLeast is a memtable that is not flushed all the time.
	memTableLeast = 1 << 20
	// memTablePart of the engine's memory is one memtable: usually there are two.
	memTablePart = 4

	// The heap grows by gogcLeast percent, which is Go's default, for each gogcFor of the budget, up
	// to gogcMost: collections cost CPU, and memory that there is costs nothing (ADR 49).
	gogcLeast, gogcMost = 100, 400
	gogcFor             = 1 << 30
)

// cachesMost returns the share of a small budget that the caches have: seven sixteenths, since their
// rows and entries need twice their size.
func cachesMost(budget int64) int64 { return budget / 16 * 7 }

// Divide returns the plan of a budget. engine is the size of the storage engine's cache if the
// configuration sets it, or 0.
func Divide(b Budget, engine int64) Plan {
	caches := max(b.Bytes/cachesPart, min(cachesLeast, cachesMost(b.Bytes)))
	small := caches / smallPart
	p := Plan{
		Budget: b, ApplyRows: small, ReadRows: small,
		Entries: min(max(small, entriesLeast), entriesMost),
		Indexes: b.Bytes / indexesPart,
		Engine:  engine, MemTable: memTableMost,
	}
	if engine == 0 {
		p.Engine = max(caches-p.ApplyRows-p.ReadRows-p.Entries, memTableLeast)
		p.MemTable = uint64(min(max(p.Engine/memTablePart, memTableLeast), memTableMost))
	}
	p.Go = goLimit(b.Bytes, p.Engine)
	p.GOGC = int(min(max(b.Bytes/gogcFor*gogcLeast, gogcLeast), gogcMost))
	return p
}

// goLimit returns how much of a budget Go may use: the storage engine allocates its cache itself, and
// a tenth is left for stacks of C and for the kernel's share.
func goLimit(budget, engine int64) int64 { return max(budget/10*9-engine, budget/4) }
