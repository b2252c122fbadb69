package overlay

// clocks give each process a wall clock of its own, beside a monotonic clock that all share:
// as on a real host, time.Since does not see that the wall clock jumps.
var clocks = []change{
	{from: "		sec = bubble.now / (1000 * 1000 * 1000)\n		nsec = int32(bubble.now % (1000 * 1000 * 1000))\n", to: "		now := bubble.now + simClock(getg())\n		sec = now / (1000 * 1000 * 1000)\n		nsec = int32(now % (1000 * 1000 * 1000))\n"},
	{from: "		return sec, nsec, 0\n", to: "		return sec, nsec, bubble.now\n"},
	// What a timer starts belongs to the process that made the timer.
	{from: "	isFake bool         // timer is using fake time; immutable; can be read without lock\n", to: "	isFake bool         // timer is using fake time; immutable; can be read without lock\n\n	simProcess uint32\n"},
	{from: "	if bubble := getg().bubble; bubble != nil {\n		t.isFake = true\n	}\n	t.modify(", to: "	if gp := getg(); gp.bubble != nil {\n		t.isFake = true\n		t.simProcess = gp.simProcess\n	}\n	t.modify("},
	{from: "		gp.bubble = bubble\n		bubble.changegstatus(gp, _Gdead, _Grunning)\n", to: "		gp.bubble = bubble\n		gp.simProcess = t.simProcess\n		bubble.changegstatus(gp, _Gdead, _Grunning)\n"},
	{from: "		gp.bubble = nil\n", to: "		gp.bubble = nil\n		gp.simProcess = 0\n"},
}

// pauses holds the goroutines of processes that are paused, as SIGSTOP does: a goroutine that
// becomes ready waits until its process goes on. One that only yields within Mutex.Lock runs
// on, since it may hold a mutex of the network, which other processes need.
const pauses = `
const simReadyMax = 1 << 14 // ready goroutines that a processor has room for

const simProcessesMax = 1 << 10

var simProcesses [simProcessesMax]struct {
	clock  int64  // what its wall clock is ahead, in ns
	paused bool
	held   gQueue // of goroutines that are ready
}

func simClock(gp *g) int64 { return simProcesses[gp.simProcess%simProcessesMax].clock }

// simHold reports whether a goroutine that is ready is held.
func simHold(gp *g) bool {
	p := &simProcesses[gp.simProcess%simProcessesMax]
	if !p.paused || gp.simYields || gp.bubble == nil {
		return false
	}
	gp.waitreason = waitReasonSleep
	casgstatus(gp, _Grunnable, _Gwaiting)
	p.held.pushBack(gp)
	return true
}

//go:linkname simEnter
func simEnter(process uint32) { getg().simProcess = process }

//go:linkname simSetClock
func simSetClock(process uint32, ahead int64) { simProcesses[process%simProcessesMax].clock = ahead }

//go:linkname simPause
func simPause(process uint32, paused bool) {
	p := &simProcesses[process%simProcessesMax]
	p.paused = paused
	for !paused && !p.held.empty() {
		goready(p.held.pop(), 1)
	}
}
`
