package overlay

// files are the files of the Go tree that must change, with the reason for each change.
var files = []file{
	{
		path: "runtime/rand.go",
		changes: []change{
			// The process starts with the same numbers every time.
			{"	if len(startupRand) >= 16 &&", "	if true {\n\t\tfor i := range seed {\n\t\t\tseed[i] = byte(i*37 + 11)\n\t\t}\n\t} else if len(startupRand) >= 16 &&"},
			// math/rand, seeds of maps, the order in which a map is read.
			{"func rand() uint64 {\n", "func rand() uint64 {\n\tif gp := getg(); gp.bubble != nil {\n\t\treturn uint64(simNext())<<32 | uint64(simNext())\n\t}\n"},
		},
		tail: generator,
	},
	// The order of the ready cases of a select.
	{path: "runtime/select.go", changes: []change{{"cheaprandn(uint32(norder + 1))", "simRandn(uint32(norder + 1))"}}},
	// The order of timers that are due at once.
	{path: "runtime/time.go", changes: []change{{"			t.rand = cheaprand()\n", "			t.rand = simNext()\n"}}},
	// The order of those that wait for a mutex.
	{path: "runtime/sema.go", changes: []change{{"s.ticket = cheaprand() | 1", "s.ticket = simRand() | 1"}}},
	{
		path: "runtime/proc.go",
		changes: []change{
			// Nothing runs for so long that it is interrupted.
			{"const forcePreemptNS = 10 * 1000 * 1000", "const forcePreemptNS = 1 << 50"},
			// A call of the system keeps its processor: it is short, or it is no bubble's.
			{"if runqempty(pp) && sched.nmspinning.Load()+sched.npidle.Load() > 0 && pd.syscallwhen+10*1000*1000 > now {", "if pd.syscallwhen+2*1000*1000*1000 > now {"},
			// Which of the ready goroutines runs next is drawn.
			{"if randomizeScheduler && next && randn(2) == 0 {", "if next && gp.bubble != nil && simNext()&1 == 0 {"},
			// A goroutine that yields goes behind those of its own processor, not behind
			// those that all processors share, whose turn comes by a counter.
			{"	if preempted && sched.gcwaiting.Load() {\n", "	if gp.bubble != nil && !preempted {\n\t\trunqput(pp, gp, false)\n\t} else if preempted && sched.gcwaiting.Load() {\n"},
		},
	},
	{
		path: "runtime/runtime2.go",
		// A goroutine that waits for a mutex does not hold virtual time up: its holder may
		// wait for the simulated disk.
		changes: []change{{"	waitReasonSleep:                 true,\n", "	waitReasonSleep:                 true,\n\twaitReasonSyncMutexLock: true,\n\twaitReasonSyncRWMutexRLock: true,\n\twaitReasonSyncRWMutexLock: true,\n"}},
	},
	{
		path: "internal/sync/mutex.go",
		changes: []change{
			// A mutex is handed over by its waiters' order, not after a millisecond of
			// real time.
			{"starvationThresholdNs = 1e6", "starvationThresholdNs = 1 << 60"},
			// In place of interruptions by time, one that takes a mutex sometimes lets the
			// others run first: some libraries try again and again until another
			// goroutine has done its work.
			{"func (m *Mutex) Lock() {\n", "func (m *Mutex) Lock() {\n\tsimYield()\n"},
		},
	},
	{path: "internal/sync/runtime.go", tail: "\n//go:linkname simYield\nfunc simYield()\n"},
}

// generator is the generator of the goroutines of bubbles. One that uses only the state
// below is enough: a simulation has one processor and one bubble.
const generator = `
var simState uint64 = 1

//go:nosplit
func simNext() uint32 {
	simState += 0xa0761d6478bd642f
	hi, lo := math.Mul64(simState, simState^0xe7037ed1a0b428db)
	return uint32(hi ^ lo)
}

//go:nosplit
func simRand() uint32 {
	gp := getg()
	if gp.m != nil && gp == gp.m.g0 && gp.m.curg != nil {
		gp = gp.m.curg
	}
	if gp.bubble != nil {
		return simNext()
	}
	return cheaprand()
}

//go:nosplit
func simRandn(n uint32) uint32 { return uint32((uint64(simRand()) * uint64(n)) >> 32) }

//go:linkname simSeed
func simSeed(seed uint64) { simState = seed }

//go:linkname simDrawn
func simDrawn() uint64 { return simState }

//go:linkname internal_sync_simYield internal/sync.simYield
func internal_sync_simYield() {
	if gp := getg(); gp.bubble != nil && simNext()&31 == 0 {
		Gosched()
	}
}
`
