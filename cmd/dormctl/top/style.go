package top

import "github.com/charmbracelet/x/ansi"

// The styles. The colours are the terminal's own sixteen; a terminal without colours, or with
// NO_COLOR, shows the rest.
var (
	titleStyle  = ansi.Style{}.Bold()
	tabStyle    = ansi.Style{}.Bold().Reverse(true)
	headStyle   = ansi.Style{}.Bold()
	sortStyle   = ansi.Style{}.Bold().Underline(true)
	cursorStyle = ansi.Style{}.Reverse(true)
	sparkStyle  = ansi.Style{}.ForegroundColor(ansi.Cyan)
	errorStyle  = ansi.Style{}.ForegroundColor(ansi.Red)
	noteStyle   = ansi.Style{}.ForegroundColor(ansi.Yellow)
	faintStyle  = ansi.Style{}.Faint()
)

// colours are the styles of cells.
var colours = map[colour]ansi.Style{
	plain:  {},
	green:  ansi.Style{}.ForegroundColor(ansi.Green),
	yellow: noteStyle,
	red:    errorStyle,
	faint:  faintStyle,
}
