package fsm

// What the tests look at from outside.

var (
	Pack          = pack
	Unpack        = unpack
	EncodeOutcome = encodeOutcome
	DecodeOutcome = decodeOutcome
	EncodeThread  = encodeThread
	DecodeThread  = decodeThread
	NextChain     = nextChain
	CheckEntry    = checkEntry
	OpenSnapshots = openSnapshots
	EncodeHeader  = encodeHeader
	ValidFileName = validFileName
)

const (
	FrameBytes        = frameBytes
	SnapshotsRetained = snapshotsRetained
	ChainsKept        = chainsKept
)

type ChainRing = chainRing

func (r *chainRing) Add(index uint64, chain uint32)          { r.add(index, chain) }
func (r *chainRing) At(index uint64) (chain uint32, ok bool) { return r.at(index) }

// HotRows is how many rows apply keeps in memory.
func (m *Machine) HotRows() int { return m.hot.rows.Len() }
