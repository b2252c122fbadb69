package kit

import (
	"fmt"

	"dormouse/agent/layout"
	"dormouse/internal/cli"
)

// BackupRows returns the rows of a table with the status of the scheduled backups.
func BackupRows(s layout.BackupStatus) [][2]string {
	rows := [][2]string{{"last backup", "none yet"}, {"next backup", cli.When(s.Next)}}
	if s.LastName != "" {
		rows[0][1] = fmt.Sprintf("%s, verified %s", s.LastName, cli.When(s.LastSuccessAt))
	}
	if s.Phase != "" {
		rows = append(rows, [2]string{"under way", s.Phase})
	}
	switch {
	case !s.ShipsLog:
		rows = append(rows, [2]string{"shipped log", "off (backup.log_every is 0)"})
	case s.ShippedTo == 0:
		rows = append(rows, [2]string{"shipped log", "nothing yet"})
	default:
		rows = append(rows, [2]string{"shipped log", fmt.Sprintf("up to entry %d of %s", s.ShippedTo, cli.When(s.ShippedTime))})
	}
	if s.Gaps > 0 {
		rows = append(rows, [2]string{"gaps", cli.Number(s.Gaps) + " since the leader's process leads"})
	}
	if s.LogError != "" {
		rows = append(rows, [2]string{"log error", s.LogError})
	}
	switch {
	case s.LastError == "":
	case s.LastErrorAt == 0:
		rows = append(rows, [2]string{"warning", s.LastError})
	default:
		rows = append(rows, [2]string{"last error", cli.When(s.LastErrorAt) + ": " + s.LastError})
	}
	return rows
}
