package storage

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger lowers Pebble's log levels: its information is logged as trace.
type logger struct {
	log   hclog.Logger
	alarm *alarm
	end   func(error) // instead of a panic; nil means a panic
}

func (l logger) Infof(format string, args ...any)  { l.log.Trace(fmt.Sprintf(format, args...)) }
func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

// fatalPatience is how long Fatalf waits for the end of the process.
const fatalPatience = 30 * time.Second

// Fatalf does not return: Pebble's own state is undefined after it. It reports the error, and waits
// for the receiver to end the process in order. A panic at once would be disorderly and exit with
// code one.
func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("engine: "+format, args...)
	l.alarm.raise(err)
	time.Sleep(fatalPatience)
	if l.end != nil {
		l.end(err)
	}
	panic(err)
}
