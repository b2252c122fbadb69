package proposer

// How entries are shared between tenants.
const (
	// shareMax bounds the commits of one tenant in an entry while several tenants
	// submit. What a tenant waits for at least, the entry in flight, is then small
	// however much another one submits.
	shareMax = 16
	// sharedEntries is for how many entries after a commit of another tenant that
	// bound holds.
	sharedEntries = 64
	// quantumBytes is what a tenant may add to an entry in one turn, and
	// commitBytes what each commit counts for besides its bytes.
	quantumBytes = 16 << 10
	commitBytes  = 512
	// spareCommits and spareBytes are the room of the queue beyond its bounds. It is
	// for tenants of which little waits, so that a flood of another one does not
	// keep them out. The first commit that waits may have any size.
	spareCommits = QueueCommitsMax / 4
	spareBytes   = QueueBytesMax / 4
	littleMax    = QueueCommitsMax / 64
)

// fairQueue holds the commits that wait. Those of one tenant leave in order;
// tenants take turns, by deficit round robin. The zero fairQueue is empty.
type fairQueue struct {
	tenants map[string]*tenantQueue // with commits that wait
	turns   []*tenantQueue          // the same, the next one first
	spare   *tenantQueue            // an empty one, to be used again
	count   int
	bytes   int

	commitsMax int // of an entry; 0 means BatchCommitsMax

	last   string // the tenant of the newest commit; the node's own commits have none
	shared int    // entries for which shareMax holds
}

// tenantQueue holds the commits of one tenant.
type tenantQueue struct {
	name    string
	waiting []pending
	credit  int // bytes that it may add to an entry before others have their turn
	took    int // commits in the entry that is being cut
}

// add appends a commit of a tenant. It returns false if there is no room.
func (q *fairQueue) add(tenant string, w pending) bool {
	t := q.tenants[tenant]
	if q.count >= QueueCommitsMax || q.bytes+len(w.cmd) > QueueBytesMax {
		little := t == nil || len(t.waiting) < littleMax && len(w.cmd) <= quantumBytes
		if !little || q.count >= QueueCommitsMax+spareCommits || q.bytes+len(w.cmd) > QueueBytesMax+spareBytes {
			return false
		}
	}
	if tenant != "" && tenant != q.last {
		if q.last != "" {
			q.shared = sharedEntries
		}
		q.last = tenant
	}
	if t == nil {
		if t = q.spare; t == nil {
			t = &tenantQueue{}
		}
		t.name, q.spare = tenant, nil
		if q.tenants == nil {
			q.tenants = map[string]*tenantQueue{}
		}
		q.tenants[tenant] = t
		q.turns = append(q.turns, t)
	}
	t.waiting = append(t.waiting, w)
	q.count++
	q.bytes += len(w.cmd)
	return true
}

// cut removes and returns the commits of one entry, and those before them whose callers have given
// up. The first commit of an entry may have any size.
func (q *fairQueue) cut() (out, gone []pending) {
	share := q.most()
	if q.shared > 0 && q.count > 0 {
		q.shared--
		share = shareMax
	}
	out = make([]pending, 0, min(q.count, q.most()))
	size := 0
	var full []*tenantQueue // have their share of the entry
	for fits := true; fits && len(q.turns) > 0 && len(out) < q.most(); {
		t := q.turns[0]
		alone := len(q.turns) == 1
		t.credit += quantumBytes
		n := 0
		for n < len(t.waiting) && t.took < share && len(out) < q.most() {
			if t.waiting[n].ctx.Err() != nil {
				gone = append(gone, t.waiting[n])
				n++
				continue
			}
			bytes := len(t.waiting[n].cmd)
			if bytes+commitBytes > t.credit && !alone && len(out) > 0 {
				break
			}
			if fits = len(out) == 0 || size+bytes <= BatchBytesMax; !fits {
				break
			}
			t.credit -= bytes + commitBytes
			t.took++
			size += bytes
			out = append(out, t.waiting[n])
			n++
		}
		if alone {
			t.credit = 0
		}
		q.remove(t, n)
		switch {
		case len(t.waiting) == 0:
		case !fits && n == 0: // it begins the next entry
		case t.took >= share:
			q.turns = q.turns[1:]
			full = append(full, t)
		default:
			q.turns = append(q.turns[1:], t)
		}
	}
	q.turns = append(q.turns, full...)
	for _, t := range q.turns {
		t.took, t.credit = 0, min(max(t.credit, 0), CommitBytesMax)
	}
	return out, gone
}

// most returns the most commits of an entry.
func (q *fairQueue) most() int {
	if q.commitsMax == 0 {
		return BatchCommitsMax
	}
	return q.commitsMax
}

// remove removes the first n commits of the tenant at the front.
func (q *fairQueue) remove(t *tenantQueue, n int) {
	for _, w := range t.waiting[:n] {
		q.bytes -= len(w.cmd)
	}
	q.count -= n
	clear(t.waiting[:n])
	if t.waiting = t.waiting[n:]; len(t.waiting) > 0 {
		return
	}
	delete(q.tenants, t.name)
	q.turns = q.turns[1:]
	if len(q.turns) == 0 {
		q.turns = nil
	}
	*t = tenantQueue{}
	q.spare = t
}

// clear removes and returns all commits.
func (q *fairQueue) clear() (all []pending) {
	for _, t := range q.turns {
		all = append(all, t.waiting...)
	}
	*q = fairQueue{commitsMax: q.commitsMax}
	return all
}
