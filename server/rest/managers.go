package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeManagers(f *web.API) {
	const tag, one = "managers", "/v1/managers/{manager}"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "put-manager", Tag: tag, Summary: "Set how the instances of one kind are kept",
		Effect: web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.Manager{},
	}, putManager)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-manager", Tag: tag, Summary: "Read a manager", Effect: web.Reads, Answers: document.Manager{},
	}, getManager)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-manager", Tag: tag, Summary: "Delete a manager; the stored data of its instances stays",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision"}, Status: http.StatusNoContent,
	}, deleteManager)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/managers", ID: "list-managers", Tag: tag, Summary: "List managers in the order of their names",
		Effect: web.Reads, Query: web.OrderedQuery, Answers: document.List[document.Manager]{},
	}, listManagers)
}

func putManager(c *web.Request, body *document.ManagerBody) error {
	op, err := body.ToOp(c.ID("manager"))
	if err != nil {
		return err
	}
	op.IfRevision = c.Conditioned(op.IfRevision)
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ManagerResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &done.Manager.Revision, Body: document.ManagerOf(done.Manager)}
	if done.Manager.Revision == 1 {
		a.Location = web.PathOf("managers", done.Manager.Name)
	}
	return c.Answer(a)
}

func getManager(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Manager](c, &agent.GetManager{Name: c.ID("manager")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Revision, Body: document.ManagerOf(*found)})
}

func deleteManager(c *web.Request, _ *web.None) error {
	if _, err := c.Commit(&agent.DeleteManager{Name: c.ID("manager"), IfRevision: c.Conditioned(c.Optional("if_revision"))}); err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listManagers(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ManagerList](c, &agent.ListManagers{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ManagerOf)})
}
