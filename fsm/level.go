package fsm

// changesLevel is the feature level from which on changes are recorded: a node
// that would not must not apply the same entries.
const changesLevel = 2

// conversationsLevel is the one from which on conversations, messages, managers
// and timers are told too.
const conversationsLevel = 3

// foundLevel is the feature level from which on conversations are found, sealed
// and erased with their agent.
const foundLevel = 4

// endingLevel is the feature level from which on erasures end live instances.
const endingLevel = 6

// listedLevel is the feature level from which on all memories are listed.
const listedLevel = 7
