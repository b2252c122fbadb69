package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeManagers(f *api) {
	const tag, one = "managers", "/v1/managers/{manager}"
	register(f, route{
		method: http.MethodPut, path: one, id: "put-manager", tag: tag, summary: "Set how the instances of one kind are kept",
		effect: writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.Manager{},
	}, putManager)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-manager", tag: tag, summary: "Read a manager", effect: reads, answers: document.Manager{},
	}, getManager)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-manager", tag: tag, summary: "Delete a manager; the stored data of its instances stays",
		effect: writes, condition: "if_revision", query: []string{"if_revision"}, status: http.StatusNoContent,
	}, deleteManager)
	register(f, route{
		method: http.MethodGet, path: "/v1/managers", id: "list-managers", tag: tag, summary: "List managers in the order of their names",
		effect: reads, query: orderedQuery, answers: document.List[document.Manager]{},
	}, listManagers)
}

func putManager(c *request, body *document.ManagerBody) error {
	op, err := body.ToOp(c.id("manager"))
	if err != nil {
		return err
	}
	op.IfRevision = c.conditioned(op.IfRevision)
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ManagerResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &done.Manager.Revision, body: document.ManagerOf(done.Manager)}
	if done.Manager.Revision == 1 {
		a.location = location("managers", done.Manager.Name)
	}
	return c.answer(a)
}

func getManager(c *request, _ *none) error {
	found, err := read[*agent.Manager](c, &agent.GetManager{Name: c.id("manager")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.ManagerOf(*found)})
}

func deleteManager(c *request, _ *none) error {
	if _, err := c.commit(&agent.DeleteManager{Name: c.id("manager"), IfRevision: c.conditioned(c.optional("if_revision"))}); err != nil {
		return err
	}
	return c.answer(reply{})
}

func listManagers(c *request, _ *none) error {
	found, err := read[*agent.ManagerList](c, &agent.ListManagers{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ManagerOf)})
}
