//go:build linux && cgo && !lint

package main

/*
#include <malloc.h>
#include <stdlib.h>

// Pebble allocates its memtables and its cache's blocks with malloc, on any
// thread. Glibc has up to eight arenas per core, and cannot use the free memory
// of one arena in another: a cache of 65 MiB grew to 160. So this program uses
// one arena, unless the environment sets another number. Package node does not
// do this, because a program that embeds a node decides for its own process.
// This must run before the second thread, which would get its own arena
// permanently.
__attribute__((constructor)) static void dormouse_one_arena(void) {
#ifdef __GLIBC__
	if (!getenv("MALLOC_ARENA_MAX") && !getenv("GLIBC_TUNABLES")) {
		mallopt(M_ARENA_MAX, 1);
	}
#endif
}
*/
import "C"
