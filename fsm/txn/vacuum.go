package txn

import (
	"fmt"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// A row of a queue of wall times is dead once its target is gone, or has another time: it has no
// effect when it falls due. Ops that remove single rows remove their queue rows too. Those that
// remove ranges leave dead rows, which may have years to go, so they count them here, and a vacuum
// removes them: see scoperow.Vacuum. It begins once as many rows may be dead as the last one kept,
// so that the queues are at most about twice as long as they must be, and each dead row costs about
// one visit of a live one.

// VacuumKey names the row that counts dead rows.
const VacuumKey = kv.KindSystem + "vacuum"

// DeadRowsMax is how many dead rows are left alone, however short the queues are.
const DeadRowsMax = 4096

// CountDead counts rows of the queues that an op left behind, and starts a vacuum if they are too
// many.
func (b *Entry) CountDead(rows uint64) error {
	if rows == 0 || b.Level < VacuumLevel {
		return nil
	}
	row, err := b.LoadVacuum()
	if err != nil {
		return err
	}
	row.Dead += rows
	b.StoreVacuum(row)
	return nil
}

// LoadVacuum returns the row that counts dead rows.
func (b *Entry) LoadVacuum() (*logpb.VacuumRow, error) {
	raw, err := b.Rows.Get(VacuumKey)
	if err != nil {
		return nil, err
	}
	row := &logpb.VacuumRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode the count of dead rows: %w", err)
	}
	return row, nil
}

// StoreVacuum writes the row that counts dead rows. If no pass runs and enough rows may be dead, it
// starts one.
func (b *Entry) StoreVacuum(row *logpb.VacuumRow) {
	if len(row.Next) == 0 && row.Dead > max(row.Live, DeadRowsMax) {
		row.Dead, row.Kept, row.Next = 0, 0, []byte(kv.KindDueWall)
		b.ContinueVacuum()
	}
	b.Rows.Set(VacuumKey, command.Marshal(row))
}

// ContinueVacuum makes the next step of the pass due at the next entry.
func (b *Entry) ContinueVacuum() { b.SetExpiry(max(b.Progress.Wall, 1), VacuumKey) }
