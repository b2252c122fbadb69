package agent

// The codes of sessions and reviews, by the names that SEMANTICS §7 gives them.
const (
	CodeSessionAlreadyRunning     Code = "session_already_running"
	CodeSessionNotResumable       Code = "session_not_resumable"
	CodeSessionNotRecoverable     Code = "session_not_recoverable"
	CodeSessionLeaseActive        Code = "session_lease_active"
	CodeSessionLeaseRequired      Code = "session_lease_required"
	CodeSessionLeaseExpired       Code = "session_lease_expired"
	CodeStaleSessionLease         Code = "stale_session_lease"
	CodeStaleSessionRevision      Code = "stale_session_revision"
	CodeStaleConversationRevision Code = "stale_conversation_revision"
	CodeInvalidConversation       Code = "invalid_conversation_commit_revision"
	CodeCheckpointMismatch        Code = "checkpoint_session_mismatch"
	CodeCommitMismatch            Code = "session_commit_mismatch"
	CodeMissingSnapshot           Code = "missing_session_snapshot"
	CodeSessionQueueEmpty         Code = "session_queue_empty"
	CodeUnsupportedSchema         Code = "unsupported_session_schema_version"
	CodeReviewDecided             Code = "review_already_decided"
	CodeApprovalExpired           Code = "approval_expired"
	CodeApprovalMismatch          Code = "approval_interrupt_mismatch"
)
