package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeDeletions(f *web.API) {
	const tag, all = "deletions", "/v1/deletions"
	for _, kind := range []agent.ChangeKind{agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedThread} {
		noun := string(kind)
		web.Register(f, web.Route{
			Method: http.MethodDelete, Path: "/v1/" + noun, ID: "delete-" + noun, Tag: noun,
			Summary: "Delete all " + noun + " whose key begins with a prefix, as of one index",
			Detail: "It answers 200 with the receipt if all rows are removed. Otherwise it answers 202, and the cluster removes the rest: " +
				"`Location` is the receipt's path. No read returns them in either case.",
			Effect: web.Writes, Query: []string{"prefix", "all"}, Follows: true, Answers: document.PrefixDeletion{},
		}, func(c *web.Request, _ *web.None) error { return deletePrefix(c, kind) })
	}
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-deletions", Tag: tag, Summary: "List the receipts of deletions by prefix, the oldest first",
		Effect: web.Reads, Query: web.OrderedQuery, Answers: document.List[document.PrefixDeletion]{},
	}, listDeletions)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all + "/{id}", ID: "get-deletion", Tag: tag, Summary: "Read the receipt of a deletion by prefix",
		Effect: web.Reads, Answers: document.PrefixDeletion{},
	}, getDeletion)
}

func deletePrefix(c *web.Request, kind agent.ChangeKind) error {
	result, err := c.Commit(&agent.DeletePrefix{Kind: kind, Prefix: c.Text("prefix"), All: c.Flag("all")})
	if err != nil {
		return err
	}
	d, err := web.ResultOf[*agent.PrefixDeletion](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Body: document.PrefixDeletionOf(*d)}
	if !d.Complete() {
		a.Follow = web.PathOf("deletions", d.ID)
	}
	return c.Answer(a)
}

func listDeletions(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.DeletionList](c, &agent.ListDeletions{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.PrefixDeletionOf)})
}

func getDeletion(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.PrefixDeletion](c, &agent.GetDeletion{ID: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.PrefixDeletionOf(*found)})
}
