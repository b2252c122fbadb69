package rest

import (
	"net/http"

	"dormouse/api/document"
)

func routeBackups(f *api, tag, path string) {
	register(f, route{
		method: http.MethodGet, path: path + "/backups", id: "list-backups", tag: tag,
		summary: "The scheduled backups: their status, and what their destination holds", answers: document.Backups{},
	}, listBackups)
	register(f, route{
		method: http.MethodPost, path: path + "/backups", id: "take-backup", tag: tag,
		summary: "Take a backup now, and verify it; it goes on if the call ends before", status: http.StatusCreated, answers: document.Backup{},
	}, takeBackup)
}

func listBackups(c *request, _ *none) error {
	all, err := c.api.operator.Backups(c.ctx)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.BackupsOf(all)})
}

func takeBackup(c *request, _ *none) error {
	b, err := c.api.operator.TakeBackup(c.ctx, nil)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.BackupOf(b)})
}
