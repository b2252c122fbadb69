package storage

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger quietens Pebble: what it calls information is our trace.
type logger struct {
	log   hclog.Logger
	alarm *alarm
}

func (l logger) Infof(format string, args ...any)  { l.log.Trace(fmt.Sprintf(format, args...)) }
func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

// fatalPatience is how long the end of the process is waited for.
const fatalPatience = 30 * time.Second

// Fatalf does not return: Pebble's own state is undefined after it. Where
// somebody was told, who ends the process, this goroutine waits for that: a
// panic would come first, without order and with the exit code of one.
func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("engine: "+format, args...)
	l.alarm.raise(err)
	time.Sleep(fatalPatience)
	panic(err)
}
