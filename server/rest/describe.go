package rest

import (
	"net/http"
	"slices"
	"strings"

	"dormouse/access"
	"dormouse/agent"
)

// description returns what the documentation says about the route: its own detail, and what
// follows from its declaration.
func (rt *route) description() string {
	var all []string
	add := func(applies bool, sentence string) {
		if applies {
			all = append(all, sentence)
		}
	}
	add(rt.detail != "", rt.detail)
	add(rt.effect == writes, "The write applies whole or not at all. `Dormouse-Index` is the index of its log entry.")
	add(rt.effect == writes && rt.method == http.MethodDelete, "Deleting what does not exist succeeds too.")
	add(rt.idempotent(), "A retry with the same `Idempotency-Key` gets the first answer, for 24 hours.")
	add(rt.effect == writes, "With `Dormouse-Fence`, it applies only while the claim is at that epoch.")
	add(rt.condition != "", "`If-Match` (or `"+rt.condition+"`) names the revision at which it applies.")
	add(rt.creates && rt.status == 0, "It answers 201 and `Location` if it creates something, else 200.")
	add(rt.effect == reads && !rt.streams, "The read is linearizable. `stale=true` reads this node's own state, which may be older.")
	add(rt.effect == scoped, "Any node takes the call, and the node that owns the instance serves it.")
	add(rt.effect == plain && rt.method == http.MethodGet && !rt.probe && !rt.streams, "The answer is what this node knows.")
	add(rt.effect == plain && rt.method != http.MethodGet, "Any node takes the call, and the leader decides.")
	add(rt.probe, "A busy node answers it too.")
	add(slices.Contains(rt.query, "after"), "Pass `next` of a page as `after` of the following one; it is null at the end.")
	add(slices.Contains(rt.types(), anyMedia), "The body is kept byte for byte, with its `Content-Type`, which may be any.")
	add(rt.media == anyMedia, "The answer has the `Content-Type` that was written, and application/octet-stream if there was none.")
	add(rt.events != nil, "While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it.")
	add(slices.Contains(rt.headers(), headerLastEvent), "To resume, send the id of the last event as `Last-Event-ID`.")
	if verbs := access.OfRoute(rt.id).Verbs(); len(verbs) > 0 {
		all = append(all, "The caller needs one of these rights: "+joined(verbs)+".")
	}
	if access.OfRoute(rt.id).Open() {
		all = append(all, "It needs no credentials.")
	}
	return strings.Join(all, " ")
}

// refusals returns the statuses of the problems that the route may answer.
func (rt *route) refusals(body bool) []int {
	all := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	add := func(applies bool, statuses ...int) {
		if applies {
			all = append(all, statuses...)
		}
	}
	changes := rt.method != http.MethodGet && rt.effect != reads
	add(!access.OfRoute(rt.id).Open(), http.StatusUnauthorized)
	add(!rt.probe, http.StatusTooManyRequests)
	add(rt.effect != plain || changes, http.StatusNotFound, http.StatusConflict, http.StatusGone)
	add(rt.effect != plain || body, http.StatusRequestEntityTooLarge)
	add(body, http.StatusUnsupportedMediaType)
	add(rt.idempotent(), http.StatusUnprocessableEntity)
	add(rt.effect == scoped, http.StatusBadGateway)
	add(changes || rt.effect == scoped, http.StatusGatewayTimeout)
	slices.Sort(all)
	return all
}

// tagged reports whether a successful answer may have an ETag: it is about one thing.
func (rt *route) tagged() bool {
	return (rt.effect == reads || rt.effect == writes) && !rt.streams && rt.tag != "commits" && !rt.takes("after") && !rt.follows
}

// joined returns verbs as text.
func joined(verbs []agent.Verb) string {
	names := make([]string, len(verbs))
	for i, verb := range verbs {
		names[i] = string(verb)
	}
	return strings.Join(names, ", ")
}
