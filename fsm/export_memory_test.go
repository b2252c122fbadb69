package fsm

// ListedLevel is the feature level from which on all memories are listed.
const ListedLevel = listedLevel
