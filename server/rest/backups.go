package rest

import (
	"net/http"

	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeBackups(f *web.API, tag, path string) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: path + "/backups", ID: "list-backups", Tag: tag,
		Summary: "The scheduled backups: their status, and what their destination holds", Answers: document.Backups{},
	}, listBackups)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: path + "/backups", ID: "take-backup", Tag: tag,
		Summary: "Take a backup now, and verify it; it goes on if the call ends before", Status: http.StatusCreated, Answers: document.Backup{},
	}, takeBackup)
}

func listBackups(c *web.Request, _ *web.None) error {
	all, err := c.API.Operator.Backups(c.Context)
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.BackupsOf(all)})
}

func takeBackup(c *web.Request, _ *web.None) error {
	b, err := c.API.Operator.TakeBackup(c.Context, nil)
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.BackupOf(b)})
}
