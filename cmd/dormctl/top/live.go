package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"dormouse/cmd/dormctl/kit"
)

// topLive shows the pages on the terminal until a key or ctx ends it. A cluster that does not answer
// at the beginning is an error; later the screen says so.
func topLive(ctx context.Context, a *kit.App, s kit.Store, every time.Duration) error {
	first, err := look(ctx, a, s, true)
	if err != nil {
		return err
	}
	web, err := kit.NewWeb(a)
	if err != nil {
		return err
	}
	defer web.Close()
	count, end := startCensus(ctx, s)
	defer end()
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	from := &source{app: a, store: s, web: web, count: count}
	options := []tea.ProgramOption{tea.WithOutput(a.Stdout), tea.WithoutSignalHandler()}
	if a.Stdin != os.Stdin { // of its own accord the library opens the terminal if stdin is none
		options = append(options, tea.WithInput(a.Stdin))
	}
	program := tea.NewProgram(newModel(asking, from, first, every, a.Timeout), options...)
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("show the pages: %w", err)
	}
	return nil
}
