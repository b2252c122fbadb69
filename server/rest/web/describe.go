package web

import (
	"net/http"
	"slices"
	"strings"

	"dormouse/access"
	"dormouse/agent"
)

// description returns what the documentation says about the route: its own detail, and what
// follows from its declaration.
func (rt *Route) description() string {
	var all []string
	add := func(applies bool, sentence string) {
		if applies {
			all = append(all, sentence)
		}
	}
	add(rt.Detail != "", rt.Detail)
	add(rt.Effect == Writes, "The write applies whole or not at all. `Dormouse-Index` is the index of its log entry.")
	add(rt.Effect == Writes && rt.Method == http.MethodDelete, "Deleting what does not exist succeeds too.")
	add(rt.idempotent() && rt.Again == "", "A retry with the same `Idempotency-Key` gets the first answer, for 24 hours.")
	add(rt.Again != "", "A retry with the same `Idempotency-Key` "+rt.Again+".")
	add(rt.Effect == Writes, "With `Dormouse-Fence`, it applies only while the claim is at that epoch.")
	add(rt.Condition != "", "`If-Match` (or `"+rt.Condition+"`) names the revision at which it applies.")
	add(rt.Creates && rt.Status == 0, "It answers 201 and `Location` if it creates something, else 200.")
	add(rt.Effect == Reads && !rt.Streams, "The read is linearizable. `stale=true` reads this node's own state, which may be older.")
	add(rt.Effect == Scoped, "Any node takes the call, and the node that owns the instance serves it.")
	add(rt.Effect == Plain && rt.Method == http.MethodGet && !rt.Probe && !rt.Streams, "The answer is what this node knows.")
	add(rt.Effect == Plain && rt.Method != http.MethodGet, "Any node takes the call, and the leader decides.")
	add(rt.Probe, "A busy node answers it too.")
	add(slices.Contains(rt.Query, "after"), "Pass `next` of a page as `after` of the following one; it is null at the end.")
	add(slices.Contains(rt.types(), AnyMedia), "The body is kept byte for byte, with its `Content-Type`, which may be any.")
	add(rt.Media == AnyMedia, "The answer has the `Content-Type` that was written, and application/octet-stream if there was none.")
	add(rt.Events != nil, "While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it.")
	add(slices.Contains(rt.headers(), HeaderLastEvent), "To resume, send the id of the last event as `Last-Event-ID`.")
	switch verbs := access.OfRoute(rt.ID).Verbs(); {
	case len(verbs) == 1:
		all = append(all, "The caller needs the right `"+string(verbs[0])+"`.")
	case len(verbs) > 1:
		all = append(all, "The caller needs all of these rights: "+joined(verbs)+".")
	}
	if access.OfRoute(rt.ID).Open() {
		all = append(all, "It needs no credentials.")
	}
	return strings.Join(all, " ")
}

// refusals returns the statuses of the problems that the route may answer.
func (rt *Route) refusals(body bool) []int {
	all := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	add := func(applies bool, statuses ...int) {
		if applies {
			all = append(all, statuses...)
		}
	}
	changes := rt.Method != http.MethodGet && rt.Effect != Reads
	add(!access.OfRoute(rt.ID).Open(), http.StatusUnauthorized)
	add(!rt.Probe, http.StatusTooManyRequests)
	add(rt.Effect != Plain || changes, http.StatusNotFound, http.StatusConflict, http.StatusGone)
	add(rt.Effect != Plain || body, http.StatusRequestEntityTooLarge)
	add(body, http.StatusUnsupportedMediaType)
	add(rt.idempotent() && rt.Again == "", http.StatusUnprocessableEntity)
	add(rt.Effect == Scoped, http.StatusBadGateway)
	add(changes || rt.Effect == Scoped, http.StatusGatewayTimeout)
	slices.Sort(all)
	return all
}

// tagged reports whether a successful answer may have an ETag: it is about one thing.
func (rt *Route) tagged() bool {
	return (rt.Effect == Reads || rt.Effect == Writes) && !rt.Streams && rt.Tag != "commits" && !rt.takes("after") && !rt.Follows
}

// joined returns verbs as text.
func joined(verbs []agent.Verb) string {
	names := make([]string, len(verbs))
	for i, verb := range verbs {
		names[i] = string(verb)
	}
	return strings.Join(names, ", ")
}
