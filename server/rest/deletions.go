package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeDeletions(f *api) {
	const tag, all = "deletions", "/v1/deletions"
	for _, kind := range []agent.ChangeKind{agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedThread} {
		noun := string(kind)
		register(f, route{
			method: http.MethodDelete, path: "/v1/" + noun, id: "delete-" + noun, tag: noun,
			summary: "Delete all " + noun + " whose key begins with a prefix, as of one index",
			detail: "It answers 200 with the receipt if all rows are removed. Otherwise it answers 202, and the cluster removes the rest: " +
				"`Location` is the receipt's path. No read returns them in either case.",
			effect: writes, query: []string{"prefix", "all"}, follows: true, answers: document.PrefixDeletion{},
		}, func(c *request, _ *none) error { return deletePrefix(c, kind) })
	}
	register(f, route{
		method: http.MethodGet, path: all, id: "list-deletions", tag: tag, summary: "List the receipts of deletions by prefix, the oldest first",
		effect: reads, query: orderedQuery, answers: document.List[document.PrefixDeletion]{},
	}, listDeletions)
	register(f, route{
		method: http.MethodGet, path: all + "/{id}", id: "get-deletion", tag: tag, summary: "Read the receipt of a deletion by prefix",
		effect: reads, answers: document.PrefixDeletion{},
	}, getDeletion)
}

func deletePrefix(c *request, kind agent.ChangeKind) error {
	result, err := c.commit(&agent.DeletePrefix{Kind: kind, Prefix: c.text("prefix"), All: c.flag("all")})
	if err != nil {
		return err
	}
	d, err := resultOf[*agent.PrefixDeletion](result, 0)
	if err != nil {
		return err
	}
	a := reply{body: document.PrefixDeletionOf(*d)}
	if !d.Complete() {
		a.follow = location("deletions", d.ID)
	}
	return c.answer(a)
}

func listDeletions(c *request, _ *none) error {
	found, err := read[*agent.DeletionList](c, &agent.ListDeletions{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.PrefixDeletionOf)})
}

func getDeletion(c *request, _ *none) error {
	found, err := read[*agent.PrefixDeletion](c, &agent.GetDeletion{ID: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.PrefixDeletionOf(*found)})
}
