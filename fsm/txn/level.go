package txn

// ChangesLevel is the feature level from which on changes are recorded: nodes that do not record
// them must not apply the same entries.
const ChangesLevel = 2

// ConversationsLevel is the feature level from which on changes of conversations, messages,
// managers and timers are recorded too.
const ConversationsLevel = 3

// FoundLevel is the feature level from which on conversations are indexed, sealed and erased with
// their agent.
const FoundLevel = 4

// EndingLevel is the feature level from which on erasures end live instances.
const EndingLevel = 6

// ListedLevel is the feature level from which on all memories are listed.
const ListedLevel = 7

// TokensLevel is the feature level from which on commits may carry a token, and ops may change
// tokens.
const TokensLevel = 8

// ConditionsLevel is the feature level from which on all nodes know the conditions of puts and appends and
// of put_scope, entries with bytes and of more than 1 MiB, deciders of reviews, and deletions by prefix.
const ConditionsLevel = 9

// MetadataLevel is the feature level from which on scopes may have an index of metadata.
const MetadataLevel = 9

// LimitsLevel is the feature level from which on agents, threads, entries and timers are counted,
// and scopes may have the default policy.
const LimitsLevel = 8

// DeadlineLevel is the feature level from which on a review that expires is decided at its
// deadline, as reads show it before an entry records it, and not at the time of that entry.
const DeadlineLevel = 9

// ImportCountLevel is the feature level from which on the steps of an import count the keys and bytes of
// their rows, and check the numbers in them.
const ImportCountLevel = 9

// DecisionLevel is the feature level from which on entries may hold what the leader has decided.
const DecisionLevel = 9

// AskedAgainLevel is the feature level from which on a review that was withdrawn may be asked again,
// and a snapshot in classic mode leaves the reviews pending that it asks for too.
const AskedAgainLevel = 9

// TimerQueueLevel is the feature level from which on timers have a queue of their own, so that many
// rows that expire do not delay them.
const TimerQueueLevel = 9

// WholeBytesLevel is the feature level from which on a scope's bytes count the metadata and the
// summaries of threads, and the entries that only forks read.
const WholeBytesLevel = 9

// KeptPolicyLevel is the feature level from which on the deletion of a scope keeps the scope's own
// policy, unless the caller is the root token's or has none.
const KeptPolicyLevel = 9

// NamedLevel is the feature level from which on a session records when it was assigned to its agent.
const NamedLevel = 9

// OutcomeLevel is the feature level from which on the results of writes lack the metadata of threads,
// and a commit is refused if its results exceed agent.OutcomeBytesMax.
const OutcomeLevel = 9

// VacuumLevel is the feature level from which on dead rows of the queues of wall times are removed
// before their time.
const VacuumLevel = 9

// CompactionLevel is the feature level from which on the compactions of one commit, and of one entry,
// may read only so many checkpoints and forks.
const CompactionLevel = 9

// KindRunLevel is the feature level from which on entries of one kind that follow each other share a
// row of the index by kind.
const KindRunLevel = 9

// SameRequestLevel is the feature level from which on a claim with the id of the request that has waited
// longest is refused if its content is another.
const SameRequestLevel = 9

// DenialLevel is the feature level from which on a review can be denied even if its session has no room
// for the failure.
const DenialLevel = 9

// ForkChainLevel is the feature level from which on the removal of a fork does not remove threads that it
// was forked from, if these are gone too.
const ForkChainLevel = 9

// NamedRowsLevel is the feature level from which on the rows that one entry of an erasure removes include
// those of the checkpoints and threads that sessions name.
const NamedRowsLevel = 9

// ReadBytesLevel is the feature level from which on the bytes that a commit may write include those that
// its ops read and then leave as they are.
const ReadBytesLevel = 9

// TrimLevel is the feature level from which on an entry removes as many more rows of a feed as it adds changes.
const TrimLevel = 9

// TokensApartLevel is the feature level from which on an import of a scope refuses no ops on tokens and on
// the default policy in that scope.
const TokensApartLevel = 9

// ErasedTwiceLevel is the feature level from which on an erasure of an instance that another erasure has yet to end
// counts it once.
const ErasedTwiceLevel = 9

// ImportAnswersLevel is the feature level from which on an import forgets the answers to the requests of
// agent.TimerClient, agent.MutationClient and agent.ImportClient in its scope.
const ImportAnswersLevel = 9
