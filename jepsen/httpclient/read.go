package httpclient

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"dormouse/agent"
)

// readCall is the request of several reads, and how its answer becomes their answers.
type readCall struct {
	request
	answers func(*answer) (agent.Answers, error)
}

// readRequest returns the request of reads: the call of the only one if alone is set and
// there is one whose answer is whole, and POST /v1/reads otherwise.
func readRequest(r agent.Reads, alone bool) (*readCall, error) {
	query := url.Values{}
	if r.Stale {
		query.Set("stale", "true")
	}
	if r.MinIndex != 0 {
		query.Set("min_index", strconv.FormatUint(r.MinIndex, 10))
	}
	if alone && len(r.Reads) == 1 {
		switch only := r.Reads[0].(type) {
		case *agent.Recall:
			return recallRequest(r, only, query)
		case *agent.GetValue:
			return valueCall(r.Scope, query, only.Key), nil
		default:
		}
		if path, decode := ownRead(r.Reads[0]); path != "" {
			return aloneCall(r.Scope, path+asked(query), decode), nil
		}
		if path, parameters, decode := ownListed(r.Reads[0]); path != "" {
			maps.Copy(query, parameters)
			return aloneCall(r.Scope, path+asked(query), decode), nil
		}
	}
	docs, err := readDocuments(r.Reads)
	if err != nil {
		return nil, err
	}
	return &readCall{request: request{
		method: http.MethodPost, path: "/v1/reads" + asked(query), scope: r.Scope, media: mediaJSON, body: encode(members{"reads": docs}),
	}, answers: func(a *answer) (agent.Answers, error) { return answered(a, docs) }}, nil
}

// aloneCall returns the call of a read that has one, whose answer is what it found.
func aloneCall(scope, path string, decode func([]byte) (agent.Found, error)) *readCall {
	return &readCall{request: request{method: http.MethodGet, path: path, scope: scope}, answers: func(a *answer) (agent.Answers, error) {
		found, err := decode(a.body)
		if err != nil {
			return agent.Answers{}, err
		}
		return stamped(a, []agent.Answer{{Found: found}})
	}}
}

// readDocuments returns the documents of reads in POST /v1/reads.
func readDocuments(reads []agent.Read) (docs []members, err error) {
	for _, each := range reads {
		doc, err := readDocument(each)
		if err != nil {
			return nil, agent.Errorf(agent.CodeInvalid, "%v", err)
		}
		docs = append(docs, doc)
		if load, ok := each.(*agent.LoadEntries); ok { // whose answer lacks the thread
			docs = append(docs, members{"read": "get_thread", "thread": load.Thread})
		}
	}
	return docs, nil
}

// ReadsBody returns the body of POST /v1/reads, and what decodes its answer.
func ReadsBody(r agent.Reads) (body []byte, answered func(body []byte) (agent.Answers, error), err error) {
	if r.Stale || r.MinIndex != 0 {
		return nil, nil, agent.Errorf(agent.CodeInvalid, "a stale read has no body of its own")
	}
	docs, err := readDocuments(r.Reads)
	if err != nil {
		return nil, nil, err
	}
	return encode(members{"reads": docs}), func(body []byte) (agent.Answers, error) {
		index, all, err := answersIn(body, docs)
		return agent.Answers{Index: index, Answers: all}, err
	}, nil
}

// recallRequest returns the call of a recall, which has a body.
func recallRequest(r agent.Reads, recall *agent.Recall, query url.Values) (*readCall, error) {
	body, err := formedRead(recall)
	if err != nil {
		return nil, err
	}
	delete(body, "read")
	return &readCall{
		request: request{method: http.MethodPost, path: "/v1/memory/recall" + asked(query), scope: r.Scope, media: mediaJSON, body: encode(body)},
		answers: func(a *answer) (agent.Answers, error) {
			found, err := found("recall")(a.body)
			if err != nil {
				return agent.Answers{}, err
			}
			return stamped(a, []agent.Answer{{Found: found}})
		},
	}, nil
}

// ownRead returns the path of a read with a call of its own whose answer is whole.
func ownRead(r agent.Read) (path string, decode func([]byte) (agent.Found, error)) {
	switch r := r.(type) {
	case *agent.GetCheckpoint:
		path = "/v1/checkpoints/" + url.PathEscape(r.Key)
		if r.Revision != 0 {
			return "", nil
		}
		return path, found("get_checkpoint")
	case *agent.GetThread:
		return "/v1/threads/" + url.PathEscape(r.Thread), found("get_thread")
	case *agent.GetClaim:
		return "/v1/claims/" + url.PathEscape(r.Claim), found("get_claim")
	default:
		return ownFormed(r)
	}
}

// stamped adds what the headers say to answers.
func stamped(a *answer, all []agent.Answer) (agent.Answers, error) {
	index, err := a.index()
	out := agent.Answers{Index: index, Node: a.header.Get("Dormouse-Node"), Answers: all}
	if age := a.header.Get("Dormouse-Age-Ms"); age != "" && err == nil {
		out.AgeMS, err = strconv.ParseInt(age, 10, 64)
	}
	return out, err
}

// answered returns the answers of POST /v1/reads.
func answered(a *answer, docs []members) (agent.Answers, error) {
	index, all, err := answersIn(a.body, docs)
	if err != nil {
		return agent.Answers{}, err
	}
	out, err := stamped(a, all)
	if err == nil && out.Index != index {
		err = fmt.Errorf("its index is %d, and the header's %d", index, out.Index)
	}
	return out, err
}

// answersIn returns the index and the answers in the body of an answer. docs are the reads that were sent,
// since a node of an older version does not name the read of an answer.
func answersIn(body []byte, docs []members) (index uint64, all []agent.Answer, err error) {
	var doc struct {
		Index   uint64 `json:"index"`
		Answers []struct {
			Read  string          `json:"read"`
			Found json.RawMessage `json:"found"`
			Error json.RawMessage `json:"error"`
		} `json:"answers"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return 0, nil, err
	}
	for i := 0; i < len(doc.Answers); i++ {
		each := doc.Answers[i]
		if each.Read == "" && i < len(docs) {
			each.Read, _ = docs[i]["read"].(string)
		}
		var out agent.Answer
		var err error
		switch {
		case each.Error != nil:
			out.Err, _, err = problem(each.Error)
		case each.Found != nil:
			out.Found, err = found(each.Read)(each.Found)
		default:
			err = fmt.Errorf("neither found nor an error")
		}
		if err != nil {
			return 0, nil, fmt.Errorf("answer %d: %w", i, err)
		}
		if each.Read == "load_entries" {
			i++
			if i == len(doc.Answers) {
				return 0, nil, fmt.Errorf("the answer after number %d is missing", i-1)
			}
			if err := whole(&out, doc.Answers[i].Found); err != nil {
				return 0, nil, fmt.Errorf("answer %d: %w", i, err)
			}
		}
		all = append(all, out)
	}
	return doc.Index, all, nil
}

// whole adds what only the thread itself shows to loaded entries.
func whole(out *agent.Answer, raw json.RawMessage) error {
	loaded, ok := out.Found.(*agent.Entries)
	if !ok || raw == nil {
		return nil
	}
	thread, err := found("get_thread")(raw)
	if err != nil {
		return err
	}
	page := loaded.Thread
	loaded.Thread = *thread.(*agent.Thread)
	loaded.Thread.Rev, loaded.Thread.Head, loaded.Thread.Floor = page.Rev, page.Head, page.Floor
	return nil
}

// readDocument returns the document of a read. The error says that this client does not
// speak it.
func readDocument(r agent.Read) (members, error) {
	switch r := r.(type) {
	case *agent.GetValue:
		return members{"read": "get_value", "key": r.Key}, nil
	case *agent.ListValues:
		if r.Body {
			return nil, fmt.Errorf("this HTTP client lists values without bodies")
		}
		m := page(members{"read": "list_values"}, r.Page)
		if len(r.Where) > 0 {
			where := map[string]string{}
			for _, each := range r.Where {
				where[each.Key] = each.Value
			}
			m["metadata"] = where
		}
		return m, nil
	case *agent.GetCheckpoint:
		m := members{"read": "get_checkpoint", "key": r.Key}
		set(m, "revision", r.Revision)
		return m, nil
	case *agent.CheckpointHistory:
		return members{"read": "checkpoint_history", "key": r.Key}, nil
	case *agent.GetThread:
		return members{"read": "get_thread", "thread": r.Thread}, nil
	case *agent.GetClaim:
		return members{"read": "get_claim", "claim": r.Claim}, nil
	case *agent.GetScope:
		return members{"read": "get_scope"}, nil
	case *agent.Thaw:
		m := members{"read": "thaw", "key": r.Key}
		set(m, "revision", r.Revision)
		m.revision("tail", r.Tail)
		return m, nil
	case *agent.LoadEntries:
		return loadEntries(r), nil
	default:
		return formedRead(r)
	}
}

func page(m members, p agent.Page) members {
	set(m, "prefix", p.Prefix)
	set(m, "after", p.After)
	set(m, "limit", p.Limit)
	set(m, "order", p.Order)
	return m
}

func loadEntries(r *agent.LoadEntries) members {
	m := members{"read": "load_entries", "thread": r.Thread}
	set(m, "from", r.From)
	m.revision("to", r.To)
	set(m, "tail", r.Tail)
	m.revision("at_rev", r.AtRev)
	if len(r.Kinds) > 0 {
		m["kinds"] = r.Kinds
	}
	set(m, "limit", r.Limit)
	set(m, "order", r.Order)
	return m
}
