package memory

import "testing"

const mib = 1 << 20

// What the largest measurement was made with: 512 MiB hold a node with 1,000,000 agents.
func TestTheCachesOf512MiBAreThoseThatWereMeasured(t *testing.T) {
	want := Plan{
		Budget: Budget{512 * mib, Setting},
		Engine: 128 * mib, MemTable: 32 * mib, ApplyRows: 32 * mib, ReadRows: 32 * mib, Entries: 32 * mib, Indexes: 64 * mib,
		Go: 512*mib/10*9 - 128*mib, GOGC: 100,
	}
	if got := Divide(want.Budget, 0); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestLargeBudgetsGiveAQuarterToTheCaches(t *testing.T) {
	for _, gib := range []int64{1, 2, 4, 16, 256, 4096} {
		b := Budget{gib << 30, Machine}
		p := Divide(b, 0)
		if got, want := p.Engine+p.ApplyRows+p.ReadRows+p.Entries, b.Bytes/4; got != want {
			t.Errorf("%v: the caches have %d, want %d", b, got, want)
		}
		if p.Entries > entriesMost || p.MemTable != memTableMost {
			t.Errorf("%v: %+v", b, p)
		}
	}
}

func TestTheHeapGrowsFurtherWhereThereIsMemory(t *testing.T) {
	for bytes, want := range map[int64]int{1: 100, 2<<30 - 1: 100, 2 << 30: 200, 3 << 30: 300, 4 << 30: 400, 1 << 40: 400} {
		if got := Divide(Budget{bytes, Machine}, 0).GOGC; got != want {
			t.Errorf("%d bytes: %d, want %d", bytes, got, want)
		}
	}
}

// Whatever the budget is: each cache works, no part is negative, and caches and their overhead fit from
// 64 MiB on.
func TestEachBudgetHasAPlan(t *testing.T) {
	for bytes := int64(1); bytes < 1<<46; bytes = bytes*3/2 + 1 {
		for _, engine := range []int64{0, 1 * mib, 1 << 40} {
			p := Divide(Budget{bytes, Cgroup}, engine)
			if p.Engine < 1*mib || engine != 0 && p.Engine != engine || p.MemTable < 1*mib || p.Entries < 1*mib ||
				p.ApplyRows < 0 || p.ReadRows < 0 || p.Indexes < 0 || p.Go < bytes/4 {
				t.Fatalf("%d bytes, engine %d: %+v", bytes, engine, p)
			}
			heap := p.ApplyRows + p.ReadRows + p.Entries
			if engine == 0 && bytes >= 64*mib && p.Engine+2*heap > bytes/4*3 {
				t.Fatalf("%d bytes: the caches take more than three quarters: %+v", bytes, p)
			}
		}
	}
}

// The engine's setting changes only its own size, and Go's heap.
func TestTheSizeOfTheEngineCanBeSet(t *testing.T) {
	derived, set := Divide(Budget{4 << 30, Machine}, 0), Divide(Budget{4 << 30, Machine}, 128*mib)
	if set.Engine != 128*mib || set.MemTable != memTableMost || set.Go != derived.Go+derived.Engine-set.Engine {
		t.Errorf("%+v", set)
	}
	set.Engine, set.Go = derived.Engine, derived.Go
	if set != derived {
		t.Errorf("%+v, want %+v", set, derived)
	}
}

func TestGoLeavesMemoryForTheEngine(t *testing.T) {
	for _, c := range []struct{ budget, engine, want int64 }{
		{1000, 100, 800},
		{1000, 5000, 250},
		{0, 0, 0},
	} {
		if got := goLimit(c.budget, c.engine); got != c.want {
			t.Errorf("goLimit(%d, %d) is %d, want %d", c.budget, c.engine, got, c.want)
		}
	}
}
