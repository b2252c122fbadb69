package overlay

// files are the files of the Go tree that must change, with the reason for each change.
var files = []file{
	{
		path: "runtime/rand.go",
		changes: []change{
			// The process starts with the same numbers every time.
			{from: "	if len(startupRand) >= 16 &&", to: "	if true {\n\t\tfor i := range seed {\n\t\t\tseed[i] = byte(i*37 + 11)\n\t\t}\n\t} else if len(startupRand) >= 16 &&"},
			// math/rand, seeds of maps, the order in which a map is read.
			{from: "func rand() uint64 {\n", to: "func rand() uint64 {\n\tif gp := getg(); gp.bubble != nil {\n\t\treturn uint64(simNext())<<32 | uint64(simNext())\n\t}\n"},
		},
		tail: generator + numbers,
	},
	{
		path: "runtime/select.go",
		changes: []change{
			// The order of the ready cases of a select.
			{from: "cheaprandn(uint32(norder + 1))", to: "simRandn(uint32(norder + 1))"},
			// A select that waits adds the timers of its channels in this order, not in
			// that of the channels' addresses.
			{from: "	return uintptr(unsafe.Pointer(c))\n", to: "	return c.simOrder\n"},
		},
	},
	{
		path: "runtime/chan.go",
		changes: []change{
			{from: "	bubble   *synctestBubble\n", to: "	bubble   *synctestBubble\n	simOrder uintptr // in which channels were made: even in a bubble, odd outside\n"},
			{from: "	if b := getg().bubble; b != nil {\n		c.bubble = b\n	}\n", to: "	if b := getg().bubble; b != nil {\n		c.bubble = b\n		c.simOrder = atomic.Xadduintptr(&simChans, 2)\n	} else {\n		c.simOrder = atomic.Xadduintptr(&simChansOutside, 2) | 1\n	}\n"},
		},
		tail: "\nvar simChans, simChansOutside uintptr\n",
	},
	// The order of timers that are due at once.
	{
		path:    "runtime/time.go",
		changes: append([]change{{from: "			t.rand = cheaprand()\n", to: "			t.rand = simNext()\n"}}, clocks...),
	},
	// The order of those that wait for a mutex.
	{path: "runtime/sema.go", changes: []change{{from: "s.ticket = cheaprand() | 1", to: "s.ticket = simRand() | 1"}}},
	{
		path: "runtime/proc.go",
		changes: []change{
			// Nothing is interrupted because it has run long.
			{from: "const forcePreemptNS = 10 * 1000 * 1000", to: "const forcePreemptNS = 1 << 50"},
			// A call of the system keeps its processor: it is short, or it is no bubble's.
			{from: "if runqempty(pp) && sched.nmspinning.Load()+sched.npidle.Load() > 0 && pd.syscallwhen+10*1000*1000 > now {", to: "if pd.syscallwhen+2*1000*1000*1000 > now {"},
			// Which of the ready goroutines runs next is drawn.
			// One outside of the bubble, which a real timer may have woken, goes last.
			{from: "if randomizeScheduler && next && randn(2) == 0 {", to: "if next && (gp.bubble == nil || simNext()&1 == 0) {"},
			// A goroutine that yields goes behind those of its own processor, not behind
			// those that all processors share, which are looked at by a counter.
			{from: "	if preempted && sched.gcwaiting.Load() {\n", to: "	if gp.bubble != nil && !preempted {\n\t\trunqput(pp, gp, false)\n\t} else if preempted && sched.gcwaiting.Load() {\n"},
			// The queue that all processors share is looked at once the processor has no ready
			// goroutine of its own, not by a counter, which also counts goroutines outside of the
			// bubble. No goroutine of a bubble is in it: the processor has room for all.
			{from: "	if pp.schedtick%61 == 0 && !sched.runq.empty() {\n", to: "	if false {\n"},
			{from: "batch *[256]guintptr", to: "batch *[simReadyMax]guintptr"},
			{from: "	var batch [len(pp.runq)/2 + 1]*g\n", to: "	throw(\"simulation: more goroutines are ready than a processor has room for\")\n	var batch [1]*g\n"},
			// A goroutine belongs to the process of the goroutine that started it.
			{from: "		newg.bubble = callergp.bubble\n", to: "		newg.bubble = callergp.bubble\n\t\tnewg.simProcess = callergp.simProcess\n"},
			{from: "	gp.bubble = nil\n", to: "	gp.bubble = nil\n\tgp.simProcess = 0\n"},
			// One that becomes ready while its process is paused runs once the process goes on.
			{from: "	// If about to schedule a not-normal goroutine (a GCworker or tracereader),\n", to: "	if gp.simProcess != 0 && simHold(gp) {\n\t\tgoto top\n\t}\n\n\t// If about to schedule a not-normal goroutine (a GCworker or tracereader),\n"},
		},
		tail: pauses,
	},
	{
		path: "runtime/runtime2.go",
		// A goroutine that waits for a mutex does not hold virtual time up: its holder may
		// wait for the simulated disk.
		changes: []change{
			{from: "	waitReasonSleep:                 true,\n", to: "	waitReasonSleep:                 true,\n\twaitReasonSyncMutexLock: true,\n\twaitReasonSyncRWMutexRLock: true,\n\twaitReasonSyncRWMutexLock: true,\n"},
			{from: "	runq     [256]guintptr\n", to: "	runq     [simReadyMax]guintptr\n"},
			{from: "	bubble  *synctestBubble\n", to: "	bubble  *synctestBubble\n\n\tsimProcess uint32 // of the simulation\n\tsimYields bool\n"},
		},
	},
	// Most goroutines need more than 2 KiB, and a stack that grows is copied.
	{path: "runtime/stack.go", changes: []change{{from: "	stackMin = 2048\n", to: "	stackMin = 8192\n"}}},
	// Memory is given back to the system at moments of real time.
	{path: "runtime/mgcscavenge.go", changes: []change{{from: "func (s *scavengerState) wake() {\n", to: "func (s *scavengerState) wake() {\n	if true {\n		return\n	}\n"}}},
	{
		path: "internal/sync/mutex.go",
		changes: []change{
			// A mutex is handed over by its waiters' order, not after a millisecond of
			// real time.
			{from: "starvationThresholdNs = 1e6", to: "starvationThresholdNs = 1 << 60"},
			// In place of interruptions by time, one that takes a mutex sometimes lets the
			// others run first: some libraries try again and again until another
			// goroutine has done its work.
			{from: "func (m *Mutex) Lock() {\n", to: "func (m *Mutex) Lock() {\n\tsimYield()\n"},
		},
	},
	// Maps whose keys are or contain pointers are read in an order that does not depend on where the
	// objects lie: that depends on the threads and the garbage collector of the process.
	{
		path: "runtime/alg.go",
		changes: []change{
			{from: "	if t.TFlag&abi.TFlagRegularMemory != 0 {\n		// Handle", to: "	if t.TFlag&abi.TFlagRegularMemory != 0 && t.PtrBytes == 0 {\n		// Handle"},
			{from: "	case abi.Float32:\n		return f32hash(p, h)\n", to: "	case abi.Pointer, abi.UnsafePointer, abi.Chan:\n		id := simID(*(*uintptr)(p))\n		return memhash64(noescape(unsafe.Pointer(&id)), h)\n	case abi.Float32:\n		return f32hash(p, h)\n"},
		},
	},
	// Times print the same in each process.
	{path: "time/time.go", changes: []change{{from: "var startNano int64 = runtimeNano() - 1\n", to: "var startNano int64\n"}}},
	{path: "internal/runtime/maps/map.go", changes: []change{hashed}},
	{path: "internal/runtime/maps/runtime.go", changes: []change{hashed}, tail: mapHash},
	{path: "internal/runtime/maps/runtime_fast64.go", changes: []change{hashed}},
	{path: "internal/runtime/maps/table.go", changes: []change{hashed}},
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
		gp.simYields = true
		Gosched()
		gp.simYields = false
	}
}
`

// hashed makes maps use simHash.
var hashed = change{from: "typ.Hasher(", to: "simHash(typ, ", often: true}

// mapHash is the hash of a map's key. A pointer counts by its number.
const mapHash = `
//go:linkname simTypeHash runtime.typehash
func simTypeHash(t *abi.Type, p unsafe.Pointer, h uintptr) uintptr

//go:linkname simID
func simID(p uintptr) uintptr

func simHash(typ *abi.MapType, key unsafe.Pointer, seed uintptr) uintptr {
	hasher := typ.Hasher
	switch typ.Key.Kind() {
	case abi.Pointer, abi.UnsafePointer, abi.Chan:
		id := simID(*(*uintptr)(key))
		return hasher(abi.NoEscape(unsafe.Pointer(&id)), seed)
	case abi.Struct, abi.Array:
		if typ.Key.PtrBytes != 0 {
			return simTypeHash(typ.Key, key, seed)
		}
	}
	return hasher(key, seed)
}
`

// numbers numbers the objects that are keys of maps, in the order in which they first
// were. An object keeps its number for its life. The table of the numbers is not on the
// heap. There is one processor, so that nothing guards it.
const numbers = `
var simIDs struct {
	slots, spare uintptr // arrays of size slots: address, number
	size, used   uintptr
	inside       uintptr // the last number that a goroutine of a bubble gave
	outside      uintptr // the last number that another goroutine gave
}

func simSlot(slots, i uintptr) *[2]uintptr { return (*[2]uintptr)(unsafe.Pointer(slots + i*16)) }

// simFind returns the slot of an address, or the free slot where it belongs.
func simFind(slots, size, p uintptr) *[2]uintptr {
	for i := (p >> 3) * 0x9e3779b97f4a7c15 >> 20 & (size - 1); ; i = (i + 1) & (size - 1) {
		if s := simSlot(slots, i); s[0] == p || s[0] == 0 {
			return s
		}
	}
}

//go:linkname maps_simID internal/runtime/maps.simID
func maps_simID(p uintptr) uintptr { return simID(p) }

func simID(p uintptr) uintptr {
	if p == 0 || spanOfHeap(p) == nil {
		return p // a variable of a package, whose address is the same in each process
	}
	t := &simIDs
	if t.used*2 >= t.size {
		simGrow()
	}
	s := simFind(t.slots, t.size, p)
	if s[0] == 0 {
		t.used++
		if getg().bubble != nil {
			t.inside++
			*s = [2]uintptr{p, t.inside << 1}
		} else {
			t.outside++
			*s = [2]uintptr{p, t.outside<<1 | 1}
		}
	}
	return s[1]
}

func simGrow() {
	t := &simIDs
	size := t.size * 2
	if size == 0 {
		size = 1 << 12
	}
	slots := uintptr(persistentalloc(size*16, 16, &memstats.other_sys))
	for i := uintptr(0); i < t.size; i++ {
		if s := simSlot(t.slots, i); s[0] != 0 {
			*simFind(slots, size, s[0]) = *s
		}
	}
	t.slots, t.size, t.spare = slots, size, 0
}

// simForget forgets the numbers of objects that the garbage collector has freed. It must
// be called after a whole collection, before anything else is allocated.
//
//go:linkname simForget
func simForget() {
	t := &simIDs
	if t.size == 0 {
		return
	}
	if t.spare == 0 {
		t.spare = uintptr(persistentalloc(t.size*16, 16, &memstats.other_sys))
	}
	for i := uintptr(0); i < t.size; i++ {
		*simSlot(t.spare, i) = [2]uintptr{}
	}
	t.used = 0
	for i := uintptr(0); i < t.size; i++ {
		s := simSlot(t.slots, i)
		if s[0] == 0 {
			continue
		}
		span := spanOfHeap(s[0])
		if span == nil || span.state.get() != mSpanInUse || span.isFree(span.objIndex(s[0])) {
			continue
		}
		*simFind(t.spare, t.size, s[0]) = *s
		t.used++
	}
	t.slots, t.spare = t.spare, t.slots
}
`
