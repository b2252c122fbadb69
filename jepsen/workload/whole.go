package workload

import "dormouse/jepsen/model"

// JudgeWhole checks that each commit is whole at each index: a call that found one of its writes, and
// another one of the objects that it writes, found that write too. writes has what each commit
// writes, and found the versions that each call found, or left, at one index. Both are by the index of
// the call in Ops. JudgeOrder finds the same of commits with an answer. A commit without one is
// known by the writes that other calls showed, and a missing write is not among them. Call JudgeWhole
// after Settle.
func (l *Ledger) JudgeWhole(writes map[int][]Write, found map[int][]model.Access) {
	if l.Disordered {
		return
	}
	for commit := range l.Ops {
		seen, missing := l.seenOf(writes[commit])
		if len(seen) == 0 || len(missing) == 0 {
			continue
		}
		for call := range l.Ops {
			if len(found[call]) > 0 {
				l.judgeHalf(commit, call, seen, missing, found[call])
			}
		}
	}
}

// seenOf divides a commit's writes into those that an answer shows, with their versions, and the
// others.
func (l *Ledger) seenOf(writes []Write) (seen []model.Access, missing []Write) {
	for _, w := range writes {
		if version := l.Object(w.Object).Version[w.Name]; version > 0 {
			seen = append(seen, model.Access{Object: w.Object, Version: version})
		} else {
			missing = append(missing, w)
		}
	}
	return seen, missing
}

// judgeHalf judges what one call found of a commit that has missing writes. A write is missing in
// what the call found if all versions up to that are known to be others.
func (l *Ledger) judgeHalf(commit, call int, seen []model.Access, missing []Write, found []model.Access) {
	at := map[string]uint64{} // :: object → the version that the call found
	for _, f := range found {
		at[f.Object] = f.Version
	}
	for _, s := range seen {
		if at[s.Object] < s.Version {
			continue
		}
		for _, w := range missing {
			if version, asked := at[w.Object]; asked && l.Object(w.Object).KnownUpTo(version) {
				l.Findings.Add("half a commit", l.Key, l.Of(commit, call), "%s found %s at version %d, of which %s made version %d, and %s at version %d without its %q",
					NameOf(l.Ops[call]), s.Object, at[s.Object], NameOf(l.Ops[commit]), s.Version, w.Object, version, w.Name)
				return
			}
		}
	}
}
