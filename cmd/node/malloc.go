//go:build linux && cgo

package main

/*
#include <malloc.h>
#include <stdlib.h>

// Pebble takes its memtables and its cache's blocks from malloc, on whatever
// thread it runs. Glibc has up to eight arenas a core, and what one of them
// has free no other can use: a cache of 65 MiB came to take 160. So there is
// one, unless the environment says what there is to be; in this program alone,
// since it is for whoever embeds a node to say how many arenas their process
// has. This must come before the second thread, which would have its own for
// good.
__attribute__((constructor)) static void dormouse_one_arena(void) {
#ifdef __GLIBC__
	if (!getenv("MALLOC_ARENA_MAX") && !getenv("GLIBC_TUNABLES")) {
		mallopt(M_ARENA_MAX, 1);
	}
#endif
}
*/
import "C"
