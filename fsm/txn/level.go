package txn

// ChangesLevel is the feature level from which on changes are recorded: a node
// that would not must not apply the same entries.
const ChangesLevel = 2

// ConversationsLevel is the one from which on conversations, messages, managers
// and timers are told too.
const ConversationsLevel = 3

// FoundLevel is the feature level from which on conversations are found, sealed
// and erased with their agent.
const FoundLevel = 4

// EndingLevel is the feature level from which on erasures end live instances.
const EndingLevel = 6

// ListedLevel is the feature level from which on all memories are listed.
const ListedLevel = 7
