package replay

import "dormouse/agent"

// Read reads a session and its history. ask answers several reads at one index; Read
// asks for the session first, then for the rest. tail is the number of newest entries
// of its thread to return; 0 means all. If they have more than bytesMax bytes
// together, the error is too_large; 0 means no limit.
func Read(ask func(...agent.Read) (agent.Answers, error), session string, tail uint64, bytesMax int) (*Replay, error) {
	answers, err := ask(&agent.GetSession{Session: session})
	if err != nil {
		return nil, err
	}
	s, err := found[*agent.Session](answers, 0)
	if err != nil {
		return nil, err
	}
	reads := []agent.Read{&agent.ListReviews{Session: session, Page: agent.Page{Limit: agent.ListLimitMax}}}
	if s.Checkpoint != "" {
		reads = append(reads, &agent.CheckpointHistory{Key: s.Checkpoint})
	}
	if answers, err = ask(reads...); err != nil {
		return nil, err
	}
	var all Found
	reviews, err := found[*agent.ReviewList](answers, 0)
	if err != nil {
		return nil, err
	}
	all.Reviews = reviews.Items
	if s.Checkpoint != "" {
		history, err := found[*agent.CheckpointList](answers, 1)
		switch {
		case err == nil:
			all.Checkpoints = history.Items
		case agent.CodeOf(err) != agent.CodeNotFound:
			return nil, err
		}
	}
	if s.Thread != "" {
		if all.Entries, err = entries(ask, s.Thread, tail, bytesMax); err != nil && agent.CodeOf(err) != agent.CodeNotFound {
			return nil, err
		}
	}
	return Of(s, all), nil
}

// entries reads a thread page by page, at the rev of the first page.
func entries(ask func(...agent.Read) (agent.Answers, error), thread string, tail uint64, bytesMax int) (all []agent.Entry, err error) {
	load := agent.LoadEntries{Thread: thread, Tail: tail, Limit: agent.EntriesLimitMax}
	for size := 0; ; {
		asked := load
		answers, err := ask(&asked)
		if err != nil {
			return nil, err
		}
		page, err := found[*agent.Entries](answers, 0)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Items {
			size += e.Size()
		}
		if bytesMax > 0 && size > bytesMax {
			e := agent.TooLarge("tail", "replay_bytes_max", size, bytesMax)
			e.Detail += ": ask for a shorter tail"
			return nil, e
		}
		all = append(all, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		if load.AtRev == nil {
			load.AtRev = &page.Thread.Rev
		}
		load.From, load.Tail = *page.Next, 0
	}
}

func found[F agent.Found](answers agent.Answers, i int) (F, error) {
	var none F
	if i >= len(answers.Answers) {
		return none, agent.Errorf(agent.CodeInternal, "read %d has no answer", i)
	}
	if err := answers.Answers[i].Err; err != nil {
		return none, err
	}
	f, ok := answers.Answers[i].Found.(F)
	if !ok {
		return none, agent.Errorf(agent.CodeInternal, "the answer is a %T, not a %T", answers.Answers[i].Found, none)
	}
	return f, nil
}
