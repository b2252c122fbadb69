// Command assemble writes the Go library as a module of its own into a directory. It is
// run in the root of the servers' module.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"dormouse/internal/sdkgo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "build/sdk/go", "directory of the module; an earlier result in it is replaced")
	path := flag.String("path", sdkgo.Path, "path of the module")
	flag.Parse()
	if err := sdkgo.Assemble(ctx, ".", *out, *path); err != nil {
		fmt.Fprintln(os.Stderr, "assemble:", err)
		os.Exit(1)
	}
}
