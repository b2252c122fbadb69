// Generated from the OpenAPI document by scripts/generate.mjs.

export interface paths {
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process up?
         * @description A busy node answers it too. It needs no credentials.
         */
        get: operations["get-livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics, in the Prometheus format
         * @description A busy node answers it too. The caller needs the right `cluster:read`.
         */
        get: operations["get-metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description The answer is what this node knows. It needs no credentials.
         */
        get: operations["get-openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the node ready to serve?
         * @description A busy node answers it too. It needs no credentials.
         */
        get: operations["get-readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase all data of an agent; answers with a receipt once the erasure is complete, or at the timeout
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs all of these rights: admin, read.
         */
        delete: operations["erase-agent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{key}/erasure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the receipt of an agent's erasure
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-erasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{key}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork an agent: checkpoint, thread, memories and a session, in one commit
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs all of these rights: write, read.
         */
        post: operations["fork-agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{key}/hibernate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append what the journal lacks and put the checkpoint, in one commit
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        post: operations["hibernate-agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{key}/thaw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a checkpoint and the thread that it points to
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["thaw-agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events: every change of the scope, in the order of the log
         * @description While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it. To resume, send the id of the last event as `Last-Event-ID`. The caller needs the right `read`.
         */
        get: operations["watch-changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List checkpoints in key order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-checkpoints"];
        put?: never;
        post?: never;
        /**
         * Delete all checkpoints whose key begins with a prefix, as of one index
         * @description It answers 200 with the receipt if all rows are removed. Otherwise it answers 202, and the cluster removes the rest: `Location` is the receipt's path. No read returns them in either case. The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        delete: operations["delete-checkpoints"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkpoints/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a checkpoint whole
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-checkpoint"];
        /**
         * Write a checkpoint whole
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        put: operations["put-checkpoint"];
        post?: never;
        /**
         * Delete a checkpoint and its history
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        delete: operations["delete-checkpoint"];
        options?: never;
        head?: never;
        /**
         * Merge a patch into the state (RFC 7396)
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        patch: operations["patch-checkpoint"];
        trace?: never;
    };
    "/v1/checkpoints/{key}/cron": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set or cancel single jobs in the state's __cron_specs__
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `run`.
         */
        patch: operations["patch-checkpoint-cron"];
        trace?: never;
    };
    "/v1/checkpoints/{key}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the revisions kept of a key, newest first
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-checkpoint-history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the claims that are held, in name order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-claims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the holder of a claim
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-claim"];
        put?: never;
        /**
         * Take a claim that is free, under a new epoch
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["take-claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{name}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a claim, or hand it over
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["release-claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{name}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a claim for its full ttl
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["renew-claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{name}/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events: the holder of a claim, now and after each change
         * @description While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it. The caller needs the right `read`.
         */
        get: operations["watch-claim"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The cluster as this node sees it
         * @description The answer is what this node knows. The caller needs the right `cluster:read`.
         */
        get: operations["get-cluster"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest records of this node's audit log
         * @description Each node records the calls that it served. The hash chain is not checked: dormctl audit verify does. The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["list-audit-records"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A consistent snapshot of the whole store
         * @description The caller needs the right `cluster:backup`.
         */
        get: operations["get-backup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The scheduled backups: their status, and what their destination holds
         * @description The answer is what this node knows. The caller needs the right `cluster:backup`.
         */
        get: operations["list-backups"];
        put?: never;
        /**
         * Take a backup now, and verify it; it goes on if the call ends before
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:backup`.
         */
        post: operations["take-backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/demote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a voter a non-voter
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["demote-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move all partitions of a member to others, and give it none: it stays a member
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["drain-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The calls of this node's servers over the last hour, in steps of 10 s
         * @description The node keeps it in memory, and begins again when it starts. The sum over all nodes is the cluster's. The answer is what this node knows. The caller needs the right `cluster:read`.
         */
        get: operations["get-history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the instances of all managers of all scopes, node by node
         * @description The answer is what this node knows. The caller needs the right `cluster:read`.
         */
        get: operations["count-instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/join-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token with which a node that has no cluster key joins
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["create-join-token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a node for good
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["leave-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last lines of this node's log, at most 512 KiB
         * @description The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["get-log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A profile of this node's process, in the format of pprof
         * @description A CPU profile takes some seconds, 5 if absent, and one is taken at a time. The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["get-profile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a node vote once it has caught up
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["promote-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the drain of a member, which may own partitions again
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["resume-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The settings in force of this node
         * @description Secrets are in files, and not in settings. The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["get-settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/slow-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last slow calls of this node, newest first, at most 128
         * @description A call is slow if it takes at least as long as the setting log.slow_call. Calls of all scopes are listed. The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["list-slow-calls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/state-sum": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A hash of all rows of this node, and of the rows of each kind
         * @description Nodes that have applied the same log have equal hashes. The call reads all data of the node, which takes about a second a gigabyte: use it for diagnosis. The answer is what this node knows. The caller needs the right `cluster:change`.
         */
        get: operations["get-state-sum"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transfer leadership to a node, or to any node
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        post: operations["transfer-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply several ops, all or none
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch.
         */
        post: operations["commit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversations in id order: all, or those of one agent, of one owner, or interrupted ones
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a conversation with its state and pending messages; forbidden if it has another agent or owner
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-conversation"];
        /**
         * Save the state from which a conversation continues: a stale revision is refused with revision_mismatch
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        put: operations["save-conversation"];
        post?: never;
        /**
         * Delete a conversation with its messages
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        delete: operations["delete-conversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/interrupted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set whether a conversation is interrupted: it waits for a person
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        post: operations["set-interrupted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the messages that people see, in order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["list-messages"];
        put?: never;
        /**
         * Add messages that people see
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        post: operations["save-messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/messages/{message}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a message in place: a tool call's status or result
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        patch: operations["update-message"];
        trace?: never;
    };
    "/v1/conversations/{id}/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a message for a busy agent, until a save consumes it
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        post: operations["pend-message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/ttl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set when a conversation expires
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        put: operations["set-conversation-ttl"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/default-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the policy of scopes that have none of their own
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-default-policy"];
        /**
         * Set the policy of scopes that have none of their own
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `scopes:policy`.
         */
        put: operations["put-default-policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deletions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the receipts of deletions by prefix, the oldest first
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-deletions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deletions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the receipt of a deletion by prefix
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-deletion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files in order of paths
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file as it was written
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The answer has the `Content-Type` that was written, and application/octet-stream if there was none. The caller needs the right `read`.
         */
        get: operations["read-file"];
        /**
         * Write a file: the body, byte for byte, with its type; the path is percent-encoded
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The body is kept byte for byte, with its `Content-Type`, which may be any. The caller needs the right `write`.
         */
        put: operations["write-file"];
        post?: never;
        /**
         * Delete a file
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        delete: operations["delete-file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{path}/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the metadata of a file
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["file-metadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a file's content type or metadata, but not its bytes
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        patch: operations["describe-file"];
        trace?: never;
    };
    "/v1/files/{path}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a file atomically
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        post: operations["move-file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List managers in the order of their names
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-managers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a manager
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-manager"];
        /**
         * Set how the instances of one kind are kept
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `run`.
         */
        put: operations["put-manager"];
        post?: never;
        /**
         * Delete a manager; the stored data of its instances stays
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `run`.
         */
        delete: operations["delete-manager"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look an instance up, without waking it
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `read`.
         */
        get: operations["get-instance"];
        put?: never;
        /**
         * Get or start an instance; it is awake afterwards
         * @description It answers 201 and `Location` if it creates something, else 200. Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["start-instance"];
        /**
         * Hibernate an instance and end it; answers once that is durable
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        delete: operations["stop-instance"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep an instance awake while attached; starts it
         * @description A retry with the same `Idempotency-Key` renews the same attachment. Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["attach-instance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/cron": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set or cancel single recurring jobs of an instance; wakes the instance
         * @description A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        patch: operations["patch-instance-cron"];
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End an attachment
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["detach-instance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/hibernate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store an instance now and hibernate it
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["hibernate-instance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a signal to an instance's handler; wakes the instance
         * @description A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["signal-instance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/timers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an instance's timers, in id order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-timers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/timers/{timer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a timer
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-timer"];
        /**
         * Set a timer of an instance; replaces the one with that id
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        put: operations["put-timer"];
        post?: never;
        /**
         * Cancel a timer
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        delete: operations["delete-timer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/touch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the idle timer, and renew the attachment if one is named
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `run`.
         */
        post: operations["touch-instance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/instances/{key}/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events: changes of an instance from now on
         * @description Any node takes the call, and the node that owns the instance serves it. While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it. The caller needs the right `read`.
         */
        get: operations["watch-instance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count a manager's instances over all nodes
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `read`.
         */
        get: operations["manager-stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/timers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the timers of all of a manager's instances, in key order; prefix filters keys
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-all-timers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/managers/{manager}/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events: changes of a manager's instances, on all nodes, from now on
         * @description Any node takes the call, and the node that owns the instance serves it. While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it. The caller needs the right `read`.
         */
        get: operations["watch-instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the memories of an agent in the order of their ids, or of all agents, oldest write first
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-memory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory whose id is derived from its content: equal memories have equal ids
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        post: operations["write-memory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/{agent}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a memory, with its embedding
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-memory"];
        /**
         * Write or overwrite a memory: it becomes the last written one
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        put: operations["put-memory"];
        post?: never;
        /**
         * Delete a memory
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        delete: operations["delete-memory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search an agent's memories: the last written, by a filter, by text, by a vector, or by both
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/placement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Each node's share of the partitions, and the moves under way, as this node sees it
         * @description The answer is what this node knows. The caller needs the right `cluster:read`.
         */
        get: operations["get-placement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/placement/{manager}/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The owner of a key's instance, and the reason, as this node sees it
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `cluster:read`.
         */
        get: operations["explain-placement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/placement/partitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The owner of each partition, and the newest changes, as this node sees them
         * @description The answer is what this node knows. The caller needs the right `cluster:read`.
         */
        get: operations["map-placement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/placement/partitions/{partition}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move a partition to a member, and keep it there until the pin is removed, or the member is drained or leaves
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        put: operations["pin-partition"];
        post?: never;
        /**
         * Remove the pin of a partition, which is placed as others are from then on
         * @description Any node takes the call, and the leader decides. The caller needs the right `cluster:change`.
         */
        delete: operations["unpin-partition"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a pod as it is stored, without waking it
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `read`.
         */
        get: operations["look-at-pod"];
        put?: never;
        /**
         * Get or create a pod, and start its eager nodes
         * @description It answers 201 and `Location` if it creates something, else 200. Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["get-or-make-pod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a pod from what is stored, at one index
         * @description A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["fork-pod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/hibernate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop all nodes and the pod; returns what is stored, at one index
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["hibernate-pod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/mutate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the topology: it is stored first, then nodes stop and start
         * @description A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["mutate-pod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of a pod's nodes, without waking any
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `read`.
         */
        get: operations["list-pod-nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/nodes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of one node of a pod
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs the right `read`.
         */
        get: operations["get-pod-node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/nodes/{name}/ensure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a node, after the nodes that it needs
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["ensure-pod-node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pods/{manager}/{key}/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start nodes, and adopt those that are awake
         * @description Any node takes the call, and the node that owns the instance serves it. The caller needs all of these rights: run, read.
         */
        post: operations["reconcile-pod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer several reads at one index
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older.
         */
        post: operations["read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reviews by deadline, those without one last; the reviews of a session in order of creation
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-reviews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reviews/{review}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a review
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-review"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reviews/{review}/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide a review; the decision is final
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `decide`.
         */
        post: operations["decide-review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scopes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all scopes
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end.
         */
        get: operations["list-scopes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scopes/{scope}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a scope
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-scope"];
        /**
         * Set a scope's policy; creates the scope if it does not exist
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `scopes:policy`.
         */
        put: operations["put-scope"];
        post?: never;
        /**
         * Delete a scope with all its data
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `admin`.
         */
        delete: operations["delete-scope"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions in id order: all, or by one of status, owner, agent_id and recoverable
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-sessions"];
        put?: never;
        /**
         * Create a session with a generated id
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["create-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a session with its requests and snapshots
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-session"];
        /**
         * Create a session, or with a revision overwrite one that has no lease
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `run`.
         */
        put: operations["put-session"];
        post?: never;
        /**
         * Delete a session with its lease and its reviews
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `run`.
         */
        delete: operations["delete-session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a session: its turn is fenced, its queue emptied, its reviews withdrawn
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `run`.
         */
        post: operations["cancel-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store a snapshot of the running turn, and renew its lease
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["checkpoint-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a turn under a new lease
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["claim-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/claim_resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a turn that is hibernated or waiting, under a new lease
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["claim_resume-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the running turn and its lease
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["commit-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a session that is not running
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `run`.
         */
        post: operations["fork-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take over a turn whose lease has expired, under a new one
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["recover-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a lease for its full ttl
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `run`.
         */
        post: operations["renew-session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the history of a session as one timeline; nothing is executed
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["replay-session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/ttl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set when a session expires
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs all of these rights: write, run.
         */
        put: operations["set-session-ttl"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List threads in id order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-threads"];
        put?: never;
        /**
         * Create a thread with a generated id
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        post: operations["create-thread"];
        /**
         * Delete all threads whose key begins with a prefix, as of one index
         * @description It answers 200 with the receipt if all rows are removed. Otherwise it answers 202, and the cluster removes the rest: `Location` is the receipt's path. No read returns them in either case. The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        delete: operations["delete-threads"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a thread's meta
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-thread"];
        put?: never;
        post?: never;
        /**
         * Delete a thread
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        delete: operations["delete-thread"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/bytes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append one entry whose bytes are the body, with its type
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `expected_rev`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The body is kept byte for byte, with its `Content-Type`, which may be any. The caller needs the right `write`.
         */
        post: operations["append-bytes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the entries below a seq; rev and head stay
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        post: operations["compact-thread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read entries in seq order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["load-entries"];
        put?: never;
        /**
         * Append entries; creates the thread if it does not exist
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `expected_rev`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The caller needs the right `write`.
         */
        post: operations["append-entries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/entries/{entry}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one entry by its id
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["get-entry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/entries/{entry}/bytes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bytes of an entry as they were written
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The answer has the `Content-Type` that was written, and application/octet-stream if there was none. The caller needs the right `read`.
         */
        get: operations["get-entry-bytes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a thread; the fork shares its entries
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs all of these rights: write, read.
         */
        post: operations["fork-thread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/ttl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set when a thread expires
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        put: operations["set-thread-ttl"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recompute the chain against the stored head
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `read`.
         */
        get: operations["verify-thread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{id}/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events: a thread's entries as they come
         * @description While nothing happens, the stream has a comment every 15 s. An event of kind `problem` ends it. To resume, send the id of the last event as `Last-Event-ID`. The caller needs the right `read`.
         */
        get: operations["watch-thread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens, without their secrets
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `tokens:change`.
         */
        get: operations["list-tokens"];
        put?: never;
        /**
         * Create a token; its secret is shown once
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `tokens:change`.
         */
        post: operations["create-token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a token, without its secret
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The caller needs the right `tokens:change`.
         */
        get: operations["get-token"];
        put?: never;
        post?: never;
        /**
         * Revoke a token, as of the index of the answer
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `tokens:change`.
         */
        delete: operations["revoke-token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List values in key order
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. Pass `next` of a page as `after` of the following one; it is null at the end. The caller needs the right `read`.
         */
        get: operations["list-values"];
        put?: never;
        post?: never;
        /**
         * Delete all values whose key begins with a prefix, as of one index
         * @description It answers 200 with the receipt if all rows are removed. Otherwise it answers 202, and the cluster removes the rest: `Location` is the receipt's path. No read returns them in either case. The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. The caller needs the right `write`.
         */
        delete: operations["delete-values"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/values/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a value as it was written
         * @description The read is linearizable. `stale=true` reads this node's own state, which may be older. The answer has the `Content-Type` that was written, and application/octet-stream if there was none. The caller needs the right `read`.
         */
        get: operations["get-value"];
        /**
         * Write a value: the body, byte for byte, with its type
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. It answers 201 and `Location` if it creates something, else 200. The body is kept byte for byte, with its `Content-Type`, which may be any. The caller needs the right `write`.
         */
        put: operations["put-value"];
        post?: never;
        /**
         * Delete a value
         * @description The write applies whole or not at all. `Dormouse-Index` is the index of its log entry. Deleting what does not exist succeeds too. A retry with the same `Idempotency-Key` gets the first answer, for 24 hours. With `Dormouse-Fence`, it applies only while the claim is at that epoch. `If-Match` (or `if_revision`) names the revision at which it applies. The caller needs the right `write`.
         */
        delete: operations["delete-value"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's principal and grants
         * @description The answer is what this node knows.
         */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AckTimerOp: {
            /** Format: int64 */
            generation: number;
            /**
             * Format: int64
             * @description The pending occurrence
             */
            instant: number;
            key: string;
            manager: string;
            /**
             * Format: int64
             * @description The next one; the timer ends if absent
             */
            next?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "ack_timer";
            timer: string;
        };
        AckTimerResult: {
            /** @enum {string} */
            op: "ack_timer";
        } & components["schemas"]["Timer"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "ack_timer";
        };
        Addresses: {
            gossip?: string;
            grpc?: string;
            http?: string;
            raft?: string;
        };
        Answer: components["schemas"]["CheckpointHistoryAnswer"] | components["schemas"]["GetCheckpointAnswer"] | components["schemas"]["GetClaimAnswer"] | components["schemas"]["GetConversationAnswer"] | components["schemas"]["GetDeletionAnswer"] | components["schemas"]["GetEntryAnswer"] | components["schemas"]["GetErasureAnswer"] | components["schemas"]["GetManagerAnswer"] | components["schemas"]["GetMemoryAnswer"] | components["schemas"]["GetReviewAnswer"] | components["schemas"]["GetScopeAnswer"] | components["schemas"]["GetSessionAnswer"] | components["schemas"]["GetThreadAnswer"] | components["schemas"]["GetTimerAnswer"] | components["schemas"]["GetTokenAnswer"] | components["schemas"]["GetValueAnswer"] | components["schemas"]["ListCheckpointsAnswer"] | components["schemas"]["ListClaimsAnswer"] | components["schemas"]["ListConversationsAnswer"] | components["schemas"]["ListDeletionsAnswer"] | components["schemas"]["ListManagersAnswer"] | components["schemas"]["ListMemoriesAnswer"] | components["schemas"]["ListMessagesAnswer"] | components["schemas"]["ListReviewsAnswer"] | components["schemas"]["ListScopesAnswer"] | components["schemas"]["ListSessionsAnswer"] | components["schemas"]["ListThreadsAnswer"] | components["schemas"]["ListTimersAnswer"] | components["schemas"]["ListTokensAnswer"] | components["schemas"]["ListValuesAnswer"] | components["schemas"]["LoadEntriesAnswer"] | components["schemas"]["RecallAnswer"] | components["schemas"]["ThawAnswer"] | components["schemas"]["VerifyThreadAnswer"];
        Answered: {
            /** @description One for each read, in order */
            answers: components["schemas"]["Answer"][];
            /**
             * Format: int64
             * @description The log index of all answers
             */
            index: number;
        };
        AppendBody: {
            /** @description The thread must not exist */
            create_only?: boolean | null;
            /** @description A single entry may be given in place of the list */
            entries?: components["schemas"]["Draft"][] | null;
            /** @description Apply only at this head, in hex */
            expected_head?: string | null;
            /**
             * Format: int64
             * @description Apply only at this rev; a missing thread is at 0
             */
            expected_rev?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description Applied while the rev is 0 */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description skip keeps an entry whose id exists, also one with other content; refuse if absent
             * @enum {string|null}
             */
            on_exists?: "refuse" | "skip" | null;
        };
        AppendThreadOp: {
            /** @description The thread must not exist */
            create_only?: boolean | null;
            /** @description A single entry may be given in place of the list */
            entries?: components["schemas"]["Draft"][] | null;
            /** @description Apply only at this head, in hex */
            expected_head?: string | null;
            /**
             * Format: int64
             * @description Apply only at this rev; a missing thread is at 0
             */
            expected_rev?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description Applied while the rev is 0 */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description skip keeps an entry whose id exists, also one with other content; refuse if absent
             * @enum {string|null}
             */
            on_exists?: "refuse" | "skip" | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "append_thread";
            thread: string;
        };
        AppendThreadResult: {
            /** @enum {string} */
            op: "append_thread";
        } & components["schemas"]["ResultThread"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "append_thread";
        };
        AttachBody: {
            /** @description Attachment id; generated if absent */
            attachment?: string | null;
            /**
             * Format: int64
             * @description The attachment expires unless it is touched within this time; the manager's if absent
             */
            ttl_ms?: number | null;
        };
        Attached: {
            attachment: string;
            /** Format: int64 */
            attachments: number;
            /**
             * Format: int64
             * @description …and the epoch of that ownership
             */
            epoch: number;
            /** Format: int64 */
            expires_at: number;
            /**
             * Format: int64
             * @description When it hibernates unless it is used, Unix ms; 0 if no idle timeout runs: it is attached, busy or dormant, or its manager has none
             */
            idle_at: number;
            key: string;
            /**
             * Format: int64
             * @description Calls that wait for it
             */
            mailbox: number;
            manager: string;
            /** @description The owner of its partition */
            node: string;
            /** Format: int64 */
            partition: number;
            /**
             * Format: int64
             * @description Of its checkpoint; 0 without one
             */
            revision: number;
            /**
             * @description Of a start: where the instance came from
             * @enum {string}
             */
            source?: "awake" | "thawed" | "fresh";
            /** @enum {string} */
            status: "dormant" | "waking" | "awake" | "draining";
            thread: components["schemas"]["InstanceThread"];
        };
        AttachmentBody: {
            attachment?: string | null;
        };
        AuditRecords: {
            /**
             * Format: int64
             * @description The before of the next page; null after the last one
             */
            next: number | null;
            /** @description The answering node: each node has a log of its own */
            node: string;
            /** @description As dormctl audit tail -o json prints them */
            records: {
                [key: string]: unknown;
            }[];
        };
        Backup: {
            /**
             * Format: int64
             * @description As stored
             */
            bytes: number;
            encrypted: boolean;
            /**
             * Format: int64
             * @description The last log entry in it
             */
            index: number;
            /** @description The public key of the one that signed it */
            key: string;
            name: string;
            /** @description The node that took it */
            node: string;
            /** Format: int64 */
            started_at: number;
            /** Format: int64 */
            state_bytes: number;
            /** @description SHA-256 over all rows */
            state_hash: string;
            /** Format: int64 */
            term: number;
            /**
             * Format: int64
             * @description The time of the log at that entry
             */
            time: number;
            /**
             * Format: int64
             * @description When the node had restored it again, and compared the state
             */
            verified_at: number;
        };
        Backups: {
            /** @description The oldest first */
            backups: components["schemas"]["Backup"][];
            /** @description Backups with a manifest that cannot be trusted, with the reasons */
            damages: string[];
            /**
             * Format: int64
             * @description Of the shipped log
             */
            segments: number;
            status: components["schemas"]["BackupStatus"];
            /** Format: int64 */
            stored_bytes: number;
            /**
             * Format: int64
             * @description Backups that are under way or were interrupted
             */
            unfinished: number;
        };
        BackupStatus: {
            encrypted: boolean;
            /**
             * Format: int64
             * @description How often the shipped log lost entries, since the leader's process leads
             */
            gaps: number;
            last_error?: string;
            /** Format: int64 */
            last_error_at?: number;
            /** Format: int64 */
            last_index?: number;
            /** @description The newest whole backup */
            last_name?: string;
            /**
             * Format: int64
             * @description When it was verified
             */
            last_success_at?: number;
            /** @description Why the log is not shipped now */
            log_error?: string;
            /**
             * Format: int64
             * @description When the next backup is due
             */
            next?: number;
            /** @description The node that answers: the leader */
            node: string;
            /** @description Of the backup under way: writes or verifies */
            phase?: string;
            /** @description Of the key that signs backups */
            public_key: string;
            /**
             * Format: int64
             * @description The time of the log at that entry
             */
            shipped_time?: number;
            /**
             * Format: int64
             * @description The last log entry that was shipped
             */
            shipped_to?: number;
            /** @description The log is shipped, for recovery to a point in time */
            ships_log: boolean;
            /** @description The destination */
            url: string;
        };
        Calls: {
            /** @description The number of calls in each step; at most 360 steps */
            calls: number[];
            /** @description The median of their durations, in microseconds; 0 without calls */
            p50_us: number[];
            /** @description The 99th percentile of their durations */
            p99_us: number[];
        };
        CancelSessionBody: {
            /**
             * Format: int64
             * @description Apply only at this revision
             */
            if_revision?: number | null;
            lease_id?: string | null;
            owner_id?: string | null;
            /** @description Stored as the session's error */
            reason?: unknown;
        };
        CancelSessionOp: {
            /**
             * Format: int64
             * @description Apply only at this revision
             */
            if_revision?: number | null;
            lease_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "cancel_session";
            owner_id?: string | null;
            /** @description Stored as the session's error */
            reason?: unknown;
            session: string;
        };
        CancelSessionResult: {
            /** @enum {string} */
            op: "cancel_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "cancel_session";
        };
        Change: {
            agent?: string;
            /** @description What was written, as its own call answers, if the watch includes bodies and nothing has replaced it */
            body?: components["schemas"]["Value"] | components["schemas"]["Checkpoint"] | components["schemas"]["Thread"] | components["schemas"]["Memory"];
            conversation?: string;
            deleted?: boolean;
            /** Format: int64 */
            epoch?: number;
            /** Format: int64 */
            index: number;
            instance?: string;
            key: string;
            kind: string;
            manager?: string;
            /** Format: int64 */
            ordinal: number;
            principal?: string;
            /** Format: int64 */
            rev?: number;
            /** Format: int64 */
            revision?: number;
            status?: string;
            /** Format: int64 */
            time: number;
        };
        ChangeBody: {
            /** @description The node's id; transfer takes any node if absent */
            node?: string | null;
        };
        Changed: {
            /** @description After the change */
            leader: string;
        };
        Checkpoint: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            lifecycle: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            revision: number;
            state: {
                [key: string]: unknown;
            };
            thread: components["schemas"]["PointerBody"] | null;
            /** Format: int64 */
            updated_at: number;
            /** Format: int64 */
            version: number;
        };
        CheckpointBody: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            /**
             * @description Why it is saved
             * @enum {string|null}
             */
            lifecycle?: "completion" | "cancel" | "error" | "interrupt" | "title_generated" | "shutdown" | "idle" | "manual" | "fork" | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description skip keeps a checkpoint that exists; replace if absent
             * @enum {string|null}
             */
            on_exists?: "replace" | "skip" | null;
            /** @description The agent's state; the member __thread__ is dropped */
            state: {
                [key: string]: unknown;
            };
            /** @description Must match the thread at this commit */
            thread?: components["schemas"]["PointerBody"] | null;
            /**
             * Format: int64
             * @description Expires after this time, in log time
             */
            ttl_ms?: number | null;
            /**
             * Format: int64
             * @description The caller's schema version; 1 if absent
             */
            version?: number | null;
        };
        CheckpointHistoryAnswer: {
            /** @enum {string} */
            read: "checkpoint_history";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListCheckpointRow"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "checkpoint_history";
        };
        CheckpointHistoryRead: {
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "checkpoint_history";
        };
        CheckpointRow: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            expires_at?: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            lifecycle?: string;
            /** @description If the list is asked for bodies */
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            revision: number;
            /** @description If the list is asked for bodies */
            state?: {
                [key: string]: unknown;
            };
            thread?: components["schemas"]["PointerBody"];
            /** Format: int64 */
            updated_at: number;
        };
        CheckpointSessionBody: {
            lease_id?: string | null;
            owner_id?: string | null;
            /** @description Reviews to request now */
            reviews?: components["schemas"]["ReviewDraft"][] | null;
            snapshot: components["schemas"]["SnapshotBody"];
            /**
             * Format: int64
             * @description Of the lease from now on; the current one if absent
             */
            ttl_ms?: number | null;
        };
        CheckpointSessionOp: {
            lease_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "checkpoint_session";
            owner_id?: string | null;
            /** @description Reviews to request now */
            reviews?: components["schemas"]["ReviewDraft"][] | null;
            session: string;
            snapshot: components["schemas"]["SnapshotBody"];
            /**
             * Format: int64
             * @description Of the lease from now on; the current one if absent
             */
            ttl_ms?: number | null;
        };
        CheckpointSessionResult: {
            /** @enum {string} */
            op: "checkpoint_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "checkpoint_session";
        };
        CheckpointStamp: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            /** Format: int64 */
            revision: number;
            /** @description The checkpoint existed and was kept */
            skipped?: boolean;
            /** @description The stored pointer */
            thread?: components["schemas"]["PointerBody"];
            /** Format: int64 */
            updated_at: number;
        };
        Claim: {
            /**
             * Format: int64
             * @description When this holding began
             */
            claimed_at?: number;
            /**
             * Format: int64
             * @description Of this holding, for Dormouse-Fence; it only grows
             */
            epoch?: number;
            /**
             * Format: int64
             * @description Unless it is renewed; by log time, which stops while there is no leader
             */
            expires_at?: number;
            /** @description Absent, like the members after it, if the claim has no holder */
            holder?: string;
            name: string;
            /** Format: int64 */
            ttl_ms?: number;
        };
        ClaimSessionBody: {
            /**
             * Format: int64
             * @description Of the conversation that the request was based on
             */
            conversation_revision?: number | null;
            owner_id: string;
            /** @description The head of the queue if absent */
            request?: components["schemas"]["RequestBody"] | null;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        ClaimSessionOp: {
            /**
             * Format: int64
             * @description Of the conversation that the request was based on
             */
            conversation_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "claim_session";
            owner_id: string;
            /** @description The head of the queue if absent */
            request?: components["schemas"]["RequestBody"] | null;
            session: string;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        ClaimSessionResult: {
            /** @enum {string} */
            op: "claim_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "claim_session";
        };
        ClusterStatus: {
            /** Format: int64 */
            applied_index: number;
            /** @description Of the answering node: tokens, or off if it asks for no credentials */
            auth: string;
            /** @description Of the scheduled backups, by the leader; absent if there are none, or if it does not answer */
            backup?: components["schemas"]["BackupStatus"];
            /** @description Over all batches up to applied_index, in hex: equal on equal nodes */
            chain: string;
            cluster_id: string;
            /** Format: int64 */
            commit_index: number;
            /** Format: int32 */
            feature_level: number;
            /** @description The answering node was started with --insecure */
            insecure: boolean;
            /** @description Empty if none is known */
            leader: string;
            members: components["schemas"]["Member"][];
            /** @description The answering node */
            node: string;
            /** Format: int64 */
            term: number;
            version: string;
        };
        CommitBody: {
            /** @description Apply only while the epoch is the claim's newest */
            fence?: components["schemas"]["FenceBody"] | null;
            /** @description Applied in order, all or none */
            ops: components["schemas"]["Op"][];
        };
        CommitSessionOp: {
            /** @description The session's if absent */
            agent_id?: string | null;
            /** @description The current one if absent */
            conversation?: components["schemas"]["Conversation"] | null;
            /** @description The current one if absent */
            environment?: {
                [key: string]: unknown;
            } | null;
            error?: unknown;
            lease_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "commit_session";
            owner_id?: string | null;
            /** @description The turn's if absent */
            request_id?: string | null;
            result?: unknown;
            /** @description The reviews that the session waits for */
            reviews?: components["schemas"]["ReviewDraft"][] | null;
            session: string;
            snapshots?: components["schemas"]["SnapshotBody"][] | null;
            /** @description finished, error, cancelled, hibernated or waiting */
            status: string;
        };
        CommitSessionResult: {
            /** @enum {string} */
            op: "commit_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "commit_session";
        };
        Committed: {
            /**
             * Format: int64
             * @description The log index of the commit
             */
            index: number;
            /** @description One for each op, in order */
            results: components["schemas"]["Result"][];
            /**
             * Format: int64
             * @description Unix ms, log time
             */
            time: number;
        };
        CompactBody: {
            /** Format: int64 */
            before_seq: number;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description An entry payload kept at the floor */
            summary?: {
                [key: string]: unknown;
            } | null;
        };
        Compacted: {
            /** Format: int64 */
            floor: number;
            head: string;
            /** Format: int64 */
            rev: number;
        };
        CompactThreadOp: {
            /** Format: int64 */
            before_seq: number;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "compact_thread";
            /** @description An entry payload kept at the floor */
            summary?: {
                [key: string]: unknown;
            } | null;
            thread: string;
        };
        CompactThreadResult: {
            /** @enum {string} */
            op: "compact_thread";
        } & components["schemas"]["ResultThread"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "compact_thread";
        };
        Conversation: {
            agent_state?: {
                [key: string]: unknown;
            } | null;
            context_state?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description Grows by one with each turn that continues the conversation
             */
            continuation_revision?: number | null;
            last_completed_request_id?: string | null;
            /** Format: int64 */
            turn_count?: number | null;
        };
        ConversationChange: {
            conversation: components["schemas"]["ConversationRow"];
            /** @description Of messages: where each one was stored */
            messages?: components["schemas"]["EntryStamp"][] | null;
            /**
             * Format: int64
             * @description Of a pending message: its number
             */
            pending?: number;
        };
        ConversationRow: {
            agent_id?: string;
            /**
             * Format: int64
             * @description Pending messages up to this number are part of the state
             */
            consumed: number;
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            interrupted: boolean;
            lifecycle?: string;
            /** Format: int64 */
            message_count: number;
            owner_id?: string;
            /** Format: int64 */
            pending_count: number;
            /**
             * Format: int64
             * @description Counts the saves of the state; 0 before the first one
             */
            revision: number;
            /** Format: int64 */
            saved_at?: number;
            title?: string;
            /** Format: int64 */
            updated_at: number;
            /**
             * Format: int64
             * @description Of the state's format, as the state declares
             */
            version?: number;
        };
        CreatedToken: {
            /** Format: int64 */
            created_at: number;
            /** @description The principal that created it */
            created_by?: string;
            /**
             * Format: int64
             * @description Absent if it never expires
             */
            expires_at?: number;
            grants: components["schemas"]["Grant"][];
            id: string;
            /**
             * Format: int64
             * @description When the answering node last saw it, to the minute; absent if not since that node started
             */
            last_used?: number;
            principal: string;
            /** @description Shown once: the store keeps only its hash. Absent if the request had a hash */
            secret?: string;
        };
        Cursor: {
            /** Format: int64 */
            loop_index?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description start, after_prompt, before_effect, review, wait */
            phase?: string | null;
        };
        DecideBody: {
            /** @description Of an edit */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description Who decides */
            by: string;
            /** @description approve, deny, or edit: approve with other arguments */
            decision: string;
            /** @description Refuse the decision if the review has another one */
            interrupt_id?: string | null;
            note?: string | null;
        };
        DecideReviewOp: {
            /** @description Of an edit */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description Who decides */
            by: string;
            /** @description approve, deny, or edit: approve with other arguments */
            decision: string;
            /** @description Refuse the decision if the review has another one */
            interrupt_id?: string | null;
            note?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "decide_review";
            review: string;
        };
        DecideReviewResult: {
            /** @enum {string} */
            op: "decide_review";
        } & components["schemas"]["Review"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "decide_review";
        };
        DefaultPolicyBody: {
            /**
             * Format: int64
             * @description Names with a checkpoint, memories, sessions or conversations; 0 means no limit
             */
            agents_max?: number | null;
            /**
             * Format: int64
             * @description Instances awake at once in one process; 0 means no limit
             */
            awake_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            bytes_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of requests and answers on each node; 0 means no limit
             */
            bytes_per_second?: number | null;
            /**
             * Format: int64
             * @description Minimum number of changes that the scope's feed keeps; 0 means 100,000
             */
            changes_max?: number | null;
            /**
             * Format: int64
             * @description Entries of all threads; 0 means no limit
             */
            entries_max?: number | null;
            /**
             * Format: int64
             * @description Checkpoints kept per key, including the current one; 0 means 4
             */
            history?: number | null;
            /**
             * Format: int64
             * @description How long a checkpoint is kept after it was replaced; 0 means no limit
             */
            history_age_ms?: number | null;
            /** @description Refuse the change as conflict unless this is the default policy */
            if_policy?: components["schemas"]["PolicyBody"] | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            keys_max?: number | null;
            /**
             * Format: int64
             * @description Number of memories of one agent; 0 means 100,000
             */
            memories_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of all memories of one agent; 0 means 256 MiB
             */
            memory_bytes_max?: number | null;
            /**
             * Format: int64
             * @description On each node; 0 means no limit
             */
            requests_per_second?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            threads_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            timers_max?: number | null;
            /**
             * Format: int64
             * @description Watches at once on each node; 0 means no limit
             */
            watches_max?: number | null;
        };
        DeleteCheckpointOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_checkpoint";
            /** Format: int64 */
            seal_ms?: number | null;
        };
        DeleteCheckpointResult: {
            /** @enum {string} */
            op: "delete_checkpoint";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_checkpoint";
        };
        DeleteConversationOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_conversation";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /** Format: int64 */
            seal_ms?: number | null;
        };
        DeleteConversationResult: {
            /** @enum {string} */
            op: "delete_conversation";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_conversation";
        };
        Deleted: {
            existed: boolean;
            /** Format: int64 */
            incarnation?: number;
        };
        DeleteManagerOp: {
            /** Format: int64 */
            if_revision?: number | null;
            name: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_manager";
        };
        DeleteManagerResult: {
            /** @enum {string} */
            op: "delete_manager";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_manager";
        };
        DeleteMemoryOp: {
            agent_id: string;
            id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_memory";
            /** Format: int64 */
            seal_ms?: number | null;
        };
        DeleteMemoryResult: {
            /** @enum {string} */
            op: "delete_memory";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_memory";
        };
        DeletePrefixOp: {
            /** @description Instead of a prefix: delete all of the kind */
            all?: boolean | null;
            /** @enum {string} */
            kind: "values" | "checkpoints" | "threads";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_prefix";
            /** @description All whose key begins with it are deleted */
            prefix?: string | null;
        };
        DeletePrefixResult: {
            /** @enum {string} */
            op: "delete_prefix";
        } & components["schemas"]["PrefixDeletion"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_prefix";
        };
        DeleteScopeOp: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_scope";
        };
        DeleteScopeResult: {
            /** @enum {string} */
            op: "delete_scope";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_scope";
        };
        DeleteSessionOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_session";
            /** Format: int64 */
            seal_ms?: number | null;
            session: string;
        };
        DeleteSessionResult: {
            /** @enum {string} */
            op: "delete_session";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_session";
        };
        DeleteThreadOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_thread";
            /** Format: int64 */
            seal_ms?: number | null;
            thread: string;
        };
        DeleteThreadResult: {
            /** @enum {string} */
            op: "delete_thread";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_thread";
        };
        DeleteTimerOp: {
            key: string;
            manager: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_timer";
            timer: string;
        };
        DeleteTimerResult: {
            /** @enum {string} */
            op: "delete_timer";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_timer";
        };
        DeleteValueOp: {
            /** @description Apply only if the stored bytes equal these */
            if_bytes?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_value";
            /** Format: int64 */
            seal_ms?: number | null;
        };
        DeleteValueResult: {
            /** @enum {string} */
            op: "delete_value";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "delete_value";
        };
        DescribeBody: {
            /** @description The current one if absent */
            content_type?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /** @description A merge patch (RFC 7396) */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        Draft: {
            /**
             * Format: int64
             * @description Unix ms; log time if absent
             */
            at?: number | null;
            /** @description Kept as they are, beside the payload; POST /v1/threads/{id}/bytes sends them without base64 */
            bytes?: string | null;
            /** @description Of bytes; application/octet-stream if absent */
            content_type?: string | null;
            /** @description Unique in the thread; generated if absent */
            id?: string | null;
            /** @description note if absent */
            kind?: string | null;
            payload?: {
                [key: string]: unknown;
            } | null;
            refs?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description Ignored, so that an entry can be sent as it was read: the thread numbers its entries
             */
            seq?: number | null;
        };
        EndTurnBody: {
            lease_id?: string | null;
            owner_id?: string | null;
            /** @description The reviews that the session waits for */
            reviews?: components["schemas"]["ReviewDraft"][] | null;
            session: components["schemas"]["TurnEnd"];
        };
        EnsureBody: {
            /** @description The initial state of this node if it is new, instead of the topology's */
            initial_state?: {
                [key: string]: unknown;
            } | null;
        };
        EnsuredNode: {
            node: components["schemas"]["Snapshot"];
            report: components["schemas"]["Reconciled"];
        };
        Entry: {
            /** Format: int64 */
            at: number;
            /** @description GET /v1/threads/{id}/entries/{entry}/bytes returns them without base64 */
            bytes?: string;
            /** @description Of bytes, if the entry has any */
            content_type?: string;
            id: string;
            kind: string;
            payload: {
                [key: string]: unknown;
            };
            refs: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            seq: number;
        };
        EntryPage: {
            /**
             * Format: int64
             * @description The first seq that is still stored
             */
            floor: number;
            head: string;
            /**
             * Format: int64
             * @description Of the thread, for a watch that begins where the page ends
             */
            incarnation: number;
            items: components["schemas"]["Entry"][];
            /**
             * Format: int64
             * @description The from of the next page; null at the end
             */
            next: number | null;
            /**
             * Format: int64
             * @description Of the thread, or at_rev if it was given
             */
            rev: number;
        };
        EntryStamp: {
            /** Format: int64 */
            at: number;
            id: string;
            /** Format: int64 */
            seq: number;
            /** @description An entry of that id existed and was kept: on_exists = skip */
            skipped?: boolean;
        };
        EraseAgentOp: {
            agent: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "erase_agent";
            /** Format: int64 */
            seal_ms?: number | null;
        };
        EraseAgentResult: {
            /** @enum {string} */
            op: "erase_agent";
        } & components["schemas"]["Erasure"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "erase_agent";
        };
        Erasure: {
            agent: string;
            /** Format: int64 */
            checkpoints: number;
            /**
             * Format: int64
             * @description Leases of the sessions
             */
            claims: number;
            /** @description All rows are removed, and the live instance has ended; until then the counts grow */
            complete: boolean;
            /** Format: int64 */
            completed_at?: number;
            /**
             * Format: int64
             * @description Absent if they were not searched and stay, because a node did not support it; erase the agent again then
             */
            conversations?: number;
            /**
             * Format: int64
             * @description Of the threads; those that a fork shares stay with the fork
             */
            entries: number;
            /** Format: int64 */
            erased_at: number;
            /** @description SHA-256 over all that was removed, in order */
            hash: string;
            /**
             * Format: int64
             * @description The log index of the erasure: from it on none of the agent's data can be read
             */
            index: number;
            /**
             * Format: int64
             * @description 1 if the agent is an instance, awake or dormant
             */
            instances: number;
            /**
             * Format: int64
             * @description Threads and checkpoints that stay, because another agent uses them too
             */
            kept: number;
            /** Format: int64 */
            memories: number;
            /** Format: int64 */
            reviews: number;
            /**
             * Format: int64
             * @description Of the checkpoints
             */
            revisions: number;
            /**
             * Format: int64
             * @description Writes to the agent are refused until then
             */
            sealed_until?: number;
            /** Format: int64 */
            sessions: number;
            /** Format: int64 */
            threads: number;
            /**
             * Format: int64
             * @description Of an instance, including those of its recurring jobs
             */
            timers: number;
        };
        Failure: {
            code: string;
            detail: string;
            stage: string;
        };
        FenceBody: {
            claim: string;
            /** Format: int64 */
            epoch: number;
        };
        File: {
            /** Format: int64 */
            bytes: number;
            content_type?: string;
            /** Format: int64 */
            expires_at?: number;
            /** Format: int64 */
            incarnation: number;
            metadata: {
                [key: string]: unknown;
            };
            path: string;
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            updated_at: number;
        };
        FileStamp: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            incarnation: number;
            path: string;
            /** Format: int64 */
            revision: number;
            /** @description The file existed and was kept */
            skipped?: boolean;
            /** Format: int64 */
            updated_at: number;
        };
        ForkAgentBody: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision of the checkpoint
             */
            if_revision?: number | null;
            /** @description Its key, which must be unused */
            new_agent: string;
            /** @description Its id in the fork */
            new_session?: string | null;
            /** @description Its thread's id; new_agent if absent */
            new_thread?: string | null;
            /**
             * Format: int64
             * @description Of the checkpoint: a kept revision; 0 means the current one
             */
            revision?: number | null;
            /** @description A session of the agent to copy, which must not be running */
            session?: string | null;
            /** @description If false, the agent's memories are copied, at most 4,096 */
            without_memory?: boolean | null;
        };
        ForkAgentOp: {
            agent: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision of the checkpoint
             */
            if_revision?: number | null;
            /** @description Its key, which must be unused */
            new_agent: string;
            /** @description Its id in the fork */
            new_session?: string | null;
            /** @description Its thread's id; new_agent if absent */
            new_thread?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_agent";
            /**
             * Format: int64
             * @description Of the checkpoint: a kept revision; 0 means the current one
             */
            revision?: number | null;
            /** @description A session of the agent to copy, which must not be running */
            session?: string | null;
            /** @description If false, the agent's memories are copied, at most 4,096 */
            without_memory?: boolean | null;
        };
        ForkAgentResult: {
            /** @enum {string} */
            op: "fork_agent";
        } & components["schemas"]["ForkedAgent"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_agent";
        };
        ForkBody: {
            /**
             * Format: int64
             * @description Share the entries below this rev; all if absent
             */
            at_rev?: number | null;
            /** @description Of the new thread */
            id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
        };
        Forked: {
            /** Format: int64 */
            index: number;
            key: string;
            /** Format: int64 */
            nodes: number;
        };
        ForkedAgent: {
            checkpoint: components["schemas"]["CheckpointStamp"];
            /**
             * Format: int64
             * @description Number of copied memories
             */
            memories: number;
            session?: components["schemas"]["SessionRow"];
            /** @description null if the agent has none */
            thread: components["schemas"]["Thread"] | null;
        };
        ForkPodBody: {
            /** @description Of the new pod, of the same manager */
            key: string;
        };
        ForkPoint: {
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** Format: int64 */
            rev: number;
        };
        ForkSessionBody: {
            /** @description Of the new session */
            id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision
             */
            if_revision?: number | null;
            /** @description The snapshot to fork at; the newest if absent */
            snapshot_id?: string | null;
        };
        ForkSessionOp: {
            /** @description Of the new session */
            id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision
             */
            if_revision?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_session";
            session: string;
            /** @description The snapshot to fork at; the newest if absent */
            snapshot_id?: string | null;
        };
        ForkSessionResult: {
            /** @enum {string} */
            op: "fork_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_session";
        };
        ForkThreadOp: {
            /**
             * Format: int64
             * @description Share the entries below this rev; all if absent
             */
            at_rev?: number | null;
            /** @description Of the new thread */
            id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_thread";
            thread: string;
        };
        ForkThreadResult: {
            /** @enum {string} */
            op: "fork_thread";
        } & components["schemas"]["ResultThread"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "fork_thread";
        };
        GetCheckpointAnswer: {
            /** @enum {string} */
            read: "get_checkpoint";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Checkpoint"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_checkpoint";
        };
        GetCheckpointRead: {
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_checkpoint";
            /** Format: int64 */
            revision?: number | null;
        };
        GetClaimAnswer: {
            /** @enum {string} */
            read: "get_claim";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Claim"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_claim";
        };
        GetClaimRead: {
            claim: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_claim";
        };
        GetConversationAnswer: {
            /** @enum {string} */
            read: "get_conversation";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["SavedConversation"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_conversation";
        };
        GetConversationRead: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_conversation";
        };
        GetDeletionAnswer: {
            /** @enum {string} */
            read: "get_deletion";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["PrefixDeletion"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_deletion";
        };
        GetDeletionRead: {
            id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_deletion";
        };
        GetEntryAnswer: {
            /** @enum {string} */
            read: "get_entry";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Entry"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_entry";
        };
        GetEntryRead: {
            entry: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_entry";
            thread: string;
        };
        GetErasureAnswer: {
            /** @enum {string} */
            read: "get_erasure";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Erasure"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_erasure";
        };
        GetErasureRead: {
            agent: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_erasure";
        };
        GetManagerAnswer: {
            /** @enum {string} */
            read: "get_manager";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Manager"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_manager";
        };
        GetManagerRead: {
            name: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_manager";
        };
        GetMemoryAnswer: {
            /** @enum {string} */
            read: "get_memory";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Memory"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_memory";
        };
        GetMemoryRead: {
            agent_id: string;
            id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_memory";
        };
        GetReviewAnswer: {
            /** @enum {string} */
            read: "get_review";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Review"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_review";
        };
        GetReviewRead: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_review";
            review: string;
        };
        GetScopeAnswer: {
            /** @enum {string} */
            read: "get_scope";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Scope"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_scope";
        };
        GetScopeRead: {
            /** @description Read the policy of all scopes that have none of their own */
            default?: boolean | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_scope";
        };
        GetSessionAnswer: {
            /** @enum {string} */
            read: "get_session";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Session"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_session";
        };
        GetSessionRead: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_session";
            session: string;
        };
        GetThreadAnswer: {
            /** @enum {string} */
            read: "get_thread";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Thread"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_thread";
        };
        GetThreadRead: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_thread";
            thread: string;
        };
        GetTimerAnswer: {
            /** @enum {string} */
            read: "get_timer";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Timer"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_timer";
        };
        GetTimerRead: {
            key: string;
            manager: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_timer";
            timer: string;
        };
        GetTokenAnswer: {
            /** @enum {string} */
            read: "get_token";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Token"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_token";
        };
        GetTokenRead: {
            id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_token";
        };
        GetValueAnswer: {
            /** @enum {string} */
            read: "get_value";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Value"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_value";
        };
        GetValueRead: {
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "get_value";
        };
        GotPod: {
            created: boolean;
            key: string;
            manager: string;
            report: components["schemas"]["Reconciled"];
            /** Format: int64 */
            topology_version: number;
        };
        Grant: {
            /** @description Names of scopes, or prefixes such as team-*; * means all. Cluster verbs need none */
            scopes?: string[] | null;
            /** @description read, write, run, decide, admin; cluster:read, cluster:change, cluster:backup, scopes:policy, tokens:change */
            verbs: string[] | null;
        };
        Handler: {
            /** @description http: the configured key of the nodes that signs requests */
            key?: string | null;
            /** @enum {string} */
            kind: "document" | "go" | "http";
            /** @description go: the name under which the embedding program registered it */
            name?: string | null;
            /** @description http: the URL to post signals to; its host must be in the nodes' instances.http_allow */
            url?: string | null;
        };
        Health: {
            status: string;
        };
        HibernateBody: {
            /**
             * Format: int64
             * @description Apply only at this revision of the checkpoint; 0 means that it must not exist
             */
            if_revision?: number | null;
            /**
             * @description Why it is saved
             * @enum {string|null}
             */
            lifecycle?: "completion" | "cancel" | "error" | "interrupt" | "title_generated" | "shutdown" | "idle" | "manual" | "fork" | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The agent's state; the member __thread__ is dropped */
            state: {
                [key: string]: unknown;
            };
            thread?: components["schemas"]["HibernateTail"] | null;
            /**
             * Format: int64
             * @description The caller's schema version; 1 if absent
             */
            version?: number | null;
        };
        Hibernated: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            incarnation: number;
            /** @description The thread afterwards, and where its entries were stored */
            journal?: components["schemas"]["ThreadStamp"];
            key: string;
            /** Format: int64 */
            revision: number;
            /** @description The checkpoint existed and was kept */
            skipped?: boolean;
            /** @description The stored pointer */
            thread?: components["schemas"]["PointerBody"];
            /** Format: int64 */
            updated_at: number;
        };
        HibernateTail: {
            /** @description Entries that the thread has must be equal; the others are appended */
            entries?: components["schemas"]["Draft"][] | null;
            /**
             * Format: int64
             * @description The seq of the first entry; rev minus the number of entries if absent
             */
            from_seq?: number | null;
            id: string;
            /** @description Applied while the thread's rev is 0 */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description The caller's rev; from_seq plus the number of entries if absent
             */
            rev?: number | null;
        };
        HibernateThreadOp: {
            /** @description Entries that the thread has must be equal; the others are appended */
            entries?: components["schemas"]["Draft"][] | null;
            /**
             * Format: int64
             * @description The seq of the first entry; rev minus the number of entries if absent
             */
            from_seq?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description Applied while the thread's rev is 0 */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "hibernate_thread";
            /**
             * Format: int64
             * @description The caller's rev; from_seq plus the number of entries if absent
             */
            rev?: number | null;
            thread: string;
        };
        HibernateThreadResult: {
            /** @enum {string} */
            op: "hibernate_thread";
        } & components["schemas"]["ResultThread"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "hibernate_thread";
        };
        History: {
            /**
             * Format: int64
             * @description When the first step began, Unix ms. All nodes divide the time alike
             */
            from: number;
            /** @description The answering node */
            node: string;
            /** @description Reads by this node's servers */
            reads: components["schemas"]["Calls"];
            /** @description Signals of instances by this node's servers */
            signals: components["schemas"]["Calls"];
            /** Format: int64 */
            step_ms: number;
            /** @description Commits by this node's servers */
            writes: components["schemas"]["Calls"];
        };
        IndexMetadataOp: {
            /** @description Members of metadata by which values, checkpoints and sessions are listed; replaces the keys declared before */
            keys: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "index_metadata";
        };
        IndexMetadataResult: {
            /** @enum {string} */
            op: "index_metadata";
        } & components["schemas"]["Scope"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "index_metadata";
        };
        Instance: {
            /** Format: int64 */
            attachments: number;
            /**
             * Format: int64
             * @description …and the epoch of that ownership
             */
            epoch: number;
            /**
             * Format: int64
             * @description When it hibernates unless it is used, Unix ms; 0 if no idle timeout runs: it is attached, busy or dormant, or its manager has none
             */
            idle_at: number;
            key: string;
            /**
             * Format: int64
             * @description Calls that wait for it
             */
            mailbox: number;
            manager: string;
            /** @description The owner of its partition */
            node: string;
            /** Format: int64 */
            partition: number;
            /**
             * Format: int64
             * @description Of its checkpoint; 0 without one
             */
            revision: number;
            /**
             * @description Of a start: where the instance came from
             * @enum {string}
             */
            source?: "awake" | "thawed" | "fresh";
            /** @enum {string} */
            status: "dormant" | "waking" | "awake" | "draining";
            thread: components["schemas"]["InstanceThread"];
        };
        InstanceChange: {
            /** Format: int64 */
            at: number;
            /** Format: int64 */
            epoch: number;
            key: string;
            manager: string;
            node: string;
            reason: string;
            status: string;
        };
        InstancesMissed: {
            node?: string;
            reason: string;
        };
        InstanceThread: {
            id: string;
            /** Format: int64 */
            rev: number;
        };
        InterruptedBody: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            interrupted: boolean;
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        JoinToken: {
            /** Format: int64 */
            expires_at: number;
            token: string;
        };
        JoinTokenBody: {
            /**
             * Format: int64
             * @description How long the token is valid, at most 30 days; an hour if absent
             */
            ttl_ms?: number | null;
        };
        KindSum: {
            /**
             * Format: int64
             * @description Of keys and values, before compression
             */
            bytes: number;
            /** @description xxHash64 of the rows, in hex: equal on all nodes at one index */
            hash: string;
            /** @description Such as thread or entry */
            kind: string;
            /** Format: int64 */
            rows: number;
        };
        Lease: {
            /** Format: int64 */
            acquired_at: number;
            /**
             * Format: int64
             * @description For Dormouse-Fence, with the claim session:{id}
             */
            epoch: number;
            /**
             * Format: int64
             * @description Unless it is renewed; by log time, which stops while there is no leader
             */
            expires_at: number;
            lease_id: string;
            owner_id: string;
            request_id?: string;
        };
        Lineage: {
            /** Format: int64 */
            incarnation: number;
            /** Format: int64 */
            revision: number;
            session_id: string;
            snapshot_id?: string;
        };
        ListCheckpointRow: {
            items: components["schemas"]["CheckpointRow"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListCheckpointsAnswer: {
            /** @enum {string} */
            read: "list_checkpoints";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListCheckpointRow"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_checkpoints";
        };
        ListCheckpointsRead: {
            after?: string | null;
            /** @description With the body of each */
            body?: boolean | null;
            /** Format: int64 */
            limit?: number | null;
            /** @description Only those whose metadata has these members; the scope must have declared the keys */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_checkpoints";
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        ListClaim: {
            items: components["schemas"]["Claim"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListClaimsAnswer: {
            /** @enum {string} */
            read: "list_claims";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListClaim"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_claims";
        };
        ListClaimsRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_claims";
        };
        ListConversationRow: {
            items: components["schemas"]["ConversationRow"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListConversationsAnswer: {
            /** @enum {string} */
            read: "list_conversations";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListConversationRow"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_conversations";
        };
        ListConversationsRead: {
            after?: string | null;
            agent_id?: string | null;
            /** @description This, agent_id, or owner_id */
            interrupted?: boolean | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            owner_id?: string | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_conversations";
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        ListDeletionsAnswer: {
            /** @enum {string} */
            read: "list_deletions";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListPrefixDeletion"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_deletions";
        };
        ListDeletionsRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_deletions";
        };
        ListFile: {
            items: components["schemas"]["File"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListManager: {
            items: components["schemas"]["Manager"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListManagersAnswer: {
            /** @enum {string} */
            read: "list_managers";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListManager"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_managers";
        };
        ListManagersRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_managers";
        };
        ListMemoriesAnswer: {
            /** @enum {string} */
            read: "list_memories";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListMemory"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_memories";
        };
        ListMemoriesRead: {
            after?: string | null;
            /** @description If absent, the memories of all agents, oldest write first */
            agent_id?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_memories";
        };
        ListMemory: {
            items: components["schemas"]["Memory"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListMessagesAnswer: {
            /** @enum {string} */
            read: "list_messages";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["MessagePage"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_messages";
        };
        ListMessagesRead: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            from?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            limit?: number | null;
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_messages";
            /** Format: int64 */
            tail?: number | null;
        };
        ListPrefixDeletion: {
            items: components["schemas"]["PrefixDeletion"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListReview: {
            items: components["schemas"]["Review"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListReviewsAnswer: {
            /** @enum {string} */
            read: "list_reviews";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListReview"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_reviews";
        };
        ListReviewsRead: {
            after?: string | null;
            assignee?: string | null;
            /** Format: int64 */
            before?: number | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_reviews";
            session?: string | null;
            /** @description pending if absent; any for one session */
            status?: string | null;
        };
        ListScope: {
            items: components["schemas"]["Scope"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListScopesAnswer: {
            /** @enum {string} */
            read: "list_scopes";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListScope"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_scopes";
        };
        ListScopesRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_scopes";
        };
        ListSessionRow: {
            items: components["schemas"]["SessionRow"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListSessionsAnswer: {
            /** @enum {string} */
            read: "list_sessions";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListSessionRow"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_sessions";
        };
        ListSessionsRead: {
            after?: string | null;
            agent_id?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /** @description Only those whose metadata has these members; the scope must have declared the keys */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            owner_id?: string | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_sessions";
            recoverable?: boolean | null;
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            status?: string | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        ListThread: {
            items: components["schemas"]["Thread"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListThreadsAnswer: {
            /** @enum {string} */
            read: "list_threads";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListThread"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_threads";
        };
        ListThreadsRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_threads";
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        ListTimer: {
            items: components["schemas"]["Timer"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListTimersAnswer: {
            /** @enum {string} */
            read: "list_timers";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListTimer"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_timers";
        };
        ListTimersRead: {
            after?: string | null;
            /** @description All instances if absent */
            key?: string | null;
            /** Format: int64 */
            limit?: number | null;
            manager: string;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_timers";
        };
        ListToken: {
            items: components["schemas"]["Token"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListTokensAnswer: {
            /** @enum {string} */
            read: "list_tokens";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListToken"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_tokens";
        };
        ListTokensRead: {
            after?: string | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_tokens";
        };
        ListValueRow: {
            items: components["schemas"]["ValueRow"][];
            /** @description Pass it as after; null at the end */
            next: string | null;
        };
        ListValuesAnswer: {
            /** @enum {string} */
            read: "list_values";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["ListValueRow"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_values";
        };
        ListValuesRead: {
            after?: string | null;
            /** @description With the body of each */
            body?: boolean | null;
            /** Format: int64 */
            limit?: number | null;
            /** @description Only those whose metadata has these members; the scope must have declared the keys */
            metadata?: {
                [key: string]: string;
            } | null;
            /**
             * @description asc if absent; after is the next value of the previous page in both
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            prefix?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "list_values";
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        LoadEntriesAnswer: {
            /** @enum {string} */
            read: "load_entries";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["EntryPage"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "load_entries";
        };
        LoadEntriesRead: {
            /** Format: int64 */
            at_rev?: number | null;
            /** Format: int64 */
            from?: number | null;
            kinds?: string[] | null;
            /** Format: int64 */
            limit?: number | null;
            /**
             * @description asc if absent; in desc, next is the to of the next page
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "load_entries";
            /**
             * Format: int64
             * @description Unix ms: this time or later. A page may be empty although it has a next
             */
            since?: number | null;
            /** Format: int64 */
            tail?: number | null;
            thread: string;
            /** Format: int64 */
            to?: number | null;
            /**
             * Format: int64
             * @description Unix ms: earlier than this time
             */
            until?: number | null;
        };
        Manager: {
            /** Format: int64 */
            attach_ttl_ms: number;
            /** Format: int64 */
            awake_max?: number;
            /** Format: int64 */
            created_at: number;
            durability: string;
            handler: components["schemas"]["Handler"];
            /** Format: int64 */
            idle_timeout_ms: number;
            /** Format: int64 */
            incarnation: number;
            /** Format: int64 */
            mailbox_max: number;
            metadata: {
                [key: string]: unknown;
            };
            name: string;
            /** Format: int64 */
            revision: number;
            schedules?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            signal_ttl_ms: number;
            skips_persist?: string[] | null;
            storage: string;
            /** @description null: once the instance has a thread */
            track: boolean | null;
            /** Format: int64 */
            updated_at: number;
            /** Format: int64 */
            version: number;
        };
        ManagerBody: {
            /**
             * Format: int64
             * @description An attachment expires after this long without a touch; 60,000 if absent
             */
            attach_ttl_ms?: number | null;
            /**
             * Format: int64
             * @description Instances awake on one node, past which the least recently used hibernate; no limit per manager if absent
             */
            awake_max?: number | null;
            /**
             * @description When a signal's effects are stored: before its reply, or at hibernation only; turn if absent
             * @enum {string|null}
             */
            durability?: "turn" | "idle" | null;
            handler: components["schemas"]["Handler"];
            /**
             * Format: int64
             * @description An instance hibernates after this long without a signal or attachment; 0 means never
             */
            idle_timeout_ms?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            /**
             * Format: int64
             * @description Queued signals of one instance; 64 if absent
             */
            mailbox_max?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Recurring jobs of each instance, set when it wakes; they replace jobs of the same id in its checkpoint */
            schedules?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description Maximum time for handling one signal; 30,000 if absent
             */
            signal_ttl_ms?: number | null;
            /** @description Top-level fields of the state that are not stored */
            skips_persist?: string[] | null;
            /**
             * @description cluster if absent
             * @enum {string|null}
             */
            storage?: "cluster" | "none" | null;
            /** @description Each signal adds an instruction_start and an instruction_end entry to the thread, the latter with the status ok or error; if absent, signals of a Go or HTTP handler do once the instance has a thread */
            track?: boolean | null;
            /**
             * Format: int64
             * @description Of the state that the handler expects; 1 if absent
             */
            version?: number | null;
        };
        ManagerStats: {
            /** @description Empty for all */
            manager: string;
            nodes: components["schemas"]["NodeStats"][];
        };
        Member: {
            addresses: components["schemas"]["Addresses"];
            /**
             * Format: int64
             * @description 0 if the node did not answer
             */
            applied_index: number;
            /**
             * Format: int64
             * @description Bytes free under its data directory; 0 if the node did not answer, or stores no data
             */
            disk_free: number;
            /**
             * Format: int64
             * @description When an operator drained it, Unix ms; absent if it is not drained
             */
            drained_at?: number;
            /** @description It runs instances and stores no data */
            host?: boolean;
            id: string;
            incarnation: string;
            /**
             * Format: int64
             * @description When it last answered the answering node, Unix ms; 0 if it has not since that node started
             */
            last_contact: number;
            leader: boolean;
            /** @description alive, suspect, failed, left or unknown */
            status: string;
            version: string;
            voter: boolean;
            want_vote: boolean;
        };
        Memory: {
            agent_id: string;
            class: string;
            content: string;
            /** Format: int64 */
            created_at: number;
            data?: {
                [key: string]: unknown;
            };
            /** @description Only in a read of the memory by its id */
            embedding?: number[] | null;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            kind: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            observed_at: number;
            /** Format: int64 */
            revision: number;
            session_id?: string;
            source?: string;
            tags: string[];
            /** Format: int64 */
            updated_at: number;
        };
        MemoryBody: {
            /**
             * @description episodic if absent
             * @enum {string|null}
             */
            class?: "episodic" | "semantic" | "procedural" | "working" | null;
            /** @description Content or data is required */
            content?: string | null;
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description Must have as many dimensions as the agent's other memories */
            embedding?: number[] | null;
            /**
             * Format: int64
             * @description Never if absent
             */
            expires_at?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            /** @description Any string; event if absent */
            kind?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description When it happened; now if absent
             */
            observed_at?: number | null;
            /** @description None if absent */
            session_id?: string | null;
            source?: string | null;
            tags?: string[] | null;
            /**
             * Format: int64
             * @description Instead of expires_at: expire after this time, in log time
             */
            ttl_ms?: number | null;
        };
        MemoryStamp: {
            agent_id: string;
            /** Format: int64 */
            created_at: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            updated_at: number;
        };
        Message: {
            /** Format: int64 */
            at: number;
            content: {
                [key: string]: unknown;
            };
            id: string;
            /** Format: int64 */
            revision: number;
            role: string;
            /** Format: int64 */
            seq: number;
            status?: string;
            synthetic?: boolean;
            tool_call?: string;
            type: string;
            /** Format: int64 */
            updated_at: number;
        };
        MessageDraft: {
            content?: {
                [key: string]: unknown;
            } | null;
            /** @description Generated if absent */
            id?: string | null;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description Of a tool call: executing, completed, failed, interrupted or cancelled */
            status?: string | null;
            synthetic?: boolean | null;
            /** @description The id of the call that it shows; with role tool, of the call whose result it shows */
            tool_call?: string | null;
            /** @description Any string; text if absent */
            type?: string | null;
        };
        MessagePage: {
            conversation: components["schemas"]["ConversationRow"];
            items: components["schemas"]["Message"][];
            /**
             * Format: int64
             * @description Pass it as from; null at the end
             */
            next: number | null;
        };
        MessagesBody: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            messages: components["schemas"]["MessageDraft"][];
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        MessageUpdated: {
            found: boolean;
            message: components["schemas"]["EntryStamp"];
        };
        MoveBody: {
            /** @description The current one if absent */
            content_type?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            /** @description A merge patch (RFC 7396) */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The new path, which must not exist */
            to: string;
        };
        MovingPartition: {
            from: string;
            /** Format: int64 */
            partition: number;
            to?: string;
            why: string;
        };
        MutateBody: {
            /** @description [{add_node: {name, node, owner?, depends_on?}} | {remove_node: {name}}] */
            ops: unknown;
        };
        Mutated: {
            /** @description Lists were left out because they are too long: the pod's mutation has them */
            abridged?: boolean;
            added: string[] | null;
            failures: {
                [key: string]: components["schemas"]["Failure"];
            };
            mutation_id: string;
            removed: string[] | null;
            requested_ops?: unknown;
            /** @description Added nodes that are awake now */
            started: string[] | null;
            /** @enum {string} */
            status: "completed" | "failed";
            /** @description Removed nodes that are no longer awake */
            stopped: string[] | null;
            /** Format: int64 */
            topology_version: number;
        };
        NewThreadBody: {
            /** @description A single entry may be given in place of the list */
            entries?: components["schemas"]["Draft"][] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        NodeStats: {
            /** Format: int64 */
            attachments: number;
            /** Format: int64 */
            awake: number;
            /**
             * Format: int64
             * @description Handlers that panicked or hung
             */
            crashed: number;
            /** Format: int64 */
            draining: number;
            /** @description Why the node did not answer; then its counts are unknown */
            error?: string;
            /**
             * Format: int64
             * @description Failed hibernations
             */
            failed: number;
            /** Format: int64 */
            hibernated: number;
            /** @description Of awake instances, in key order; at most 1,000 */
            keys?: string[] | null;
            node: string;
            /**
             * Format: int64
             * @description Handled since the node started
             */
            signals: number;
            /** Format: int64 */
            wakes: number;
            /** Format: int64 */
            waking: number;
        };
        Op: components["schemas"]["AckTimerOp"] | components["schemas"]["AppendThreadOp"] | components["schemas"]["CancelSessionOp"] | components["schemas"]["CheckpointSessionOp"] | components["schemas"]["ClaimSessionOp"] | components["schemas"]["CommitSessionOp"] | components["schemas"]["CompactThreadOp"] | components["schemas"]["DecideReviewOp"] | components["schemas"]["DeleteCheckpointOp"] | components["schemas"]["DeleteConversationOp"] | components["schemas"]["DeleteManagerOp"] | components["schemas"]["DeleteMemoryOp"] | components["schemas"]["DeletePrefixOp"] | components["schemas"]["DeleteScopeOp"] | components["schemas"]["DeleteSessionOp"] | components["schemas"]["DeleteThreadOp"] | components["schemas"]["DeleteTimerOp"] | components["schemas"]["DeleteValueOp"] | components["schemas"]["EraseAgentOp"] | components["schemas"]["ForkAgentOp"] | components["schemas"]["ForkSessionOp"] | components["schemas"]["ForkThreadOp"] | components["schemas"]["HibernateThreadOp"] | components["schemas"]["IndexMetadataOp"] | components["schemas"]["PatchCheckpointOp"] | components["schemas"]["PatchCronOp"] | components["schemas"]["PendMessageOp"] | components["schemas"]["PutCheckpointOp"] | components["schemas"]["PutManagerOp"] | components["schemas"]["PutScopeOp"] | components["schemas"]["PutSessionOp"] | components["schemas"]["PutTimerOp"] | components["schemas"]["PutTokenOp"] | components["schemas"]["PutValueOp"] | components["schemas"]["RecoverSessionOp"] | components["schemas"]["ReleaseClaimOp"] | components["schemas"]["RenewClaimOp"] | components["schemas"]["RenewSessionOp"] | components["schemas"]["ResumeSessionOp"] | components["schemas"]["ReviseValueOp"] | components["schemas"]["RevokeTokenOp"] | components["schemas"]["SaveConversationOp"] | components["schemas"]["SaveMessagesOp"] | components["schemas"]["SetInterruptedOp"] | components["schemas"]["SetTTLOp"] | components["schemas"]["TakeClaimOp"] | components["schemas"]["UpdateMessageOp"] | components["schemas"]["WriteMemoryOp"];
        OpenPodBody: {
            /** @description Of a new pod; the slot of the pod is added to it */
            initial_state?: {
                [key: string]: unknown;
            } | null;
            /** @description Of a new pod: {name, nodes, links?, affinity?}; if absent, the member topology of its manager's metadata */
            topology?: {
                [key: string]: unknown;
            } | null;
        };
        Outcomes: {
            owner?: string;
            parent: components["schemas"]["Parent"];
            source: string;
        };
        Parent: {
            key: string;
            manager: string;
            node?: string;
        };
        PatchCheckpointOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "patch_checkpoint";
            patch: {
                [key: string]: unknown;
            };
            /** @description Members of the patch replace those of the state whole */
            shallow?: boolean | null;
            /** @description Patch a missing checkpoint as an empty one */
            upsert?: boolean | null;
        };
        PatchCheckpointResult: {
            /** @enum {string} */
            op: "patch_checkpoint";
        } & components["schemas"]["CheckpointStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "patch_checkpoint";
        };
        PatchCronOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "patch_cron";
            /** @description {job: {cron_expression, message, timezone?, missed?, catch_up?}}, or null to cancel */
            specs: {
                [key: string]: unknown;
            };
        };
        PatchCronResult: {
            /** @enum {string} */
            op: "patch_cron";
        } & components["schemas"]["CheckpointStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "patch_cron";
        };
        PendBody: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            message: {
                [key: string]: unknown;
            };
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        PendingMessage: {
            /** Format: int64 */
            at: number;
            message: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            number: number;
        };
        PendMessageOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            message: {
                [key: string]: unknown;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "pend_message";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        PendMessageResult: {
            /** @enum {string} */
            op: "pend_message";
        } & components["schemas"]["ConversationChange"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "pend_message";
        };
        PinBody: {
            /** @description The member's id */
            node: string;
        };
        Pinned: {
            /** @description The member that is to own it; empty if it has no pin */
            node: string;
            /** Format: int64 */
            partition: number;
        };
        PlacedNode: {
            /**
             * Format: int64
             * @description Partitions that drain for it
             */
            coming: number;
            /**
             * Format: int64
             * @description When an operator drained it, Unix ms; absent if it is not drained
             */
            drained_at?: number;
            /**
             * Format: int64
             * @description …of which are draining
             */
            draining: number;
            /** @description The Go handlers registered there */
            handlers?: string[] | null;
            /** @description It runs instances and stores no data */
            host?: boolean;
            /** @description It has a lease, and so may own partitions */
            leased: boolean;
            node: string;
            /**
             * Format: int64
             * @description Partitions, including draining ones
             */
            owned: number;
            /** Format: int64 */
            weight: number;
            zone?: string;
        };
        PlacementAnswer: {
            /** @description The nodes with a lease, best candidate first */
            candidates: components["schemas"]["PlacementCandidate"][];
            /**
             * Format: int64
             * @description Of the ownership, never reused; 0 if it has no owner
             */
            epoch: number;
            /** @description The changes of its ownership that are kept, newest first */
            events: components["schemas"]["PlacementEvent"][];
            /** @description Only with the parameters with or without */
            forecast?: components["schemas"]["PlacementForecast"];
            /** @description The node; empty if it has no owner */
            owner: string;
            /** Format: int64 */
            partition: number;
            /** @description Which member is to own it, if an operator said so */
            pin?: components["schemas"]["PlacementPin"];
            /**
             * Format: int64
             * @description Unix ms; 0 if it never had an owner
             */
            since: number;
            /** Format: int64 */
            since_index: number;
            /** @description free, owned or draining */
            state: string;
            /** @description If it drains: the next owner */
            to?: string;
            why: string;
        };
        PlacementCandidate: {
            /** @description It may own no partitions */
            drained?: boolean;
            node: string;
            /**
             * Format: double
             * @description Of the node for this partition; only the order matters
             */
            score: number;
            /**
             * Format: int64
             * @description The node's share relative to the others
             */
            weight: number;
            zone?: string;
        };
        PlacementEvent: {
            /** Format: int64 */
            at: number;
            /**
             * Format: int64
             * @description Of the new ownership
             */
            epoch?: number;
            from?: string;
            /** Format: int64 */
            index: number;
            /** @description assigned, draining, kept, moved, released, lapsed or ended */
            kind: string;
            /**
             * Format: int64
             * @description How many partitions it is about
             */
            partitions: number;
            to?: string;
            why: string;
        };
        PlacementForecast: {
            /**
             * Format: int64
             * @description Partitions that would change owner
             */
            moves: number;
            /** @description Of this key's partition after that; empty for none */
            owner: string;
        };
        PlacementMap: {
            /** @description The newest changes, newest first */
            events: components["schemas"]["PlacementEvent"][];
            /** Format: int64 */
            index: number;
            /** @description Running moves */
            moving: components["schemas"]["MovingPartition"][];
            /** @description The owners of partitions */
            nodes: string[];
            /** @description For each partition the position of its owner in nodes; -1 if it has none */
            owners: number[];
            /** @description Of operators, by partition */
            pins: components["schemas"]["PlacementPin"][];
        };
        PlacementPin: {
            node: string;
            /** Format: int64 */
            partition: number;
            /**
             * Format: int64
             * @description Unix ms
             */
            since: number;
        };
        PlacementShares: {
            /**
             * Format: int64
             * @description Number of partitions without an owner
             */
            free: number;
            /** @description Running moves */
            moving: components["schemas"]["MovingPartition"][];
            nodes: components["schemas"]["PlacedNode"][];
            /** @description Of operators, by partition */
            pins: components["schemas"]["PlacementPin"][];
        };
        PodNodes: {
            items: components["schemas"]["Snapshot"][];
        };
        PointerBody: {
            /** @description The expected head of the thread at rev, in hex; any if absent */
            head?: string | null;
            id: string;
            /**
             * Format: int64
             * @description The incarnation of the thread; the current one if absent
             */
            incarnation?: number | null;
            /** Format: int64 */
            rev: number;
        };
        PolicyBody: {
            /**
             * Format: int64
             * @description Names with a checkpoint, memories, sessions or conversations; 0 means no limit
             */
            agents_max?: number | null;
            /**
             * Format: int64
             * @description Instances awake at once in one process; 0 means no limit
             */
            awake_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            bytes_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of requests and answers on each node; 0 means no limit
             */
            bytes_per_second?: number | null;
            /**
             * Format: int64
             * @description Minimum number of changes that the scope's feed keeps; 0 means 100,000
             */
            changes_max?: number | null;
            /**
             * Format: int64
             * @description Entries of all threads; 0 means no limit
             */
            entries_max?: number | null;
            /**
             * Format: int64
             * @description Checkpoints kept per key, including the current one; 0 means 4
             */
            history?: number | null;
            /**
             * Format: int64
             * @description How long a checkpoint is kept after it was replaced; 0 means no limit
             */
            history_age_ms?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            keys_max?: number | null;
            /**
             * Format: int64
             * @description Number of memories of one agent; 0 means 100,000
             */
            memories_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of all memories of one agent; 0 means 256 MiB
             */
            memory_bytes_max?: number | null;
            /**
             * Format: int64
             * @description On each node; 0 means no limit
             */
            requests_per_second?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            threads_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            timers_max?: number | null;
            /**
             * Format: int64
             * @description Watches at once on each node; 0 means no limit
             */
            watches_max?: number | null;
        };
        PrefixDeletion: {
            /** @description All rows are removed; until then removed grows */
            complete: boolean;
            /** Format: int64 */
            completed_at?: number;
            /** Format: int64 */
            deleted_at: number;
            id: string;
            /**
             * Format: int64
             * @description The log index of the deletion: from it on nothing that it deleted can be read
             */
            index: number;
            /** @description values, checkpoints or threads */
            kind: string;
            /** @description Empty if the deletion is of all */
            prefix: string;
            /**
             * Format: int64
             * @description Values, checkpoints or threads whose rows are removed
             */
            removed: number;
        };
        Principal: {
            /** @description Of the node: tokens, or off */
            auth: string;
            grants: components["schemas"]["Grant"][];
            /** @description Empty if the node asks for no credentials */
            principal: string;
            /** @description token */
            source?: string;
            token_id?: string;
        };
        Problem: {
            /**
             * @description For programs; the other members depend on it
             * @enum {string}
             */
            code: "invalid" | "unsupported_session_schema_version" | "unauthenticated" | "forbidden" | "quota_exceeded" | "not_found" | "method_not_allowed" | "already_claimed" | "already_exists" | "approval_expired" | "approval_interrupt_mismatch" | "checkpoint_session_mismatch" | "conflict" | "duplicate_entry" | "fenced" | "invalid_conversation_commit_revision" | "missing_session_snapshot" | "missing_thread" | "mutation_failed" | "mutation_in_progress" | "reconcile_failed" | "request_expired" | "review_already_decided" | "revision_mismatch" | "session_already_running" | "session_commit_mismatch" | "session_lease_active" | "session_lease_expired" | "session_lease_required" | "session_not_recoverable" | "session_not_resumable" | "session_queue_empty" | "stale_conversation_revision" | "stale_session_lease" | "stale_session_revision" | "thaw_failed" | "thread_mismatch" | "thread_rev_regression" | "compacted" | "deleted" | "too_large" | "unsupported_media" | "idempotency_mismatch" | "overloaded" | "corrupt" | "internal" | "handler_failed" | "not_owner" | "read_only" | "unavailable" | "unknown";
            detail: string;
            /**
             * Format: int64
             * @description fenced, already_claimed and codes of leases: the current epoch of the claim; 0 without a holder
             */
            epoch?: number;
            /**
             * Format: int64
             * @description already_claimed and codes of leases: when it expires, Unix ms; approval_expired: when the review expired
             */
            expires_at?: number;
            /** @description invalid, too_large: the wrong parameter or member */
            field?: string;
            /**
             * Format: int64
             * @description compacted: the first seq that is still stored
             */
            floor?: number;
            /** @description conflict and thread codes: the stored thread's head */
            head?: string;
            /** @description fenced, already_claimed and codes of leases: the holder of the claim, "" without one; review_already_decided: who decided */
            holder?: string;
            /**
             * Format: int64
             * @description deleted: the deleted or the current incarnation
             */
            incarnation?: number;
            /** @description too_large: the limit and its value */
            limit?: string;
            /**
             * Format: int64
             * @description Of /v1/commits: index of the failed op, from 0
             */
            op?: number;
            /** @description thaw_failed, handler_failed: the reason, one word; unavailable: not_registered if no process has the Go handler, else absent; mutation_in_progress: the mutation's id; mutation_failed, reconcile_failed: the code of the first failure */
            reason?: string;
            /** @description mutation_failed, reconcile_failed: what was done, and the failures of each node */
            report?: unknown;
            /**
             * Format: int64
             * @description overloaded: when to retry
             */
            retry_after_ms?: number;
            /**
             * Format: int64
             * @description conflict and thread codes: the stored thread's rev
             */
            rev?: number;
            /**
             * Format: int64
             * @description revision_mismatch and stale revisions: the stored one, 0 if there is none
             */
            revision?: number;
            /**
             * Format: int64
             * @description duplicate_entry: the seq of the entry with that id
             */
            seq?: number;
            /** @description Codes of sessions and reviews: the current status */
            state?: string;
            /** Format: int64 */
            status: number;
            /** @description missing_thread, thread_mismatch: the pointer's thread */
            thread?: string;
            title: string;
            /** @description urn:dormouse:problem: and the code */
            type: string;
        };
        PutCheckpointOp: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            key: string;
            /**
             * @description Why it is saved
             * @enum {string|null}
             */
            lifecycle?: "completion" | "cancel" | "error" | "interrupt" | "title_generated" | "shutdown" | "idle" | "manual" | "fork" | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description skip keeps a checkpoint that exists; replace if absent
             * @enum {string|null}
             */
            on_exists?: "replace" | "skip" | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_checkpoint";
            /** @description The agent's state; the member __thread__ is dropped */
            state: {
                [key: string]: unknown;
            };
            /** @description Must match the thread at this commit */
            thread?: components["schemas"]["PointerBody"] | null;
            /**
             * Format: int64
             * @description Expires after this time, in log time
             */
            ttl_ms?: number | null;
            /**
             * Format: int64
             * @description The caller's schema version; 1 if absent
             */
            version?: number | null;
        };
        PutCheckpointResult: {
            /** @enum {string} */
            op: "put_checkpoint";
        } & components["schemas"]["CheckpointStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_checkpoint";
        };
        PutManagerOp: {
            /**
             * Format: int64
             * @description An attachment expires after this long without a touch; 60,000 if absent
             */
            attach_ttl_ms?: number | null;
            /**
             * Format: int64
             * @description Instances awake on one node, past which the least recently used hibernate; no limit per manager if absent
             */
            awake_max?: number | null;
            /**
             * @description When a signal's effects are stored: before its reply, or at hibernation only; turn if absent
             * @enum {string|null}
             */
            durability?: "turn" | "idle" | null;
            handler: components["schemas"]["Handler"];
            /**
             * Format: int64
             * @description An instance hibernates after this long without a signal or attachment; 0 means never
             */
            idle_timeout_ms?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            /**
             * Format: int64
             * @description Queued signals of one instance; 64 if absent
             */
            mailbox_max?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            name: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_manager";
            /** @description Recurring jobs of each instance, set when it wakes; they replace jobs of the same id in its checkpoint */
            schedules?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description Maximum time for handling one signal; 30,000 if absent
             */
            signal_ttl_ms?: number | null;
            /** @description Top-level fields of the state that are not stored */
            skips_persist?: string[] | null;
            /**
             * @description cluster if absent
             * @enum {string|null}
             */
            storage?: "cluster" | "none" | null;
            /** @description Each signal adds an instruction_start and an instruction_end entry to the thread, the latter with the status ok or error; if absent, signals of a Go or HTTP handler do once the instance has a thread */
            track?: boolean | null;
            /**
             * Format: int64
             * @description Of the state that the handler expects; 1 if absent
             */
            version?: number | null;
        };
        PutManagerResult: {
            /** @enum {string} */
            op: "put_manager";
        } & components["schemas"]["Manager"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_manager";
        };
        PutScopeOp: {
            /**
             * Format: int64
             * @description Names with a checkpoint, memories, sessions or conversations; 0 means no limit
             */
            agents_max?: number | null;
            /**
             * Format: int64
             * @description Instances awake at once in one process; 0 means no limit
             */
            awake_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            bytes_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of requests and answers on each node; 0 means no limit
             */
            bytes_per_second?: number | null;
            /**
             * Format: int64
             * @description Minimum number of changes that the scope's feed keeps; 0 means 100,000
             */
            changes_max?: number | null;
            /** @description Set the policy of all scopes that have none of their own */
            default?: boolean | null;
            /**
             * Format: int64
             * @description Entries of all threads; 0 means no limit
             */
            entries_max?: number | null;
            /**
             * Format: int64
             * @description Checkpoints kept per key, including the current one; 0 means 4
             */
            history?: number | null;
            /**
             * Format: int64
             * @description How long a checkpoint is kept after it was replaced; 0 means no limit
             */
            history_age_ms?: number | null;
            /** @description Refuse the change as conflict unless this policy applies */
            if_policy?: components["schemas"]["PolicyBody"] | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            keys_max?: number | null;
            /**
             * Format: int64
             * @description Number of memories of one agent; 0 means 100,000
             */
            memories_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of all memories of one agent; 0 means 256 MiB
             */
            memory_bytes_max?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_scope";
            /**
             * Format: int64
             * @description On each node; 0 means no limit
             */
            requests_per_second?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            threads_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            timers_max?: number | null;
            /** @description Remove the scope's own policy, so that the default applies; the limits must be absent */
            use_default?: boolean | null;
            /**
             * Format: int64
             * @description Watches at once on each node; 0 means no limit
             */
            watches_max?: number | null;
        };
        PutScopeResult: {
            /** @enum {string} */
            op: "put_scope";
        } & components["schemas"]["Scope"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_scope";
        };
        PutSessionOp: {
            agent_id: string;
            /** @description What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback; reject if absent */
            busy?: string | null;
            /** @description The checkpoint that a rollback restores */
            checkpoint?: string | null;
            conversation?: components["schemas"]["Conversation"] | null;
            environment?: {
                [key: string]: unknown;
            } | null;
            error?: unknown;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Create-only if absent or 0; else the stored revision, or a later one
             */
            if_revision?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description lease, or classic: without leases; lease, or the current one, if absent */
            mode?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_session";
            /**
             * Format: int64
             * @description Limit of queued claims; 16 if absent
             */
            queue_max?: number | null;
            /** @description Classic mode only: it runs from now on */
            request?: components["schemas"]["RequestBody"] | null;
            result?: unknown;
            /**
             * Format: int64
             * @description 1 in classic mode, 1 to 3 in lease mode; the newest if absent
             */
            schema_version?: number | null;
            session: string;
            spec?: {
                [key: string]: unknown;
            } | null;
            /** @description new, hibernated, finished, error or cancelled; new, or the current one, if absent */
            status?: string | null;
            /** @description Where decisions and rollbacks are recorded */
            thread?: string | null;
        };
        PutSessionResult: {
            /** @enum {string} */
            op: "put_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_session";
        };
        PutTimerOp: {
            /**
             * Format: int64
             * @description When it fires, once, Unix ms; an instant in the past fires at once
             */
            at?: number | null;
            /**
             * Format: int64
             * @description Of catch_up: number of last occurrences to fire; 16 if absent
             */
            catch_up?: number | null;
            /** @description Five fields, six (seconds first), seven (year last), or a macro such as @daily; either cron or at */
            cron?: string | null;
            /** @description Of the signal */
            data?: {
                [key: string]: unknown;
            } | null;
            key: string;
            manager: string;
            /**
             * @description What happens to occurrences that did not fire in time: skip if absent, fire_once for at
             * @enum {string|null}
             */
            missed?: "skip" | "fire_once" | "catch_up" | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_timer";
            /** @description Of cron, an IANA name; UTC if absent */
            time_zone?: string | null;
            timer: string;
            /** @description Of the signal; timer if absent */
            type?: string | null;
        };
        PutTimerResult: {
            /** @enum {string} */
            op: "put_timer";
        } & components["schemas"]["Timer"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_timer";
        };
        PutTokenOp: {
            grants: components["schemas"]["Grant"][] | null;
            /** @description SHA-256, in hex, of a secret that the caller has made; if absent, the node makes the secret */
            hash?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_token";
            /** @description Has at most two tokens at a time */
            principal: string;
            /**
             * Format: int64
             * @description Never expires if absent
             */
            ttl_ms?: number | null;
        };
        PutTokenResult: {
            /** @enum {string} */
            op: "put_token";
        } & components["schemas"]["Token"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_token";
        };
        PutValueOp: {
            bytes?: string | null;
            content_type?: string | null;
            /** @description Apply only if the stored bytes equal these */
            if_bytes?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /** @description The current one if absent */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description skip keeps a value that exists; replace if absent
             * @enum {string|null}
             */
            on_exists?: "replace" | "skip" | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_value";
            /** Format: int64 */
            ttl_ms?: number | null;
        };
        PutValueResult: {
            /** @enum {string} */
            op: "put_value";
        } & components["schemas"]["ValueStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "put_value";
        };
        Read: components["schemas"]["CheckpointHistoryRead"] | components["schemas"]["GetCheckpointRead"] | components["schemas"]["GetClaimRead"] | components["schemas"]["GetConversationRead"] | components["schemas"]["GetDeletionRead"] | components["schemas"]["GetEntryRead"] | components["schemas"]["GetErasureRead"] | components["schemas"]["GetManagerRead"] | components["schemas"]["GetMemoryRead"] | components["schemas"]["GetReviewRead"] | components["schemas"]["GetScopeRead"] | components["schemas"]["GetSessionRead"] | components["schemas"]["GetThreadRead"] | components["schemas"]["GetTimerRead"] | components["schemas"]["GetTokenRead"] | components["schemas"]["GetValueRead"] | components["schemas"]["ListCheckpointsRead"] | components["schemas"]["ListClaimsRead"] | components["schemas"]["ListConversationsRead"] | components["schemas"]["ListDeletionsRead"] | components["schemas"]["ListManagersRead"] | components["schemas"]["ListMemoriesRead"] | components["schemas"]["ListMessagesRead"] | components["schemas"]["ListReviewsRead"] | components["schemas"]["ListScopesRead"] | components["schemas"]["ListSessionsRead"] | components["schemas"]["ListThreadsRead"] | components["schemas"]["ListTimersRead"] | components["schemas"]["ListTokensRead"] | components["schemas"]["ListValuesRead"] | components["schemas"]["LoadEntriesRead"] | components["schemas"]["RecallRead"] | components["schemas"]["ThawRead"] | components["schemas"]["VerifyThreadRead"];
        ReadsBody: {
            reads: components["schemas"]["Read"][];
        };
        RecallAnswer: {
            /** @enum {string} */
            read: "recall";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Recalled"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "recall";
        };
        RecallBody: {
            agent_id: string;
            /** @description Of any of these */
            classes?: string[] | null;
            /** @description Required in modes vector and hybrid */
            embedding?: number[] | null;
            /** @description Of any of these */
            kinds?: string[] | null;
            /**
             * Format: int64
             * @description Capped at 1,000; 5 if absent, 20 in mode query
             */
            limit?: number | null;
            /** @description Returned with the answer */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description recent if absent
             * @enum {string|null}
             */
            mode?: "recent" | "query" | "text" | "vector" | "hybrid" | null;
            /**
             * @description Mode query: by the time of observation; desc if absent
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            /** @description Required in modes recent, text and hybrid; ignored in recent */
            query?: string | null;
            session_id?: string | null;
            /**
             * Format: int64
             * @description Observed at or after
             */
            since?: number | null;
            /** @description With each of these */
            tags_all?: string[] | null;
            /** @description With at least one of these */
            tags_any?: string[] | null;
            /** @description Mode query: in the content, or in the data if the content is empty; ignores case */
            text_contains?: string | null;
            /**
             * Format: int64
             * @description Observed at or before
             */
            until?: number | null;
            /**
             * @description Memories of the session and of no session, of the session only, or all; agent if absent, all in mode query
             * @enum {string|null}
             */
            within?: "agent" | "session" | "all" | null;
        };
        Recalled: {
            /**
             * Format: int64
             * @description The log index of the answer
             */
            index?: number;
            items: components["schemas"]["RecalledMemory"][];
            metadata: components["schemas"]["RecallMetadata"];
            /** @description With its defaults filled in, and without its embedding */
            request: components["schemas"]["RecallBody"];
        };
        RecalledMemory: {
            agent_id: string;
            class: string;
            content: string;
            /** Format: int64 */
            created_at: number;
            data?: {
                [key: string]: unknown;
            };
            /** @description Only in a read of the memory by its id */
            embedding?: number[] | null;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            kind: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            observed_at: number;
            /** Format: int64 */
            revision: number;
            /**
             * Format: double
             * @description Higher is better, within one answer; 0 in modes recent and query
             */
            score: number;
            session_id?: string;
            source?: string;
            tags: string[];
            /** Format: int64 */
            updated_at: number;
        };
        RecallMetadata: {
            /**
             * Format: int64
             * @description Number of the agent's memories
             */
            entries: number;
            /**
             * Format: int64
             * @description Number of memories that matched; in modes recent and query, the items
             */
            matched: number;
        };
        RecallRead: {
            agent_id: string;
            /** @description Of any of these */
            classes?: string[] | null;
            /** @description Required in modes vector and hybrid */
            embedding?: number[] | null;
            /** @description Of any of these */
            kinds?: string[] | null;
            /**
             * Format: int64
             * @description Capped at 1,000; 5 if absent, 20 in mode query
             */
            limit?: number | null;
            /** @description Returned with the answer */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description recent if absent
             * @enum {string|null}
             */
            mode?: "recent" | "query" | "text" | "vector" | "hybrid" | null;
            /**
             * @description Mode query: by the time of observation; desc if absent
             * @enum {string|null}
             */
            order?: "asc" | "desc" | null;
            /** @description Required in modes recent, text and hybrid; ignored in recent */
            query?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "recall";
            session_id?: string | null;
            /**
             * Format: int64
             * @description Observed at or after
             */
            since?: number | null;
            /** @description With each of these */
            tags_all?: string[] | null;
            /** @description With at least one of these */
            tags_any?: string[] | null;
            /** @description Mode query: in the content, or in the data if the content is empty; ignores case */
            text_contains?: string | null;
            /**
             * Format: int64
             * @description Observed at or before
             */
            until?: number | null;
            /**
             * @description Memories of the session and of no session, of the session only, or all; agent if absent, all in mode query
             * @enum {string|null}
             */
            within?: "agent" | "session" | "all" | null;
        };
        ReconcileBody: {
            /** @description Nodes to start, with all that they depend on; the eager ones if absent */
            nodes?: string[] | null;
        };
        Reconciled: {
            abridged?: boolean;
            completed: string[] | null;
            failed: string[] | null;
            failures: {
                [key: string]: components["schemas"]["Failure"];
            };
            nodes: {
                [key: string]: components["schemas"]["Outcomes"];
            };
            pending: string[] | null;
            requested: string[] | null;
            waves: (string[] | null)[] | null;
        };
        RecoverSessionOp: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "recover_session";
            owner_id: string;
            session: string;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        RecoverSessionResult: {
            /** @enum {string} */
            op: "recover_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "recover_session";
        };
        Recovery: {
            /** @description From the beginning, with the request of this id */
            restart?: string;
            /** @description From the snapshot of this id */
            resume?: string;
        };
        ReleaseBody: {
            /** Format: int64 */
            epoch: number;
            holder: string;
            /** @description The next holder, under a new epoch; none if absent */
            to?: string | null;
            /**
             * Format: int64
             * @description Of the next holding; the current one if absent
             */
            ttl_ms?: number | null;
        };
        ReleaseClaimOp: {
            claim: string;
            /** Format: int64 */
            epoch: number;
            holder: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "release_claim";
            /** @description The next holder, under a new epoch; none if absent */
            to?: string | null;
            /**
             * Format: int64
             * @description Of the next holding; the current one if absent
             */
            ttl_ms?: number | null;
        };
        ReleaseClaimResult: {
            /** @enum {string} */
            op: "release_claim";
        } & components["schemas"]["Claim"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "release_claim";
        };
        RenewBody: {
            /** Format: int64 */
            epoch: number;
            holder: string;
            /**
             * Format: int64
             * @description The current one if absent
             */
            ttl_ms?: number | null;
        };
        RenewClaimOp: {
            claim: string;
            /** Format: int64 */
            epoch: number;
            holder: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "renew_claim";
            /**
             * Format: int64
             * @description The current one if absent
             */
            ttl_ms?: number | null;
        };
        RenewClaimResult: {
            /** @enum {string} */
            op: "renew_claim";
        } & components["schemas"]["Claim"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "renew_claim";
        };
        RenewSessionBody: {
            lease_id?: string | null;
            owner_id?: string | null;
            /**
             * Format: int64
             * @description The current one if absent
             */
            ttl_ms?: number | null;
        };
        RenewSessionOp: {
            lease_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "renew_session";
            owner_id?: string | null;
            session: string;
            /**
             * Format: int64
             * @description The current one if absent
             */
            ttl_ms?: number | null;
        };
        RenewSessionResult: {
            /** @enum {string} */
            op: "renew_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "renew_session";
        };
        Replayed: {
            agent_id: string;
            error?: unknown;
            /**
             * Format: int64
             * @description The seq of the first entry of the thread in the timeline
             */
            from_seq?: number;
            metadata: {
                [key: string]: unknown;
            };
            pending_reviews: components["schemas"]["Review"][];
            result?: unknown;
            /** Format: int64 */
            revision: number;
            session_id: string;
            snapshots: components["schemas"]["SnapshotSummary"][];
            status: string;
            thread?: string;
            /** @description By time, and the thread's entries by seq */
            timeline: components["schemas"]["ReplayEvent"][];
        };
        ReplayEvent: {
            /** Format: int64 */
            at: number;
            by?: string;
            /** @description A request's input, an entry's payload, a review's arguments */
            data?: unknown;
            effect_id?: string;
            /** @description The event that an entry names, or its kind */
            event?: string;
            /** @description Of the request, lease, entry, snapshot, checkpoint or review */
            id?: string;
            operation?: string;
            request_id?: string;
            /** Format: int64 */
            revision?: number;
            /**
             * Format: int64
             * @description The seq of its entry in the thread
             */
            seq?: number | null;
            /** @description A request's outcome, a review's status, a snapshot's phase, a checkpoint's lifecycle */
            status?: string;
            /** @description created, forked, request, queued, lease, entry, snapshot, checkpoint, review, review_escalated, review_decided */
            what: string;
        };
        RequestBody: {
            id: string;
            input?: unknown;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        Rested: {
            abridged?: boolean;
            failures: {
                [key: string]: components["schemas"]["Failure"];
            };
            /** Format: int64 */
            index: number;
            nodes: {
                [key: string]: components["schemas"]["Stored"];
            };
            stopped: string[] | null;
        };
        Result: components["schemas"]["AckTimerResult"] | components["schemas"]["AppendThreadResult"] | components["schemas"]["CancelSessionResult"] | components["schemas"]["CheckpointSessionResult"] | components["schemas"]["ClaimSessionResult"] | components["schemas"]["CommitSessionResult"] | components["schemas"]["CompactThreadResult"] | components["schemas"]["DecideReviewResult"] | components["schemas"]["DeleteCheckpointResult"] | components["schemas"]["DeleteConversationResult"] | components["schemas"]["DeleteManagerResult"] | components["schemas"]["DeleteMemoryResult"] | components["schemas"]["DeletePrefixResult"] | components["schemas"]["DeleteScopeResult"] | components["schemas"]["DeleteSessionResult"] | components["schemas"]["DeleteThreadResult"] | components["schemas"]["DeleteTimerResult"] | components["schemas"]["DeleteValueResult"] | components["schemas"]["EraseAgentResult"] | components["schemas"]["ForkAgentResult"] | components["schemas"]["ForkSessionResult"] | components["schemas"]["ForkThreadResult"] | components["schemas"]["HibernateThreadResult"] | components["schemas"]["IndexMetadataResult"] | components["schemas"]["PatchCheckpointResult"] | components["schemas"]["PatchCronResult"] | components["schemas"]["PendMessageResult"] | components["schemas"]["PutCheckpointResult"] | components["schemas"]["PutManagerResult"] | components["schemas"]["PutScopeResult"] | components["schemas"]["PutSessionResult"] | components["schemas"]["PutTimerResult"] | components["schemas"]["PutTokenResult"] | components["schemas"]["PutValueResult"] | components["schemas"]["RecoverSessionResult"] | components["schemas"]["ReleaseClaimResult"] | components["schemas"]["RenewClaimResult"] | components["schemas"]["RenewSessionResult"] | components["schemas"]["ResumeSessionResult"] | components["schemas"]["ReviseValueResult"] | components["schemas"]["RevokeTokenResult"] | components["schemas"]["SaveConversationResult"] | components["schemas"]["SaveMessagesResult"] | components["schemas"]["SetInterruptedResult"] | components["schemas"]["SetTtlResult"] | components["schemas"]["TakeClaimResult"] | components["schemas"]["UpdateMessageResult"] | components["schemas"]["WriteMemoryResult"];
        ResultThread: {
            /** Format: int64 */
            created_at: number;
            entries?: components["schemas"]["EntryStamp"][] | null;
            /** Format: int64 */
            expires_at?: number;
            /**
             * Format: int64
             * @description The first seq that is still stored
             */
            floor: number;
            forked_from?: components["schemas"]["ForkPoint"];
            /** @description The hash chain over them, in hex */
            head: string;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** @description Not in the result of a write, except of a fork: read the thread */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description The number of entries ever appended in this incarnation
             */
            rev: number;
            stats: components["schemas"]["ThreadStats"];
            /** @description Stored by compaction at the floor */
            summary?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            updated_at: number;
        };
        ResumeSessionOp: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "resume_session";
            owner_id: string;
            session: string;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        ResumeSessionResult: {
            /** @enum {string} */
            op: "resume_session";
        } & components["schemas"]["Turned"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "resume_session";
        };
        Review: {
            arguments: {
                [key: string]: unknown;
            };
            /** @description Absent if any person may decide */
            assignee?: string;
            /** Format: int64 */
            created_at: number;
            /** @description Of an edit: the new arguments of the operation */
            decided?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            decided_at?: number;
            decided_by?: string;
            /** @description The principals who may decide it; absent if any may */
            deciders?: string[] | null;
            /** Format: int64 */
            escalate_at?: number;
            escalate_to?: string;
            escalated: boolean;
            /**
             * Format: int64
             * @description Absent if it does not expire
             */
            expires_at?: number;
            id: string;
            /**
             * Format: int64
             * @description Of its session
             */
            incarnation: number;
            interrupt_id?: string;
            metadata: {
                [key: string]: unknown;
            };
            note?: string;
            /** @description The operation to approve */
            operation: string;
            reason?: string;
            request_id?: string;
            session_id: string;
            /** @description pending, approved, denied, edited, expired, withdrawn */
            status: string;
        };
        ReviewDraft: {
            arguments?: {
                [key: string]: unknown;
            } | null;
            assignee?: string | null;
            /** @description The principals who may decide it; any if absent, or if nodes ask for no tokens */
            deciders?: string[] | null;
            /**
             * Format: int64
             * @description Must be less than ttl_ms
             */
            escalate_after_ms?: number | null;
            /** @description The assignee after the escalation */
            escalate_to?: string | null;
            /** @description "review:" and the interrupt's id if absent */
            id?: string | null;
            interrupt_id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            operation?: string | null;
            reason?: string | null;
            /** @description The request that the turn answers if absent */
            request_id?: string | null;
            /**
             * Format: int64
             * @description It expires after this time; never if absent
             */
            ttl_ms?: number | null;
        };
        ReviseValueOp: {
            /** @description The current one if absent */
            content_type?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** Format: int64 */
            if_revision?: number | null;
            key: string;
            /** @description A merge patch (RFC 7396) */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "revise_value";
            /** @description The new key, which must not exist */
            to?: string | null;
        };
        ReviseValueResult: {
            /** @enum {string} */
            op: "revise_value";
        } & components["schemas"]["ValueStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "revise_value";
        };
        RevokeTokenOp: {
            id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "revoke_token";
        };
        RevokeTokenResult: {
            /** @enum {string} */
            op: "revoke_token";
        } & components["schemas"]["Deleted"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "revoke_token";
        };
        RunnerBody: {
            owner_id: string;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        SaveConversationBody: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /**
             * Format: int64
             * @description Pending messages up to this number are part of the state, and are removed
             */
            consumed?: number | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description The revision of the state that was loaded. It is always checked; absent means 0, the first save
             */
            if_revision?: number | null;
            /** @enum {string} */
            lifecycle: "completion" | "cancel" | "error" | "interrupt" | "title_generated" | "shutdown";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /** @description With a version, at least 1, and a state, an object */
            state: {
                [key: string]: unknown;
            };
            /** @description The current one if absent */
            title?: string | null;
        };
        SaveConversationOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /**
             * Format: int64
             * @description Pending messages up to this number are part of the state, and are removed
             */
            consumed?: number | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description The revision of the state that was loaded. It is always checked; absent means 0, the first save
             */
            if_revision?: number | null;
            /** @enum {string} */
            lifecycle: "completion" | "cancel" | "error" | "interrupt" | "title_generated" | "shutdown";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "save_conversation";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /** @description With a version, at least 1, and a state, an object */
            state: {
                [key: string]: unknown;
            };
            /** @description The current one if absent */
            title?: string | null;
        };
        SaveConversationResult: {
            /** @enum {string} */
            op: "save_conversation";
        } & components["schemas"]["ConversationChange"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "save_conversation";
        };
        SavedConversation: {
            agent_id?: string;
            /**
             * Format: int64
             * @description Pending messages up to this number are part of the state
             */
            consumed: number;
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            interrupted: boolean;
            lifecycle?: string;
            /** Format: int64 */
            message_count: number;
            owner_id?: string;
            pending: components["schemas"]["PendingMessage"][];
            /** Format: int64 */
            pending_count: number;
            /**
             * Format: int64
             * @description Counts the saves of the state; 0 before the first one
             */
            revision: number;
            /** Format: int64 */
            saved_at?: number;
            /** @description Absent before the first save */
            state?: {
                [key: string]: unknown;
            };
            title?: string;
            /** Format: int64 */
            updated_at: number;
            /**
             * Format: int64
             * @description Of the state's format, as the state declares
             */
            version?: number;
        };
        SaveMessagesOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            messages: components["schemas"]["MessageDraft"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "save_messages";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        SaveMessagesResult: {
            /** @enum {string} */
            op: "save_messages";
        } & components["schemas"]["ConversationChange"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "save_messages";
        };
        Scope: {
            /**
             * Format: int64
             * @description Names with a checkpoint, memories, sessions or conversations
             */
            agents: number;
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            created_at: number;
            /**
             * Format: int64
             * @description Of all threads; a fork counts those that were appended to it
             */
            entries: number;
            /** Format: int64 */
            keys: number;
            /** @description Their index is being built: lists by metadata are unavailable */
            metadata_building?: boolean;
            /** @description Members of metadata by which its rows are listed */
            metadata_keys?: string[] | null;
            name: string;
            /** @description The scope has a policy of its own */
            own_policy: boolean;
            /** @description The policy that applies: its own, or the default */
            policy: components["schemas"]["PolicyBody"];
            /** Format: int64 */
            threads: number;
            /** Format: int64 */
            timers: number;
        };
        ScopePolicyBody: {
            /**
             * Format: int64
             * @description Names with a checkpoint, memories, sessions or conversations; 0 means no limit
             */
            agents_max?: number | null;
            /**
             * Format: int64
             * @description Instances awake at once in one process; 0 means no limit
             */
            awake_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            bytes_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of requests and answers on each node; 0 means no limit
             */
            bytes_per_second?: number | null;
            /**
             * Format: int64
             * @description Minimum number of changes that the scope's feed keeps; 0 means 100,000
             */
            changes_max?: number | null;
            /**
             * Format: int64
             * @description Entries of all threads; 0 means no limit
             */
            entries_max?: number | null;
            /**
             * Format: int64
             * @description Checkpoints kept per key, including the current one; 0 means 4
             */
            history?: number | null;
            /**
             * Format: int64
             * @description How long a checkpoint is kept after it was replaced; 0 means no limit
             */
            history_age_ms?: number | null;
            /** @description Refuse the change as conflict unless this policy applies */
            if_policy?: components["schemas"]["PolicyBody"] | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            keys_max?: number | null;
            /**
             * Format: int64
             * @description Number of memories of one agent; 0 means 100,000
             */
            memories_max?: number | null;
            /**
             * Format: int64
             * @description Bytes of all memories of one agent; 0 means 256 MiB
             */
            memory_bytes_max?: number | null;
            /**
             * Format: int64
             * @description On each node; 0 means no limit
             */
            requests_per_second?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            threads_max?: number | null;
            /**
             * Format: int64
             * @description 0 means no limit
             */
            timers_max?: number | null;
            /** @description Remove the scope's own policy, so that the default applies; the limits must be absent */
            use_default?: boolean | null;
            /**
             * Format: int64
             * @description Watches at once on each node; 0 means no limit
             */
            watches_max?: number | null;
        };
        Session: {
            agent_id: string;
            /** @description What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback */
            busy: string;
            /** @description The checkpoint that a rollback restores */
            checkpoint?: string;
            conversation: components["schemas"]["Conversation"];
            /** Format: int64 */
            created_at: number;
            environment: {
                [key: string]: unknown;
            };
            /** @description Why the last turn failed */
            error?: unknown;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** @description Of the running turn; it may have expired */
            lease?: components["schemas"]["Lease"];
            /** @description Of a fork: its source */
            lineage?: components["schemas"]["Lineage"];
            metadata: {
                [key: string]: unknown;
            };
            /** @description lease, or classic: without leases */
            mode: string;
            pending_reviews: components["schemas"]["Review"][];
            queue: components["schemas"]["SessionRequest"][];
            /**
             * Format: int64
             * @description Number of queued claims
             */
            queue_length: number;
            /** Format: int64 */
            queue_max: number;
            /** @description It is running, and its lease has expired */
            recoverable: boolean;
            /**
             * Format: int64
             * @description Number of requests kept
             */
            request_count: number;
            /** @description Of the running or last turn */
            request_id?: string;
            /** @description Oldest first, like the next three */
            requests: components["schemas"]["SessionRequest"][];
            /** @description Of the last finished turn */
            result?: unknown;
            /**
             * Format: int64
             * @description Counts the writes, including renewals
             */
            revision: number;
            /** Format: int64 */
            schema_version: number;
            /**
             * Format: int64
             * @description Number of snapshots kept
             */
            snapshot_count: number;
            snapshots: components["schemas"]["SessionSnapshot"][];
            spec: {
                [key: string]: unknown;
            };
            /** @description new, running, hibernated, waiting, finished, error, cancelled */
            status: string;
            /** @description Where decisions and rollbacks are recorded */
            thread?: string;
            /** Format: int64 */
            updated_at: number;
        };
        SessionBody: {
            agent_id: string;
            /** @description What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback; reject if absent */
            busy?: string | null;
            /** @description The checkpoint that a rollback restores */
            checkpoint?: string | null;
            conversation?: components["schemas"]["Conversation"] | null;
            environment?: {
                [key: string]: unknown;
            } | null;
            error?: unknown;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Create-only if absent or 0; else the stored revision, or a later one
             */
            if_revision?: number | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description lease, or classic: without leases; lease, or the current one, if absent */
            mode?: string | null;
            /**
             * Format: int64
             * @description Limit of queued claims; 16 if absent
             */
            queue_max?: number | null;
            /** @description Classic mode only: it runs from now on */
            request?: components["schemas"]["RequestBody"] | null;
            result?: unknown;
            /**
             * Format: int64
             * @description 1 in classic mode, 1 to 3 in lease mode; the newest if absent
             */
            schema_version?: number | null;
            spec?: {
                [key: string]: unknown;
            } | null;
            /** @description new, hibernated, finished, error or cancelled; new, or the current one, if absent */
            status?: string | null;
            /** @description Where decisions and rollbacks are recorded */
            thread?: string | null;
        };
        SessionRequest: {
            /** Format: int64 */
            at: number;
            id: string;
            input?: unknown;
            metadata: {
                [key: string]: unknown;
            };
            /** @description finished, error, cancelled, interrupted, rolled_back; absent while it is open */
            outcome?: string;
            /** @description Who claimed or queued it */
            owner_id?: string;
        };
        SessionRow: {
            agent_id: string;
            /** @description What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback */
            busy: string;
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** @description Of the running turn; it may have expired */
            lease?: components["schemas"]["Lease"];
            /** @description lease, or classic: without leases */
            mode: string;
            /**
             * Format: int64
             * @description Number of queued claims
             */
            queue_length: number;
            /** @description It is running, and its lease has expired */
            recoverable: boolean;
            /**
             * Format: int64
             * @description Number of requests kept
             */
            request_count: number;
            /** @description Of the running or last turn */
            request_id?: string;
            /**
             * Format: int64
             * @description Counts the writes, including renewals
             */
            revision: number;
            /**
             * Format: int64
             * @description Number of snapshots kept
             */
            snapshot_count: number;
            /** @description new, running, hibernated, waiting, finished, error, cancelled */
            status: string;
            /** Format: int64 */
            updated_at: number;
        };
        SessionSnapshot: {
            agent_id: string;
            /** Format: int64 */
            at: number;
            cursor: components["schemas"]["Cursor"];
            metadata: {
                [key: string]: unknown;
            };
            request_id?: string;
            snapshot_id: string;
            turn_state: {
                [key: string]: unknown;
            };
        };
        SetInterruptedOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            interrupted: boolean;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "set_interrupted";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
        };
        SetInterruptedResult: {
            /** @enum {string} */
            op: "set_interrupted";
        } & components["schemas"]["ConversationChange"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "set_interrupted";
        };
        Setting: {
            default: string;
            /** @description As in a configuration file, such as http.addr */
            name: string;
            /** @description In force. User names, passwords and queries of URLs are left out */
            value: string;
        };
        Settings: {
            /** @description The answering node */
            node: string;
            settings: components["schemas"]["Setting"][];
        };
        SetTTLOp: {
            conversation_id?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "set_ttl";
            session?: string | null;
            /** @description Either thread, session or conversation */
            thread?: string | null;
            /**
             * Format: int64
             * @description From this call, in log time; 0 means never
             */
            ttl_ms: number;
        };
        SetTtlResult: {
            /** @enum {string} */
            op: "set_ttl";
        } & (components["schemas"]["ResultThread"] | components["schemas"]["Turned"] | components["schemas"]["ConversationChange"]) & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "set_ttl";
        };
        SignalBody: {
            /** @description Answer as soon as it is in the mailbox */
            cast?: boolean | null;
            data?: {
                [key: string]: unknown;
            } | null;
            type: string;
        };
        SignalReply: {
            /** @description The handler's answer */
            data?: unknown;
            /** @description False for a cast and with durability idle: a crash may lose the turn */
            durable: boolean;
            /** Format: int64 */
            epoch: number;
            node: string;
            /**
             * Format: int64
             * @description Of the thread after the turn
             */
            rev: number;
            /**
             * Format: int64
             * @description Of the checkpoint after the turn
             */
            revision: number;
        };
        SlowCall: {
            /**
             * Format: int64
             * @description The state machine's time for its entry
             */
            apply_us?: number;
            /**
             * Format: int64
             * @description When it ended, Unix ms
             */
            at: number;
            /** @description commit, read, or a call of an instance */
            call: string;
            /** @description The error's code, if the call failed */
            code?: string;
            /** @description The kind of the first op or read */
            first?: string;
            key?: string;
            /**
             * Format: int64
             * @description On another node than the leader: until that answered
             */
            leader_us?: number;
            manager?: string;
            /**
             * Format: int64
             * @description The number of ops or reads
             */
            ops?: number;
            /**
             * Format: int64
             * @description A commit waited for the entry before its own
             */
            queue_us?: number;
            /**
             * Format: int64
             * @description Until a majority had its entry on disk
             */
            replicate_us?: number;
            scope: string;
            /**
             * Format: int64
             * @description The whole time on this node
             */
            took_us: number;
            /** @description The id of its trace, if it is sampled */
            trace?: string;
        };
        SlowCalls: {
            calls: components["schemas"]["SlowCall"][];
            /** @description The answering node */
            node: string;
        };
        Snapshot: {
            activation: string;
            actual_parent: components["schemas"]["Parent"] | null;
            adopted: boolean;
            expected_parent: components["schemas"]["Parent"];
            instance: string;
            key: string;
            kind: string;
            manager: string;
            name: string;
            node?: string;
            owner?: string;
            status: string;
        };
        SnapshotBody: {
            /** @description The session's if absent */
            agent_id?: string | null;
            cursor?: components["schemas"]["Cursor"] | null;
            /** @description Another name for snapshot_id */
            id?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The request that the turn answers if absent */
            request_id?: string | null;
            snapshot_id?: string | null;
            turn_state?: {
                [key: string]: unknown;
            } | null;
        };
        SnapshotSummary: {
            /** Format: int64 */
            at: number;
            /** Format: int64 */
            loop_index: number;
            phase: string;
            request_id?: string;
            snapshot_id: string;
        };
        StartBody: {
            /** @description Used if there is no checkpoint; {} if absent */
            initial_state?: {
                [key: string]: unknown;
            } | null;
        };
        StateSum: {
            /** @description SHA-256 over all rows: equal on all nodes at one index */
            hash: string;
            /**
             * Format: int64
             * @description The log index of the state
             */
            index: number;
            /** @description The kinds that have rows */
            kinds: components["schemas"]["KindSum"][];
            /** @description The answering node */
            node: string;
        };
        Stored: {
            manager: string;
            /** Format: int64 */
            rev: number;
            /** Format: int64 */
            revision: number;
        };
        StoredPod: {
            key: string;
            manager: string;
            /** @description The newest one: its id, status (idle, running, completed, failed), and report */
            mutation: unknown;
            /** @enum {string} */
            status: "dormant" | "waking" | "awake" | "draining";
            topology: unknown;
            /** Format: int64 */
            topology_version: number;
        };
        TakeBody: {
            holder: string;
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        TakeClaimOp: {
            claim: string;
            holder: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "take_claim";
            /**
             * Format: int64
             * @description From 1,000 to 86,400,000; 30,000 if absent
             */
            ttl_ms?: number | null;
        };
        TakeClaimResult: {
            /** @enum {string} */
            op: "take_claim";
        } & components["schemas"]["Claim"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "take_claim";
        };
        ThawAnswer: {
            /** @enum {string} */
            read: "thaw";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Thawed"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "thaw";
        };
        Thawed: {
            /**
             * Format: int64
             * @description Number of entries in the thread past the pointer
             */
            ahead: number;
            checkpoint: components["schemas"]["Checkpoint"];
            /** @description At the checkpoint's pointer; null without one */
            thread: components["schemas"]["ThawedThread"] | null;
        };
        ThawedThread: {
            /** Format: int64 */
            created_at: number;
            entries: components["schemas"]["Entry"][];
            /** Format: int64 */
            expires_at?: number;
            /**
             * Format: int64
             * @description The first seq that is still stored
             */
            floor: number;
            forked_from?: components["schemas"]["ForkPoint"];
            /** @description The hash chain over them, in hex */
            head: string;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** @description Not in the result of a write, except of a fork: read the thread */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description The number of entries ever appended in this incarnation
             */
            rev: number;
            stats: components["schemas"]["ThreadStats"];
            /** @description Stored by compaction at the floor */
            summary?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            updated_at: number;
        };
        ThawRead: {
            key: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "thaw";
            /** Format: int64 */
            revision?: number | null;
            /** Format: int64 */
            tail?: number | null;
        };
        Thread: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            /**
             * Format: int64
             * @description The first seq that is still stored
             */
            floor: number;
            forked_from?: components["schemas"]["ForkPoint"];
            /** @description The hash chain over them, in hex */
            head: string;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** @description Not in the result of a write, except of a fork: read the thread */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description The number of entries ever appended in this incarnation
             */
            rev: number;
            stats: components["schemas"]["ThreadStats"];
            /** @description Stored by compaction at the floor */
            summary?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            updated_at: number;
        };
        ThreadStamp: {
            /** Format: int64 */
            created_at: number;
            /** @description One for each entry sent, in order, also for entries that were already stored */
            entries: components["schemas"]["EntryStamp"][];
            head: string;
            id: string;
            /** Format: int64 */
            incarnation: number;
            /** Format: int64 */
            rev: number;
            /** Format: int64 */
            updated_at: number;
        };
        ThreadStats: {
            /**
             * Format: int64
             * @description Equal to rev
             */
            entry_count: number;
        };
        Timer: {
            /**
             * Format: int64
             * @description Failed attempts at the pending occurrence
             */
            attempts?: number;
            /** Format: int64 */
            catch_up?: number;
            /** Format: int64 */
            created_at: number;
            cron?: string;
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description Of the last put; it only grows
             */
            generation: number;
            id: string;
            key: string;
            last_error?: string;
            manager: string;
            missed: string;
            /**
             * Format: int64
             * @description The pending occurrence; absent until the first one of a cron has been computed, just after the put
             */
            next?: number;
            /**
             * Format: int64
             * @description After a failed attempt: the time of the next attempt
             */
            not_before?: number;
            /** @description Its attempts are used up: it does not fire until it is put again */
            parked?: boolean;
            time_zone?: string;
            type: string;
            /**
             * Format: int64
             * @description When it was last put
             */
            updated_at: number;
        };
        TimerBody: {
            /**
             * Format: int64
             * @description When it fires, once, Unix ms; an instant in the past fires at once
             */
            at?: number | null;
            /**
             * Format: int64
             * @description Of catch_up: number of last occurrences to fire; 16 if absent
             */
            catch_up?: number | null;
            /** @description Five fields, six (seconds first), seven (year last), or a macro such as @daily; either cron or at */
            cron?: string | null;
            /** @description Of the signal */
            data?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description What happens to occurrences that did not fire in time: skip if absent, fire_once for at
             * @enum {string|null}
             */
            missed?: "skip" | "fire_once" | "catch_up" | null;
            /** @description Of cron, an IANA name; UTC if absent */
            time_zone?: string | null;
            /** @description Of the signal; timer if absent */
            type?: string | null;
        };
        Token: {
            /** Format: int64 */
            created_at: number;
            /** @description The principal that created it */
            created_by?: string;
            /**
             * Format: int64
             * @description Absent if it never expires
             */
            expires_at?: number;
            grants: components["schemas"]["Grant"][];
            id: string;
            /**
             * Format: int64
             * @description When the answering node last saw it, to the minute; absent if not since that node started
             */
            last_used?: number;
            principal: string;
        };
        TokenBody: {
            grants: components["schemas"]["Grant"][] | null;
            /** @description SHA-256, in hex, of a secret that the caller has made; if absent, the node makes the secret */
            hash?: string | null;
            /** @description Has at most two tokens at a time */
            principal: string;
            /**
             * Format: int64
             * @description Never expires if absent
             */
            ttl_ms?: number | null;
        };
        TtlBody: {
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description From this call, in log time; 0 means never
             */
            ttl_ms: number;
        };
        Turned: {
            /** @description The caller's lease; absent if it has none, for example if the claim is queued */
            lease?: components["schemas"]["Lease"];
            /**
             * Format: int64
             * @description Of claim: the position in the queue, from 1; absent if the request runs
             */
            queued?: number;
            /** @description Of claim_resume and recover */
            recovery?: components["schemas"]["Recovery"];
            session: components["schemas"]["SessionRow"];
        };
        TurnEnd: {
            /** @description The session's if absent */
            agent_id?: string | null;
            /** @description The current one if absent */
            conversation?: components["schemas"]["Conversation"] | null;
            /** @description The current one if absent */
            environment?: {
                [key: string]: unknown;
            } | null;
            error?: unknown;
            /** @description The turn's if absent */
            request_id?: string | null;
            result?: unknown;
            snapshots?: components["schemas"]["SnapshotBody"][] | null;
            /** @description finished, error, cancelled, hibernated or waiting */
            status: string;
        };
        UpdateMessageBody: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /** @description The current one if absent */
            content?: {
                [key: string]: unknown;
            } | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /** @description The current one if absent */
            status?: string | null;
        };
        UpdateMessageOp: {
            /** @description Must be the conversation's agent, if it has one; any if absent */
            agent_id?: string | null;
            /** @description The current one if absent */
            content?: {
                [key: string]: unknown;
            } | null;
            conversation_id: string;
            /** Format: int64 */
            if_incarnation?: number | null;
            message_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "update_message";
            /** @description Must be the conversation's owner, if it has one; any if absent */
            owner_id?: string | null;
            /** @description The current one if absent */
            status?: string | null;
        };
        UpdateMessageResult: {
            /** @enum {string} */
            op: "update_message";
        } & components["schemas"]["MessageUpdated"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "update_message";
        };
        Value: {
            bytes: string;
            content_type: string;
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            expires_at?: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            updated_at: number;
        };
        ValueRow: {
            /** @description The bytes, if the list is asked for bodies */
            body?: string;
            /** Format: int64 */
            bytes: number;
            content_type: string;
            /** Format: int64 */
            expires_at?: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            updated_at: number;
        };
        ValueStamp: {
            /** Format: int64 */
            created_at: number;
            /** Format: int64 */
            incarnation: number;
            key: string;
            /** Format: int64 */
            revision: number;
            /** @description The value existed and was kept */
            skipped?: boolean;
            /** Format: int64 */
            updated_at: number;
        };
        Verified: {
            /** @description Recomputed */
            head: string;
            ok: boolean;
            /** Format: int64 */
            rev: number;
            /** @description If it is not ok */
            why?: string;
        };
        VerifyThreadAnswer: {
            /** @enum {string} */
            read: "verify_thread";
        } & {
            error?: components["schemas"]["Problem"];
            found?: components["schemas"]["Verified"];
        } & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "verify_thread";
        };
        VerifyThreadRead: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            read: "verify_thread";
            thread: string;
        };
        WatchEnd: {
            /** Format: int64 */
            floor?: number;
        };
        WriteMemoryOp: {
            agent_id: string;
            /**
             * @description episodic if absent
             * @enum {string|null}
             */
            class?: "episodic" | "semantic" | "procedural" | "working" | null;
            /** @description Content or data is required */
            content?: string | null;
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description Must have as many dimensions as the agent's other memories */
            embedding?: number[] | null;
            /**
             * Format: int64
             * @description Never if absent
             */
            expires_at?: number | null;
            /** @description Derived from the content if absent */
            id?: string | null;
            /** Format: int64 */
            if_incarnation?: number | null;
            /**
             * Format: int64
             * @description Apply only at this revision; 0 means that it must not exist
             */
            if_revision?: number | null;
            /** @description Any string; event if absent */
            kind?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description When it happened; now if absent
             */
            observed_at?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "write_memory";
            /** @description None if absent */
            session_id?: string | null;
            source?: string | null;
            tags?: string[] | null;
            /**
             * Format: int64
             * @description Instead of expires_at: expire after this time, in log time
             */
            ttl_ms?: number | null;
        };
        WriteMemoryResult: {
            /** @enum {string} */
            op: "write_memory";
        } & components["schemas"]["MemoryStamp"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "write_memory";
        };
    };
    responses: {
        /**
         * @description A problem with one of these codes:
         *
         *     - `already_claimed`: The claim is held by another
         *     - `already_exists`: It exists already
         *     - `approval_expired`: The review has expired
         *     - `approval_interrupt_mismatch`: The review is of another interrupt
         *     - `checkpoint_session_mismatch`: The snapshot is of another turn
         *     - `conflict`: The stored state is not as the request expects
         *     - `duplicate_entry`: The entry id is in the thread with other content
         *     - `fenced`: The fence is stale or expired
         *     - `invalid_conversation_commit_revision`: The conversation does not follow from the stored one
         *     - `missing_session_snapshot`: The session has no such snapshot
         *     - `missing_thread`: The pointer has no thread
         *     - `mutation_failed`: The new topology is stored, but not all nodes match it
         *     - `mutation_in_progress`: Another mutation of the pod is running
         *     - `reconcile_failed`: The pod runs, but not all requested nodes do
         *     - `request_expired`: Too old to tell whether it was applied
         *     - `review_already_decided`: The review has been decided
         *     - `revision_mismatch`: It is at another revision
         *     - `session_already_running`: A turn of the session runs already
         *     - `session_commit_mismatch`: The commit is of another turn
         *     - `session_lease_active`: The session's lease has not expired
         *     - `session_lease_expired`: The lease has expired
         *     - `session_lease_required`: The session is leased: commit under the lease
         *     - `session_not_recoverable`: The session has no turn to recover
         *     - `session_not_resumable`: The session is neither hibernated nor waiting
         *     - `session_queue_empty`: The queue is empty
         *     - `stale_conversation_revision`: The conversation is at another revision
         *     - `stale_session_lease`: The lease is not the session's
         *     - `stale_session_revision`: The session is at another revision
         *     - `thaw_failed`: The instance cannot be restored from its checkpoint; nothing was started
         *     - `thread_mismatch`: The pointer's thread has another history
         *     - `thread_rev_regression`: The stored thread is longer than the caller's
         */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "already_claimed",
                 *       "detail": "The claim is held by another",
                 *       "status": 409,
                 *       "title": "The claim is held by another",
                 *       "type": "urn:dormouse:problem:already_claimed"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `forbidden`: This is not allowed
         *     - `quota_exceeded`: The scope's policy does not allow more; nothing was applied
         */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "forbidden",
                 *       "detail": "This is not allowed",
                 *       "status": 403,
                 *       "title": "This is not allowed",
                 *       "type": "urn:dormouse:problem:forbidden"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `compacted`: It is below the floor
         *     - `deleted`: It was deleted since, or is sealed
         */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "compacted",
                 *       "detail": "It is below the floor",
                 *       "status": 410,
                 *       "title": "It is below the floor",
                 *       "type": "urn:dormouse:problem:compacted"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `handler_failed`: The signal's handler failed; nothing of its turn was applied
         */
        HandlerFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "handler_failed",
                 *       "detail": "The signal's handler failed; nothing of its turn was applied",
                 *       "status": 502,
                 *       "title": "The signal's handler failed; nothing of its turn was applied",
                 *       "type": "urn:dormouse:problem:handler_failed"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `idempotency_mismatch`: The idempotency key was used for another body
         */
        IdempotencyMismatch: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "idempotency_mismatch",
                 *       "detail": "The idempotency key was used for another body",
                 *       "status": 422,
                 *       "title": "The idempotency key was used for another body",
                 *       "type": "urn:dormouse:problem:idempotency_mismatch"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `corrupt`: Stored data fails its checksum
         *     - `internal`: A bug
         */
        Internal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "corrupt",
                 *       "detail": "Stored data fails its checksum",
                 *       "status": 500,
                 *       "title": "Stored data fails its checksum",
                 *       "type": "urn:dormouse:problem:corrupt"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `invalid`: The request itself is wrong
         *     - `unsupported_session_schema_version`: The session is of a newer schema
         */
        Invalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "invalid",
                 *       "detail": "The request itself is wrong",
                 *       "status": 400,
                 *       "title": "The request itself is wrong",
                 *       "type": "urn:dormouse:problem:invalid"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `not_found`: There is no such thing
         */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "not_found",
                 *       "detail": "There is no such thing",
                 *       "status": 404,
                 *       "title": "There is no such thing",
                 *       "type": "urn:dormouse:problem:not_found"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `overloaded`: A queue or a quota is full; nothing was applied
         */
        Overloaded: {
            headers: {
                /** @description Seconds */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "overloaded",
                 *       "detail": "A queue or a quota is full; nothing was applied",
                 *       "status": 429,
                 *       "title": "A queue or a quota is full; nothing was applied",
                 *       "type": "urn:dormouse:problem:overloaded"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Any other problem; its code says which */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `too_large`: It is over a limit
         */
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "too_large",
                 *       "detail": "It is over a limit",
                 *       "status": 413,
                 *       "title": "It is over a limit",
                 *       "type": "urn:dormouse:problem:too_large"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `unauthenticated`: The credentials are missing or invalid
         */
        Unauthenticated: {
            headers: {
                /** @description Bearer */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "unauthenticated",
                 *       "detail": "The credentials are missing or invalid",
                 *       "status": 401,
                 *       "title": "The credentials are missing or invalid",
                 *       "type": "urn:dormouse:problem:unauthenticated"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `not_owner`: The instance is moving; nothing was handled
         *     - `read_only`: The cluster takes no writes now
         *     - `unavailable`: The node cannot serve this now; nothing was applied
         */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "not_owner",
                 *       "detail": "The instance is moving; nothing was handled",
                 *       "status": 503,
                 *       "title": "The instance is moving; nothing was handled",
                 *       "type": "urn:dormouse:problem:not_owner"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `unknown`: The outcome is unknown; retry with the same Idempotency-Key
         */
        Unknown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "unknown",
                 *       "detail": "The outcome is unknown; retry with the same Idempotency-Key",
                 *       "status": 504,
                 *       "title": "The outcome is unknown; retry with the same Idempotency-Key",
                 *       "type": "urn:dormouse:problem:unknown"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A problem with one of these codes:
         *
         *     - `unsupported_media`: The body's type is not for this call
         */
        UnsupportedMedia: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": "unsupported_media",
                 *       "detail": "The body's type is not for this call",
                 *       "status": 415,
                 *       "title": "The body's type is not for this call",
                 *       "type": "urn:dormouse:problem:unsupported_media"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "get-livez": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Invalid"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-metrics": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-openapi": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Invalid"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-readyz": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Invalid"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "erase-agent": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent": "k/1",
                     *       "checkpoints": 1,
                     *       "claims": 0,
                     *       "complete": true,
                     *       "completed_at": 1700000000004,
                     *       "conversations": 0,
                     *       "entries": 0,
                     *       "erased_at": 1700000000004,
                     *       "hash": "68c84299828383e31d96fe0ec767ec466cf98bee7a0cf23d4c84c68ea792a3b7",
                     *       "index": 4,
                     *       "instances": 0,
                     *       "kept": 0,
                     *       "memories": 0,
                     *       "reviews": 0,
                     *       "revisions": 1,
                     *       "sessions": 0,
                     *       "threads": 0,
                     *       "timers": 0
                     *     }
                     */
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-erasure": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent": "agent",
                     *       "checkpoints": 107,
                     *       "claims": 114,
                     *       "complete": true,
                     *       "completed_at": 105,
                     *       "conversations": 118,
                     *       "entries": 110,
                     *       "erased_at": 104,
                     *       "hash": "7a7b7c7d7e7f808182838485868788898a8b8c8d8e8f90919293949596979899",
                     *       "index": 103,
                     *       "instances": 116,
                     *       "kept": 120,
                     *       "memories": 111,
                     *       "reviews": 113,
                     *       "revisions": 108,
                     *       "sealed_until": 106,
                     *       "sessions": 112,
                     *       "threads": 109,
                     *       "timers": 115
                     *     }
                     */
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "fork-agent": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "if_incarnation": 1,
                 *       "if_revision": 2,
                 *       "new_agent": "new_agenté",
                 *       "new_session": "new_sessioné",
                 *       "new_thread": "new_threadé",
                 *       "revision": 6,
                 *       "session": "sessioné",
                 *       "without_memory": true
                 *     }
                 */
                "application/json": components["schemas"]["ForkAgentBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkpoint": {
                     *         "created_at": 106,
                     *         "incarnation": 104,
                     *         "key": "key",
                     *         "revision": 105,
                     *         "skipped": true,
                     *         "thread": {
                     *           "head": "head",
                     *           "id": "thread",
                     *           "incarnation": 113,
                     *           "rev": 111
                     *         },
                     *         "updated_at": 107
                     *       },
                     *       "memories": 194,
                     *       "session": {
                     *         "agent_id": "agent",
                     *         "busy": "busy",
                     *         "created_at": 191,
                     *         "expires_at": 193,
                     *         "id": "id",
                     *         "incarnation": 173,
                     *         "lease": {
                     *           "acquired_at": 185,
                     *           "epoch": 184,
                     *           "expires_at": 186,
                     *           "lease_id": "leaseid",
                     *           "owner_id": "owner",
                     *           "request_id": "requestid"
                     *         },
                     *         "mode": "mode",
                     *         "queue_length": 190,
                     *         "recoverable": true,
                     *         "request_count": 188,
                     *         "request_id": "requestid",
                     *         "revision": 174,
                     *         "snapshot_count": 189,
                     *         "status": "status",
                     *         "updated_at": 192
                     *       },
                     *       "thread": {
                     *         "created_at": 155,
                     *         "expires_at": 163,
                     *         "floor": 153,
                     *         "forked_from": {
                     *           "id": "thread",
                     *           "incarnation": 161,
                     *           "rev": 162
                     *         },
                     *         "head": "797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798",
                     *         "id": "id",
                     *         "incarnation": 118,
                     *         "metadata": {
                     *           "metadata": "é<é>",
                     *           "z": 1
                     *         },
                     *         "rev": 119,
                     *         "stats": {
                     *           "entry_count": 119
                     *         },
                     *         "summary": {
                     *           "summary": "é<é>",
                     *           "z": 1
                     *         },
                     *         "updated_at": 156
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ForkedAgent"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "hibernate-agent": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "state": {
                 *         "step": "wait"
                 *       },
                 *       "thread": {
                 *         "entries": [
                 *           {
                 *             "id": "m1",
                 *             "kind": "message",
                 *             "payload": {
                 *               "text": "Hello"
                 *             }
                 *           }
                 *         ],
                 *         "from_seq": 0,
                 *         "id": "chat-8",
                 *         "rev": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["HibernateBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hibernated"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000007,
                     *       "incarnation": 8,
                     *       "journal": {
                     *         "created_at": 1700000000007,
                     *         "entries": [
                     *           {
                     *             "at": 1700000000007,
                     *             "id": "m1",
                     *             "seq": 0
                     *           }
                     *         ],
                     *         "head": "c96beac91926b4ad68dfc7f9f4aee5e98eca1bf3fee14f45bfd8c0c05e1c8ef8",
                     *         "id": "chat-8",
                     *         "incarnation": 7,
                     *         "rev": 1,
                     *         "updated_at": 1700000000007
                     *       },
                     *       "key": "agent-8",
                     *       "revision": 1,
                     *       "thread": {
                     *         "head": "c96beac91926b4ad68dfc7f9f4aee5e98eca1bf3fee14f45bfd8c0c05e1c8ef8",
                     *         "id": "chat-8",
                     *         "incarnation": 7,
                     *         "rev": 1
                     *       },
                     *       "updated_at": 1700000000007
                     *     }
                     */
                    "application/json": components["schemas"]["Hibernated"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "thaw-agent": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description An older revision that is kept; 0 means the current one */
                revision?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only the last entries, at most this many */
                tail?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ahead": 0,
                     *       "checkpoint": {
                     *         "created_at": 1700000000007,
                     *         "incarnation": 8,
                     *         "key": "agent-8",
                     *         "lifecycle": "",
                     *         "metadata": {},
                     *         "revision": 1,
                     *         "state": {
                     *           "step": "wait"
                     *         },
                     *         "thread": {
                     *           "head": "c96beac91926b4ad68dfc7f9f4aee5e98eca1bf3fee14f45bfd8c0c05e1c8ef8",
                     *           "id": "chat-8",
                     *           "incarnation": 7,
                     *           "rev": 1
                     *         },
                     *         "updated_at": 1700000000007,
                     *         "version": 1
                     *       },
                     *       "thread": {
                     *         "created_at": 1700000000007,
                     *         "entries": [
                     *           {
                     *             "at": 1700000000007,
                     *             "id": "m1",
                     *             "kind": "message",
                     *             "payload": {
                     *               "text": "Hello"
                     *             },
                     *             "refs": {},
                     *             "seq": 0
                     *           }
                     *         ],
                     *         "floor": 0,
                     *         "head": "c96beac91926b4ad68dfc7f9f4aee5e98eca1bf3fee14f45bfd8c0c05e1c8ef8",
                     *         "id": "chat-8",
                     *         "incarnation": 7,
                     *         "metadata": {},
                     *         "rev": 1,
                     *         "stats": {
                     *           "entry_count": 1
                     *         },
                     *         "updated_at": 1700000000007
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Thawed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "watch-changes": {
        parameters: {
            query?: {
                /** @description The first index of the log; only new changes if absent or 0 */
                from_index?: number;
                /** @description body: with the bytes, or with the state and the metadata; of changes with what each wrote */
                include?: "body";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description Continue after this event; takes precedence over from and from_index */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Change"] | components["schemas"]["WatchEnd"] | components["schemas"]["Problem"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-checkpoints": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description body: with the bytes, or with the state and the metadata; of changes with what each wrote */
                include?: "body";
                /** @description Rows of one page */
                limit?: number;
                /** @description KEY=VALUE: only those whose metadata has this member; may be repeated for others. The scope must have declared the keys with index_metadata */
                metadata?: string[];
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "bytes": 60,
                     *           "incarnation": 2,
                     *           "key": "agent-7",
                     *           "lifecycle": "idle",
                     *           "revision": 2,
                     *           "updated_at": 1700000000003
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListCheckpointRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-checkpoints": {
        parameters: {
            query?: {
                /** @description All of the kind, instead of a prefix */
                all?: boolean;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "complete": true,
                     *       "completed_at": 108,
                     *       "deleted_at": 106,
                     *       "id": "id",
                     *       "index": 105,
                     *       "kind": "kind",
                     *       "prefix": "prefix",
                     *       "removed": 107
                     *     }
                     */
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The path of the receipt */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-checkpoint": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description An older revision that is kept; 0 means the current one */
                revision?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000002,
                     *       "incarnation": 2,
                     *       "key": "agent-7",
                     *       "lifecycle": "idle",
                     *       "metadata": {
                     *         "model": "large"
                     *       },
                     *       "revision": 1,
                     *       "state": {
                     *         "facts": [
                     *           "the door is open"
                     *         ],
                     *         "step": "plan"
                     *       },
                     *       "thread": null,
                     *       "updated_at": 1700000000002,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Checkpoint"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-checkpoint": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lifecycle": "idle",
                 *       "metadata": {
                 *         "model": "large"
                 *       },
                 *       "state": {
                 *         "facts": [
                 *           "the door is open"
                 *         ],
                 *         "step": "plan"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CheckpointBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckpointStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000002,
                     *       "incarnation": 2,
                     *       "key": "agent-7",
                     *       "revision": 1,
                     *       "updated_at": 1700000000002
                     *     }
                     */
                    "application/json": components["schemas"]["CheckpointStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-checkpoint": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "patch-checkpoint": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Members of the patch replace those of the state whole */
                shallow?: boolean;
                /** @description Patch a missing checkpoint as an empty one */
                upsert?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "step": "act"
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
                /**
                 * @example {
                 *       "step": "act"
                 *     }
                 */
                "application/merge-patch+json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000002,
                     *       "incarnation": 2,
                     *       "key": "agent-7",
                     *       "revision": 2,
                     *       "updated_at": 1700000000003
                     *     }
                     */
                    "application/json": components["schemas"]["CheckpointStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "patch-checkpoint-cron": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "a": {
                 *         "b": 1
                 *       },
                 *       "c": null
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 105,
                     *       "incarnation": 103,
                     *       "key": "key",
                     *       "revision": 104,
                     *       "skipped": true,
                     *       "thread": {
                     *         "head": "head",
                     *         "id": "thread",
                     *         "incarnation": 112,
                     *         "rev": 110
                     *       },
                     *       "updated_at": 106
                     *     }
                     */
                    "application/json": components["schemas"]["CheckpointStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-checkpoint-history": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "bytes": 60,
                     *           "incarnation": 2,
                     *           "key": "agent-7",
                     *           "lifecycle": "idle",
                     *           "revision": 2,
                     *           "updated_at": 1700000000003
                     *         },
                     *         {
                     *           "bytes": 61,
                     *           "incarnation": 2,
                     *           "key": "agent-7",
                     *           "lifecycle": "idle",
                     *           "revision": 1,
                     *           "updated_at": 1700000000002
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListCheckpointRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-claims": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "claimed_at": 1700000000002,
                     *           "epoch": 2,
                     *           "expires_at": 1700000030002,
                     *           "holder": "holderé",
                     *           "name": "n",
                     *           "ttl_ms": 30000
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListClaim"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-claim": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "claimed_at": 1700000000008,
                     *       "epoch": 8,
                     *       "expires_at": 1700000030009,
                     *       "holder": "host-a",
                     *       "name": "worker:1",
                     *       "ttl_ms": 30000
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "take-claim": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "holder": "host-a",
                 *       "ttl_ms": 30000
                 *     }
                 */
                "application/json": components["schemas"]["TakeBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "claimed_at": 1700000000008,
                     *       "epoch": 8,
                     *       "expires_at": 1700000030008,
                     *       "holder": "host-a",
                     *       "name": "worker:1",
                     *       "ttl_ms": 30000
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "release-claim": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "epoch": 8,
                 *       "holder": "host-a"
                 *     }
                 */
                "application/json": components["schemas"]["ReleaseBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "worker:1"
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "renew-claim": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "epoch": 8,
                 *       "holder": "host-a"
                 *     }
                 */
                "application/json": components["schemas"]["RenewBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "claimed_at": 1700000000008,
                     *       "epoch": 8,
                     *       "expires_at": 1700000030009,
                     *       "holder": "host-a",
                     *       "name": "worker:1",
                     *       "ttl_ms": 30000
                     *     }
                     */
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "watch-claim": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Claim"] | components["schemas"]["Problem"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-cluster": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applied_index": 7,
                     *       "auth": "",
                     *       "chain": "0000beef",
                     *       "cluster_id": "c1",
                     *       "commit_index": 8,
                     *       "feature_level": 0,
                     *       "insecure": false,
                     *       "leader": "n1",
                     *       "members": [
                     *         {
                     *           "addresses": {
                     *             "http": "127.0.0.1:7600"
                     *           },
                     *           "applied_index": 7,
                     *           "disk_free": 0,
                     *           "host": false,
                     *           "id": "n1",
                     *           "incarnation": "",
                     *           "last_contact": 0,
                     *           "leader": true,
                     *           "status": "alive",
                     *           "version": "",
                     *           "voter": true,
                     *           "want_vote": false
                     *         }
                     *       ],
                     *       "node": "n1",
                     *       "term": 3,
                     *       "version": ""
                     *     }
                     */
                    "application/json": components["schemas"]["ClusterStatus"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-audit-records": {
        parameters: {
            query?: {
                /** @description Only records with a lower seq; 0 means any */
                before_seq?: number;
                /** @description Rows of one page */
                limit?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "next": 8,
                     *       "node": "n1",
                     *       "records": [
                     *         {
                     *           "kind": "admin",
                     *           "seq": 8
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuditRecords"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-backup": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-backups": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "backups": [
                     *         {
                     *           "bytes": 130,
                     *           "encrypted": true,
                     *           "index": 124,
                     *           "key": "key",
                     *           "name": "name",
                     *           "node": "node",
                     *           "started_at": 127,
                     *           "state_bytes": 129,
                     *           "state_hash": "statehash",
                     *           "term": 125,
                     *           "time": 126,
                     *           "verified_at": 128
                     *         }
                     *       ],
                     *       "damages": [
                     *         "damages"
                     *       ],
                     *       "segments": 134,
                     *       "status": {
                     *         "encrypted": true,
                     *         "gaps": 118,
                     *         "last_error": "lasterror",
                     *         "last_error_at": 115,
                     *         "last_index": 112,
                     *         "last_name": "lastname",
                     *         "last_success_at": 113,
                     *         "log_error": "logerror",
                     *         "next": 109,
                     *         "node": "node",
                     *         "phase": "phase",
                     *         "public_key": "publickey",
                     *         "shipped_time": 117,
                     *         "shipped_to": 116,
                     *         "ships_log": true,
                     *         "url": "url"
                     *       },
                     *       "stored_bytes": 138,
                     *       "unfinished": 135
                     *     }
                     */
                    "application/json": components["schemas"]["Backups"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "take-backup": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bytes": 110,
                     *       "encrypted": true,
                     *       "index": 104,
                     *       "key": "key",
                     *       "name": "name",
                     *       "node": "node",
                     *       "started_at": 107,
                     *       "state_bytes": 109,
                     *       "state_hash": "statehash",
                     *       "term": 105,
                     *       "time": 106,
                     *       "verified_at": 108
                     *     }
                     */
                    "application/json": components["schemas"]["Backup"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "demote-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "nodeé"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "drain-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "n3"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-history": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": 1700000000000,
                     *       "node": "n1",
                     *       "reads": {
                     *         "calls": [
                     *           120
                     *         ],
                     *         "p50_us": [
                     *           1500
                     *         ],
                     *         "p99_us": [
                     *           4000
                     *         ]
                     *       },
                     *       "signals": {
                     *         "calls": [
                     *           120
                     *         ],
                     *         "p50_us": [
                     *           1500
                     *         ],
                     *         "p99_us": [
                     *           4000
                     *         ]
                     *       },
                     *       "step_ms": 10000,
                     *       "writes": {
                     *         "calls": [
                     *           120
                     *         ],
                     *         "p50_us": [
                     *           1500
                     *         ],
                     *         "p99_us": [
                     *           4000
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["History"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "count-instances": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "manager": "",
                     *       "nodes": []
                     *     }
                     */
                    "application/json": components["schemas"]["ManagerStats"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "create-join-token": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "ttl_ms": 60000
                 *     }
                 */
                "application/json": components["schemas"]["JoinTokenBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "expires_at": 17,
                     *       "token": "dormjoin_for_1m0s"
                     *     }
                     */
                    "application/json": components["schemas"]["JoinToken"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "leave-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "nodeé"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-log": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-profile": {
        parameters: {
            query?: {
                /** @description The kind of the profile; heap if absent */
                profile?: "heap" | "goroutine" | "cpu";
                /** @description How long a CPU profile takes; 5 if absent, at most 60 */
                seconds?: number;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "promote-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "nodeé"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "resume-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "n3"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-settings": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "node": "n1",
                     *       "settings": [
                     *         {
                     *           "default": "127.0.0.1:7600",
                     *           "name": "http.addr",
                     *           "value": "10.0.0.1:7600"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Settings"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-slow-calls": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "calls": [
                     *         {
                     *           "apply_us": 80,
                     *           "at": 1700000000000,
                     *           "call": "commit",
                     *           "first": "PutValue",
                     *           "leader_us": 0,
                     *           "ops": 1,
                     *           "queue_us": 2100,
                     *           "replicate_us": 1310000,
                     *           "scope": "default",
                     *           "took_us": 1320000
                     *         }
                     *       ],
                     *       "node": "n1"
                     *     }
                     */
                    "application/json": components["schemas"]["SlowCalls"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-state-sum": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "hash": "9f86d0",
                     *       "index": 7,
                     *       "kinds": [
                     *         {
                     *           "bytes": 180,
                     *           "hash": "000000000000002f",
                     *           "kind": "thread",
                     *           "rows": 2
                     *         }
                     *       ],
                     *       "node": "n1"
                     *     }
                     */
                    "application/json": components["schemas"]["StateSum"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "transfer-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "node": "nodeé"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leader": "n2"
                     *     }
                     */
                    "application/json": components["schemas"]["Changed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    commit: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ops": [
                 *         {
                 *           "entries": [
                 *             {
                 *               "id": "m2",
                 *               "kind": "message",
                 *               "payload": {
                 *                 "role": "assistant",
                 *                 "text": "It arrives today"
                 *               }
                 *             }
                 *           ],
                 *           "expected_rev": 1,
                 *           "op": "append_thread",
                 *           "thread": "chat-1"
                 *         },
                 *         {
                 *           "key": "agent-7",
                 *           "op": "patch_checkpoint",
                 *           "patch": {
                 *             "step": "done"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CommitBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "index": 21,
                     *       "results": [
                     *         {
                     *           "created_at": 1700000000004,
                     *           "entries": [
                     *             {
                     *               "at": 1700000000021,
                     *               "id": "m2",
                     *               "seq": 1
                     *             }
                     *           ],
                     *           "floor": 1,
                     *           "head": "a8f4a20ed81a10bd5da580ff214cf41e6aabbf635a986d4414f876b8072799da",
                     *           "id": "chat-1",
                     *           "incarnation": 4,
                     *           "op": "append_thread",
                     *           "rev": 2,
                     *           "stats": {
                     *             "entry_count": 2
                     *           },
                     *           "updated_at": 1700000000021
                     *         },
                     *         {
                     *           "created_at": 1700000000002,
                     *           "incarnation": 2,
                     *           "key": "agent-7",
                     *           "op": "patch_checkpoint",
                     *           "revision": 3,
                     *           "updated_at": 1700000000021
                     *         }
                     *       ],
                     *       "time": 1700000000021
                     *     }
                     */
                    "application/json": components["schemas"]["Committed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-conversations": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description Only conversations that are interrupted */
                interrupted?: boolean;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only if this is the owner */
                owner_id?: string;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "consumed": 0,
                     *           "created_at": 1700000000005,
                     *           "id": "i d",
                     *           "incarnation": 5,
                     *           "interrupted": false,
                     *           "message_count": 1,
                     *           "pending_count": 1,
                     *           "revision": 0,
                     *           "updated_at": 1700000000007
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListConversationRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-conversation": {
        parameters: {
            query?: {
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Only if this is the owner */
                owner_id?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "consumed": 0,
                     *       "created_at": 1700000000005,
                     *       "id": "i d",
                     *       "incarnation": 5,
                     *       "interrupted": false,
                     *       "message_count": 1,
                     *       "pending": [
                     *         {
                     *           "at": 1700000000007,
                     *           "message": {
                     *             "b": [
                     *               true,
                     *               null,
                     *               18446744073709552000
                     *             ],
                     *             "message": 1
                     *           },
                     *           "number": 1
                     *         }
                     *       ],
                     *       "pending_count": 1,
                     *       "revision": 0,
                     *       "updated_at": 1700000000007
                     *     }
                     */
                    "application/json": components["schemas"]["SavedConversation"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "save-conversation": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent-7",
                 *       "lifecycle": "completion",
                 *       "owner_id": "u1",
                 *       "state": {
                 *         "state": {
                 *           "messages": 2
                 *         },
                 *         "version": 1
                 *       },
                 *       "title": "A parcel"
                 *     }
                 */
                "application/json": components["schemas"]["SaveConversationBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationRow"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent-7",
                     *       "consumed": 0,
                     *       "created_at": 1700000000014,
                     *       "id": "c1",
                     *       "incarnation": 14,
                     *       "interrupted": false,
                     *       "lifecycle": "completion",
                     *       "message_count": 0,
                     *       "owner_id": "u1",
                     *       "pending_count": 0,
                     *       "revision": 1,
                     *       "saved_at": 1700000000014,
                     *       "title": "A parcel",
                     *       "updated_at": 1700000000014,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-conversation": {
        parameters: {
            query?: {
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Only if this is the owner */
                owner_id?: string;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "set-interrupted": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent_idé",
                 *       "if_incarnation": 2,
                 *       "interrupted": true,
                 *       "owner_id": "owner_idé"
                 *     }
                 */
                "application/json": components["schemas"]["InterruptedBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conversation": {
                     *         "agent_id": "agent",
                     *         "consumed": 114,
                     *         "created_at": 115,
                     *         "expires_at": 118,
                     *         "id": "id",
                     *         "incarnation": 104,
                     *         "interrupted": true,
                     *         "lifecycle": "lifecycle",
                     *         "message_count": 112,
                     *         "owner_id": "owner",
                     *         "pending_count": 113,
                     *         "revision": 105,
                     *         "saved_at": 117,
                     *         "title": "title",
                     *         "updated_at": 116,
                     *         "version": 110
                     *       },
                     *       "messages": [
                     *         {
                     *           "at": 124,
                     *           "id": "id",
                     *           "seq": 123,
                     *           "skipped": true
                     *         }
                     *       ],
                     *       "pending": 119
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationChange"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-messages": {
        parameters: {
            query?: {
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description The first seq */
                from?: number;
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Only if this is the owner */
                owner_id?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only the last entries, at most this many */
                tail?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conversation": {
                     *         "agent_id": "agent-7",
                     *         "consumed": 0,
                     *         "created_at": 1700000000014,
                     *         "id": "c1",
                     *         "incarnation": 14,
                     *         "interrupted": false,
                     *         "lifecycle": "completion",
                     *         "message_count": 1,
                     *         "owner_id": "u1",
                     *         "pending_count": 0,
                     *         "revision": 1,
                     *         "saved_at": 1700000000014,
                     *         "title": "A parcel",
                     *         "updated_at": 1700000000015,
                     *         "version": 1
                     *       },
                     *       "items": [
                     *         {
                     *           "at": 1700000000015,
                     *           "content": {
                     *             "text": "Where is my parcel?"
                     *           },
                     *           "id": "d1",
                     *           "revision": 1,
                     *           "role": "user",
                     *           "seq": 0,
                     *           "type": "text",
                     *           "updated_at": 1700000000015
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "save-messages": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "messages": [
                 *         {
                 *           "content": {
                 *             "text": "Where is my parcel?"
                 *           },
                 *           "id": "d1",
                 *           "role": "user"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MessagesBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conversation": {
                     *         "agent_id": "agent-7",
                     *         "consumed": 0,
                     *         "created_at": 1700000000014,
                     *         "id": "c1",
                     *         "incarnation": 14,
                     *         "interrupted": false,
                     *         "lifecycle": "completion",
                     *         "message_count": 1,
                     *         "owner_id": "u1",
                     *         "pending_count": 0,
                     *         "revision": 1,
                     *         "saved_at": 1700000000014,
                     *         "title": "A parcel",
                     *         "updated_at": 1700000000015,
                     *         "version": 1
                     *       },
                     *       "messages": [
                     *         {
                     *           "at": 1700000000015,
                     *           "id": "d1",
                     *           "seq": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationChange"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "update-message": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                message: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent_idé",
                 *       "content": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "content": 1
                 *       },
                 *       "if_incarnation": 3,
                 *       "owner_id": "owner_idé",
                 *       "status": "finished"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateMessageBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "at": 106,
                     *       "id": "id",
                     *       "seq": 105,
                     *       "skipped": true
                     *     }
                     */
                    "application/json": components["schemas"]["EntryStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "pend-message": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "message": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "message": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PendBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conversation": {
                     *         "consumed": 0,
                     *         "created_at": 1700000000005,
                     *         "id": "i d",
                     *         "incarnation": 5,
                     *         "interrupted": false,
                     *         "message_count": 1,
                     *         "pending_count": 1,
                     *         "revision": 0,
                     *         "updated_at": 1700000000007
                     *       },
                     *       "pending": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationChange"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "set-conversation-ttl": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ttl_ms": 86400000
                 *     }
                 */
                "application/json": components["schemas"]["TtlBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent-7",
                     *       "consumed": 0,
                     *       "created_at": 1700000000014,
                     *       "expires_at": 1700086400016,
                     *       "id": "c1",
                     *       "incarnation": 14,
                     *       "interrupted": false,
                     *       "lifecycle": "completion",
                     *       "message_count": 1,
                     *       "owner_id": "u1",
                     *       "pending_count": 0,
                     *       "revision": 1,
                     *       "saved_at": 1700000000014,
                     *       "title": "A parcel",
                     *       "updated_at": 1700000000016,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-default-policy": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents_max": 118,
                     *       "awake_max": 125,
                     *       "bytes_max": 113,
                     *       "bytes_per_second": 123,
                     *       "changes_max": 117,
                     *       "entries_max": 120,
                     *       "history": 111,
                     *       "history_age_ms": 114,
                     *       "keys_max": 112,
                     *       "memories_max": 115,
                     *       "memory_bytes_max": 116,
                     *       "requests_per_second": 122,
                     *       "threads_max": 119,
                     *       "timers_max": 121,
                     *       "watches_max": 124
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyBody"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-default-policy": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agents_max": 1,
                 *       "awake_max": 2,
                 *       "bytes_max": 3,
                 *       "bytes_per_second": 4,
                 *       "entries_max": 5,
                 *       "keys_max": 6,
                 *       "requests_per_second": 7,
                 *       "threads_max": 8,
                 *       "timers_max": 9,
                 *       "watches_max": 10
                 *     }
                 */
                "application/json": components["schemas"]["DefaultPolicyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents_max": 119,
                     *       "awake_max": 126,
                     *       "bytes_max": 114,
                     *       "bytes_per_second": 124,
                     *       "changes_max": 118,
                     *       "entries_max": 121,
                     *       "history": 112,
                     *       "history_age_ms": 115,
                     *       "keys_max": 113,
                     *       "memories_max": 116,
                     *       "memory_bytes_max": 117,
                     *       "requests_per_second": 123,
                     *       "threads_max": 120,
                     *       "timers_max": 122,
                     *       "watches_max": 125
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyBody"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-deletions": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "complete": true,
                     *           "completed_at": 1700000000002,
                     *           "deleted_at": 1700000000002,
                     *           "id": "0000000000000002",
                     *           "index": 2,
                     *           "kind": "values",
                     *           "prefix": "k/",
                     *           "removed": 1
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListPrefixDeletion"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-deletion": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "complete": true,
                     *       "completed_at": 108,
                     *       "deleted_at": 106,
                     *       "id": "id",
                     *       "index": 105,
                     *       "kind": "kind",
                     *       "prefix": "prefix",
                     *       "removed": 107
                     *     }
                     */
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-files": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListFile"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "read-file": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The incarnation of the value, in which its revisions count; for if_incarnation */
                    "Dormouse-Incarnation"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "write-file": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description skip keeps a value that exists; replace if absent */
                on_exists?: "replace" | "skip";
                /** @description Expire after this time, in log time; 0 means never */
                ttl_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000017,
                     *       "incarnation": 17,
                     *       "path": "/notes/plan.md",
                     *       "revision": 1,
                     *       "updated_at": 1700000000017
                     *     }
                     */
                    "application/json": components["schemas"]["FileStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-file": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "file-metadata": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bytes": 6,
                     *       "content_type": "text/markdown",
                     *       "incarnation": 17,
                     *       "metadata": {},
                     *       "path": "/notes/plan.md",
                     *       "revision": 1,
                     *       "updated_at": 1700000000017
                     *     }
                     */
                    "application/json": components["schemas"]["File"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "describe-file": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "metadata": {
                 *         "author": "agent-7"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DescribeBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000017,
                     *       "incarnation": 17,
                     *       "path": "/notes/plan.md",
                     *       "revision": 2,
                     *       "updated_at": 1700000000018
                     *     }
                     */
                    "application/json": components["schemas"]["FileStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "move-file": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "/notes/old.md"
                 *     }
                 */
                "application/json": components["schemas"]["MoveBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000017,
                     *       "incarnation": 19,
                     *       "path": "/notes/old.md",
                     *       "revision": 1,
                     *       "updated_at": 1700000000019
                     *     }
                     */
                    "application/json": components["schemas"]["FileStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-managers": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "attach_ttl_ms": 60000,
                     *           "created_at": 1700000000001,
                     *           "durability": "turn",
                     *           "handler": {
                     *             "kind": "document"
                     *           },
                     *           "idle_timeout_ms": 0,
                     *           "incarnation": 1,
                     *           "mailbox_max": 64,
                     *           "metadata": {},
                     *           "name": "teams",
                     *           "revision": 1,
                     *           "signal_ttl_ms": 30000,
                     *           "storage": "cluster",
                     *           "track": false,
                     *           "updated_at": 1700000000001,
                     *           "version": 1
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListManager"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-manager": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attach_ttl_ms": 60000,
                     *       "created_at": 1700000000001,
                     *       "durability": "turn",
                     *       "handler": {
                     *         "kind": "document"
                     *       },
                     *       "idle_timeout_ms": 0,
                     *       "incarnation": 1,
                     *       "mailbox_max": 64,
                     *       "metadata": {},
                     *       "name": "teams",
                     *       "revision": 1,
                     *       "signal_ttl_ms": 30000,
                     *       "storage": "cluster",
                     *       "track": false,
                     *       "updated_at": 1700000000001,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Manager"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-manager": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "handler": {
                 *         "kind": "document"
                 *       },
                 *       "idle_timeout_ms": 600000
                 *     }
                 */
                "application/json": components["schemas"]["ManagerBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manager"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attach_ttl_ms": 60000,
                     *       "created_at": 1700000000022,
                     *       "durability": "turn",
                     *       "handler": {
                     *         "kind": "document"
                     *       },
                     *       "idle_timeout_ms": 600000,
                     *       "incarnation": 22,
                     *       "mailbox_max": 64,
                     *       "metadata": {},
                     *       "name": "support",
                     *       "revision": 1,
                     *       "signal_ttl_ms": 30000,
                     *       "storage": "cluster",
                     *       "track": false,
                     *       "updated_at": 1700000000022,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Manager"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-manager": {
        parameters: {
            query?: {
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-instance": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attachments": 2,
                     *       "epoch": 9,
                     *       "idle_at": 0,
                     *       "key": "k/1",
                     *       "mailbox": 0,
                     *       "manager": "teams",
                     *       "node": "n2",
                     *       "partition": 7,
                     *       "revision": 3,
                     *       "source": "fresh",
                     *       "status": "awake",
                     *       "thread": {
                     *         "id": "instances/teams/k/1",
                     *         "rev": 4
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Instance"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "start-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "initial_state": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "initial_state": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["StartBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Instance"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attachments": 2,
                     *       "epoch": 9,
                     *       "idle_at": 0,
                     *       "key": "k/1",
                     *       "mailbox": 0,
                     *       "manager": "teams",
                     *       "node": "n2",
                     *       "partition": 7,
                     *       "revision": 3,
                     *       "source": "fresh",
                     *       "status": "awake",
                     *       "thread": {
                     *         "id": "instances/teams/k/1",
                     *         "rev": 4
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Instance"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "stop-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "attach-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry renews the same attachment */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "attachment": "attachmenté",
                 *       "ttl_ms": 5000
                 *     }
                 */
                "application/json": components["schemas"]["AttachBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attachment": "a1",
                     *       "attachments": 2,
                     *       "epoch": 9,
                     *       "expires_at": 12,
                     *       "idle_at": 0,
                     *       "key": "k/1",
                     *       "mailbox": 0,
                     *       "manager": "teams",
                     *       "node": "n2",
                     *       "partition": 7,
                     *       "revision": 3,
                     *       "source": "fresh",
                     *       "status": "awake",
                     *       "thread": {
                     *         "id": "instances/teams/k/1",
                     *         "rev": 4
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Attached"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "patch-instance-cron": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "a": 1
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "n": 18446744073709552000
                     *       },
                     *       "durable": true,
                     *       "epoch": 9,
                     *       "node": "n2",
                     *       "rev": 5,
                     *       "revision": 4
                     *     }
                     */
                    "application/json": components["schemas"]["SignalReply"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "detach-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "attachment": "attachmenté"
                 *     }
                 */
                "application/json": components["schemas"]["AttachmentBody"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "hibernate-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "signal-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cast": true,
                 *       "data": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "data": 1
                 *       },
                 *       "type": "typeé"
                 *     }
                 */
                "application/json": components["schemas"]["SignalBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "n": 18446744073709552000
                     *       },
                     *       "durable": true,
                     *       "epoch": 9,
                     *       "node": "n2",
                     *       "rev": 5,
                     *       "revision": 4
                     *     }
                     */
                    "application/json": components["schemas"]["SignalReply"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-timers": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListTimer"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-timer": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                timer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attempts": 114,
                     *       "catch_up": 108,
                     *       "created_at": 117,
                     *       "cron": "cron",
                     *       "data": {
                     *         "data": "é<é>",
                     *         "z": 1
                     *       },
                     *       "generation": 111,
                     *       "id": "id",
                     *       "key": "key",
                     *       "last_error": "lasterror",
                     *       "manager": "manager",
                     *       "missed": "missed",
                     *       "next": 112,
                     *       "not_before": 113,
                     *       "parked": true,
                     *       "time_zone": "timezone",
                     *       "type": "type",
                     *       "updated_at": 118
                     *     }
                     */
                    "application/json": components["schemas"]["Timer"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-timer": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                timer: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "at": 1,
                 *       "catch_up": 2,
                 *       "cron": "@daily",
                 *       "data": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "data": 1
                 *       },
                 *       "missed": "skip",
                 *       "time_zone": "Europe/Berlin",
                 *       "type": "typeé"
                 *     }
                 */
                "application/json": components["schemas"]["TimerBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attempts": 115,
                     *       "catch_up": 109,
                     *       "created_at": 118,
                     *       "cron": "cron",
                     *       "data": {
                     *         "data": "é<é>",
                     *         "z": 1
                     *       },
                     *       "generation": 112,
                     *       "id": "id",
                     *       "key": "key",
                     *       "last_error": "lasterror",
                     *       "manager": "manager",
                     *       "missed": "missed",
                     *       "next": 113,
                     *       "not_before": 114,
                     *       "parked": true,
                     *       "time_zone": "timezone",
                     *       "type": "type",
                     *       "updated_at": 119
                     *     }
                     */
                    "application/json": components["schemas"]["Timer"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-timer": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                timer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "touch-instance": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "attachment": "attachmenté"
                 *     }
                 */
                "application/json": components["schemas"]["AttachmentBody"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "watch-instance": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["InstanceChange"] | components["schemas"]["InstancesMissed"] | components["schemas"]["Problem"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "manager-stats": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "manager": "manager",
                     *       "nodes": [
                     *         {
                     *           "attachments": 110,
                     *           "awake": 107,
                     *           "crashed": 115,
                     *           "draining": 109,
                     *           "error": "error",
                     *           "failed": 114,
                     *           "hibernated": 113,
                     *           "keys": [
                     *             "keys"
                     *           ],
                     *           "node": "node",
                     *           "signals": 111,
                     *           "wakes": 112,
                     *           "waking": 108
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ManagerStats"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-all-timers": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListTimer"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "watch-instances": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["InstanceChange"] | components["schemas"]["InstancesMissed"] | components["schemas"]["Problem"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-memory": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListMemory"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "write-memory": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                agent: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "class": "episodic",
                 *       "content": "contenté",
                 *       "data": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "data": 1
                 *       },
                 *       "embedding": [
                 *         0.25
                 *       ],
                 *       "expires_at": 5,
                 *       "if_incarnation": 6,
                 *       "if_revision": 7,
                 *       "kind": "kindé",
                 *       "metadata": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "metadata": 1
                 *       },
                 *       "observed_at": 10,
                 *       "session_id": "session_idé",
                 *       "source": "sourceé",
                 *       "tags": [
                 *         "tagsé"
                 *       ],
                 *       "ttl_ms": 5000
                 *     }
                 */
                "application/json": components["schemas"]["MemoryBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent",
                     *       "created_at": 106,
                     *       "id": "id",
                     *       "incarnation": 104,
                     *       "revision": 105,
                     *       "updated_at": 107
                     *     }
                     */
                    "application/json": components["schemas"]["MemoryStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-memory": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                agent: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent",
                     *       "class": "class",
                     *       "content": "content",
                     *       "created_at": 118,
                     *       "data": {
                     *         "data": "é<é>",
                     *         "z": 1
                     *       },
                     *       "embedding": [
                     *         116.5
                     *       ],
                     *       "expires_at": 120,
                     *       "id": "id",
                     *       "incarnation": 104,
                     *       "kind": "kind",
                     *       "metadata": {
                     *         "metadata": "é<é>",
                     *         "z": 1
                     *       },
                     *       "observed_at": 117,
                     *       "revision": 105,
                     *       "session_id": "session",
                     *       "source": "source",
                     *       "tags": [
                     *         "tags"
                     *       ],
                     *       "updated_at": 119
                     *     }
                     */
                    "application/json": components["schemas"]["Memory"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-memory": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                agent: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "The customer prefers letters",
                 *       "kind": "preference",
                 *       "tags": [
                 *         "contact"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MemoryBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent-7",
                     *       "created_at": 1700000000013,
                     *       "id": "fact-1",
                     *       "incarnation": 13,
                     *       "revision": 1,
                     *       "updated_at": 1700000000013
                     *     }
                     */
                    "application/json": components["schemas"]["MemoryStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-memory": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                agent: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    recall: {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent-7",
                 *       "limit": 5,
                 *       "mode": "recent",
                 *       "query": "contact"
                 *     }
                 */
                "application/json": components["schemas"]["RecallBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "index": 13,
                     *       "items": [
                     *         {
                     *           "agent_id": "agent-7",
                     *           "class": "episodic",
                     *           "content": "The customer prefers letters",
                     *           "created_at": 1700000000013,
                     *           "id": "fact-1",
                     *           "incarnation": 13,
                     *           "kind": "preference",
                     *           "metadata": {},
                     *           "observed_at": 1700000000013,
                     *           "revision": 1,
                     *           "score": 0,
                     *           "tags": [
                     *             "contact"
                     *           ],
                     *           "updated_at": 1700000000013
                     *         }
                     *       ],
                     *       "metadata": {
                     *         "entries": 1,
                     *         "matched": 1
                     *       },
                     *       "request": {
                     *         "agent_id": "agent-7",
                     *         "limit": 5,
                     *         "mode": "recent",
                     *         "query": "contact",
                     *         "within": "agent"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Recalled"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-placement": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "free": 96,
                     *       "moving": [
                     *         {
                     *           "from": "n1",
                     *           "partition": 5,
                     *           "to": "n2",
                     *           "why": "n2 joined"
                     *         }
                     *       ],
                     *       "nodes": [
                     *         {
                     *           "coming": 0,
                     *           "draining": 1,
                     *           "leased": true,
                     *           "node": "n1",
                     *           "owned": 4000,
                     *           "weight": 100
                     *         },
                     *         {
                     *           "coming": 0,
                     *           "drained_at": 5,
                     *           "draining": 0,
                     *           "leased": true,
                     *           "node": "n2",
                     *           "owned": 0,
                     *           "weight": 100
                     *         }
                     *       ],
                     *       "pins": [
                     *         {
                     *           "node": "n1",
                     *           "partition": 5,
                     *           "since": 6
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlacementShares"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "explain-placement": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description A node: what would move if it joined */
                with?: string;
                /** @description A node: what would move if it left */
                without?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "candidates": [],
                     *       "epoch": 9,
                     *       "events": [],
                     *       "owner": "n1",
                     *       "partition": 42,
                     *       "since": 0,
                     *       "since_index": 0,
                     *       "state": "owned",
                     *       "why": "k/1"
                     *     }
                     */
                    "application/json": components["schemas"]["PlacementAnswer"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "map-placement": {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "at": 131,
                     *           "epoch": 135,
                     *           "from": "from",
                     *           "index": 130,
                     *           "kind": "kind",
                     *           "partitions": 1,
                     *           "to": "to",
                     *           "why": "why"
                     *         }
                     *       ],
                     *       "index": 102,
                     *       "moving": [
                     *         {
                     *           "from": "owner",
                     *           "partition": 119,
                     *           "to": "to",
                     *           "why": "why"
                     *         }
                     *       ],
                     *       "nodes": [
                     *         "owners"
                     *       ],
                     *       "owners": [
                     *         0
                     *       ],
                     *       "pins": [
                     *         {
                     *           "node": "node",
                     *           "partition": 143,
                     *           "since": 145
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlacementMap"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "pin-partition": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                partition: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "node": "n3"
                 *     }
                 */
                "application/json": components["schemas"]["PinBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "node": "n3",
                     *       "partition": 5
                     *     }
                     */
                    "application/json": components["schemas"]["Pinned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "unpin-partition": {
        parameters: {
            query?: never;
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                partition: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "node": "",
                     *       "partition": 5
                     *     }
                     */
                    "application/json": components["schemas"]["Pinned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "look-at-pod": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "k/1",
                     *       "manager": "teams",
                     *       "mutation": {
                     *         "status": "idle",
                     *         "step": 0
                     *       },
                     *       "status": "awake",
                     *       "topology": {
                     *         "affinity": false,
                     *         "links": [],
                     *         "name": "team",
                     *         "nodes": {
                     *           "a": {
                     *             "activation": "eager",
                     *             "kind": "agent",
                     *             "manager": "agents"
                     *           }
                     *         },
                     *         "version": 1
                     *       },
                     *       "topology_version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["StoredPod"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-or-make-pod": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "initial_state": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "initial_state": 1
                 *       },
                 *       "topology": {
                 *         "b": [
                 *           true,
                 *           null,
                 *           18446744073709552000
                 *         ],
                 *         "topology": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["OpenPodBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GotPod"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created": true,
                     *       "key": "k/1",
                     *       "manager": "teams",
                     *       "report": {
                     *         "abridged": true,
                     *         "completed": [
                     *           "completed"
                     *         ],
                     *         "failed": [
                     *           "failed"
                     *         ],
                     *         "failures": {},
                     *         "nodes": {
                     *           "nodes": {
                     *             "owner": "owner",
                     *             "parent": {
                     *               "key": "key",
                     *               "manager": "manager",
                     *               "node": "node"
                     *             },
                     *             "source": "source"
                     *           }
                     *         },
                     *         "pending": [
                     *           "pending"
                     *         ],
                     *         "requested": [
                     *           "requested"
                     *         ],
                     *         "waves": [
                     *           [
                     *             "waves"
                     *           ]
                     *         ]
                     *       },
                     *       "topology_version": 103
                     *     }
                     */
                    "application/json": components["schemas"]["GotPod"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "fork-pod": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "key": "keyé"
                 *     }
                 */
                "application/json": components["schemas"]["ForkPodBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "index": 103,
                     *       "key": "key",
                     *       "nodes": 104
                     *     }
                     */
                    "application/json": components["schemas"]["Forked"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "hibernate-pod": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "abridged": true,
                     *       "failures": {},
                     *       "index": 102,
                     *       "nodes": {
                     *         "nodes": {
                     *           "manager": "manager",
                     *           "rev": 108,
                     *           "revision": 107
                     *         }
                     *       },
                     *       "stopped": [
                     *         "stopped"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Rested"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "mutate-pod": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ops": [
                 *         1.5,
                 *         "x"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MutateBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "abridged": true,
                     *       "added": [
                     *         "added"
                     *       ],
                     *       "failures": {},
                     *       "mutation_id": "mutationid",
                     *       "removed": [
                     *         "removed"
                     *       ],
                     *       "requested_ops": [
                     *         {
                     *           "add_node": {
                     *             "depends_on": [
                     *               "dependson"
                     *             ],
                     *             "name": "name",
                     *             "node": {
                     *               "activation": "activation",
                     *               "initial_state": {
                     *                 "initialstate": "é<é>",
                     *                 "z": 1
                     *               },
                     *               "kind": "kind",
                     *               "manager": "manager",
                     *               "meta": {
                     *                 "meta": "é<é>",
                     *                 "z": 1
                     *               }
                     *             },
                     *             "owner": "owner"
                     *           },
                     *           "remove_node": {
                     *             "name": "name"
                     *           }
                     *         }
                     *       ],
                     *       "started": [
                     *         "started"
                     *       ],
                     *       "status": "completed",
                     *       "stopped": [
                     *         "stopped"
                     *       ],
                     *       "topology_version": 109
                     *     }
                     */
                    "application/json": components["schemas"]["Mutated"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-pod-nodes": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "activation": "eager",
                     *           "actual_parent": null,
                     *           "adopted": false,
                     *           "expected_parent": {
                     *             "key": "k/1",
                     *             "manager": "teams"
                     *           },
                     *           "instance": "awake",
                     *           "key": "pod/teams/k%2F1/a",
                     *           "kind": "agent",
                     *           "manager": "agents",
                     *           "name": "a",
                     *           "node": "n2",
                     *           "status": "running"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PodNodes"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-pod-node": {
        parameters: {
            query?: {
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "activation": "eager",
                     *       "actual_parent": null,
                     *       "adopted": false,
                     *       "expected_parent": {
                     *         "key": "k",
                     *         "manager": "teams"
                     *       },
                     *       "instance": "awake",
                     *       "key": "pod/teams/k/a",
                     *       "kind": "agent",
                     *       "manager": "agents",
                     *       "name": "a",
                     *       "node": "n2",
                     *       "status": "running"
                     *     }
                     */
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "ensure-pod-node": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EnsureBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "node": {
                     *         "activation": "eager",
                     *         "actual_parent": null,
                     *         "adopted": false,
                     *         "expected_parent": {
                     *           "key": "k",
                     *           "manager": "teams"
                     *         },
                     *         "instance": "awake",
                     *         "key": "pod/teams/k/a",
                     *         "kind": "agent",
                     *         "manager": "agents",
                     *         "name": "a",
                     *         "node": "n2",
                     *         "status": "running"
                     *       },
                     *       "report": {
                     *         "abridged": true,
                     *         "completed": [
                     *           "completed"
                     *         ],
                     *         "failed": [
                     *           "failed"
                     *         ],
                     *         "failures": {},
                     *         "nodes": {
                     *           "nodes": {
                     *             "owner": "owner",
                     *             "parent": {
                     *               "key": "key",
                     *               "manager": "manager",
                     *               "node": "node"
                     *             },
                     *             "source": "source"
                     *           }
                     *         },
                     *         "pending": [
                     *           "pending"
                     *         ],
                     *         "requested": [
                     *           "requested"
                     *         ],
                     *         "waves": [
                     *           [
                     *             "waves"
                     *           ]
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EnsuredNode"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "reconcile-pod": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                manager: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "nodes": [
                 *         "nodesé"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ReconcileBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "abridged": true,
                     *       "completed": [
                     *         "completed"
                     *       ],
                     *       "failed": [
                     *         "failed"
                     *       ],
                     *       "failures": {},
                     *       "nodes": {
                     *         "nodes": {
                     *           "owner": "owner",
                     *           "parent": {
                     *             "key": "key",
                     *             "manager": "manager",
                     *             "node": "node"
                     *           },
                     *           "source": "source"
                     *         }
                     *       },
                     *       "pending": [
                     *         "pending"
                     *       ],
                     *       "requested": [
                     *         "requested"
                     *       ],
                     *       "waves": [
                     *         [
                     *           "waves"
                     *         ]
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Reconciled"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            502: components["responses"]["HandlerFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    read: {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reads": [
                 *         {
                 *           "key": "agent-7",
                 *           "read": "get_checkpoint"
                 *         },
                 *         {
                 *           "key": "missing",
                 *           "read": "get_value"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ReadsBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "answers": [
                     *         {
                     *           "found": {
                     *             "created_at": 1700000000002,
                     *             "incarnation": 2,
                     *             "key": "agent-7",
                     *             "lifecycle": "idle",
                     *             "metadata": {
                     *               "model": "large"
                     *             },
                     *             "revision": 3,
                     *             "state": {
                     *               "facts": [
                     *                 "the door is open"
                     *               ],
                     *               "step": "done"
                     *             },
                     *             "thread": null,
                     *             "updated_at": 1700000000021,
                     *             "version": 1
                     *           },
                     *           "read": "get_checkpoint"
                     *         },
                     *         {
                     *           "error": {
                     *             "code": "not_found",
                     *             "detail": "there is no value \"missing\"",
                     *             "status": 404,
                     *             "title": "There is no such thing",
                     *             "type": "urn:dormouse:problem:not_found"
                     *           },
                     *           "read": "get_value"
                     *         }
                     *       ],
                     *       "index": 21
                     *     }
                     */
                    "application/json": components["schemas"]["Answered"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-reviews": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Only those of this assignee */
                assignee?: string;
                /** @description Only those with an earlier deadline, Unix ms; 0 means any */
                before?: number;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Only those of this session */
                session?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only those of this status */
                status?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListReview"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-review": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                review: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "arguments": {
                     *         "arguments": "é<é>",
                     *         "z": 1
                     *       },
                     *       "assignee": "assignee",
                     *       "created_at": 117,
                     *       "decided": {
                     *         "decided": "é<é>",
                     *         "z": 1
                     *       },
                     *       "decided_at": 121,
                     *       "decided_by": "decidedby",
                     *       "deciders": [
                     *         "deciders"
                     *       ],
                     *       "escalate_at": 119,
                     *       "escalate_to": "escalateto",
                     *       "escalated": true,
                     *       "expires_at": 118,
                     *       "id": "id",
                     *       "incarnation": 103,
                     *       "interrupt_id": "interruptid",
                     *       "metadata": {
                     *         "metadata": "é<é>",
                     *         "z": 1
                     *       },
                     *       "note": "note",
                     *       "operation": "operation",
                     *       "reason": "reason",
                     *       "request_id": "requestid",
                     *       "session_id": "session",
                     *       "status": "status"
                     *     }
                     */
                    "application/json": components["schemas"]["Review"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "decide-review": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                review: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "by": "ann",
                 *       "decision": "approve"
                 *     }
                 */
                "application/json": components["schemas"]["DecideBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "arguments": {
                     *         "f": 1
                     *       },
                     *       "created_at": 1700000000005,
                     *       "decided_at": 1700000000006,
                     *       "decided_by": "ann",
                     *       "escalated": false,
                     *       "id": "q",
                     *       "incarnation": 1,
                     *       "metadata": {},
                     *       "operation": "rm",
                     *       "request_id": "r",
                     *       "session_id": "s",
                     *       "status": "approved"
                     *     }
                     */
                    "application/json": components["schemas"]["Review"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-scopes": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "agents": 0,
                     *           "bytes": 0,
                     *           "created_at": 1700000000001,
                     *           "entries": 0,
                     *           "keys": 0,
                     *           "name": "acme",
                     *           "own_policy": true,
                     *           "policy": {
                     *             "bytes_max": 0,
                     *             "history": 0,
                     *             "keys_max": 0
                     *           },
                     *           "threads": 0,
                     *           "timers": 0
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListScope"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-scope": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                scope: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents": 0,
                     *       "bytes": 0,
                     *       "created_at": 1700000000001,
                     *       "entries": 0,
                     *       "keys": 0,
                     *       "name": "acme",
                     *       "own_policy": true,
                     *       "policy": {
                     *         "bytes_max": 0,
                     *         "history": 0,
                     *         "keys_max": 0
                     *       },
                     *       "threads": 0,
                     *       "timers": 0
                     *     }
                     */
                    "application/json": components["schemas"]["Scope"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-scope": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                scope: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bytes_max": 1073741824,
                 *       "keys_max": 10000
                 *     }
                 */
                "application/json": components["schemas"]["ScopePolicyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scope"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents": 0,
                     *       "bytes": 0,
                     *       "created_at": 1700000000023,
                     *       "entries": 0,
                     *       "keys": 0,
                     *       "name": "acme",
                     *       "own_policy": true,
                     *       "policy": {
                     *         "bytes_max": 1073741824,
                     *         "history": 0,
                     *         "keys_max": 10000
                     *       },
                     *       "threads": 0,
                     *       "timers": 0
                     *     }
                     */
                    "application/json": components["schemas"]["Scope"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-scope": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                scope: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-sessions": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Only those of this agent */
                agent_id?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description KEY=VALUE: only those whose metadata has this member; may be repeated for others. The scope must have declared the keys with index_metadata */
                metadata?: string[];
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only sessions leased to this owner, including expired leases */
                owner?: string;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description Only sessions with a turn to recover: its lease has expired */
                recoverable?: boolean;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only those of this status */
                status?: string;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "agent_id": "agent-7",
                     *           "busy": "reject",
                     *           "created_at": 1700000000011,
                     *           "id": "s1",
                     *           "incarnation": 11,
                     *           "lease": {
                     *             "acquired_at": 1700000000012,
                     *             "epoch": 12,
                     *             "expires_at": 1700000030012,
                     *             "lease_id": "lease_12",
                     *             "owner_id": "host-a",
                     *             "request_id": "r1"
                     *           },
                     *           "mode": "lease",
                     *           "queue_length": 0,
                     *           "recoverable": false,
                     *           "request_count": 1,
                     *           "request_id": "r1",
                     *           "revision": 2,
                     *           "snapshot_count": 0,
                     *           "status": "running",
                     *           "updated_at": 1700000000012
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListSessionRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "create-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent_idé"
                 *     }
                 */
                "application/json": components["schemas"]["SessionBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_idé",
                     *       "busy": "reject",
                     *       "created_at": 1700000000004,
                     *       "id": "session_3361f3ef-bb3e-530d-990f-cc0367abb09b",
                     *       "incarnation": 4,
                     *       "mode": "lease",
                     *       "queue_length": 0,
                     *       "recoverable": false,
                     *       "request_count": 0,
                     *       "revision": 1,
                     *       "snapshot_count": 0,
                     *       "status": "new",
                     *       "updated_at": 1700000000004
                     *     }
                     */
                    "application/json": components["schemas"]["SessionRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-session": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent-7",
                     *       "busy": "reject",
                     *       "conversation": {
                     *         "agent_state": {},
                     *         "context_state": {}
                     *       },
                     *       "created_at": 1700000000011,
                     *       "environment": {},
                     *       "id": "s1",
                     *       "incarnation": 11,
                     *       "lease": {
                     *         "acquired_at": 1700000000012,
                     *         "epoch": 12,
                     *         "expires_at": 1700000030012,
                     *         "lease_id": "lease_12",
                     *         "owner_id": "host-a",
                     *         "request_id": "r1"
                     *       },
                     *       "metadata": {
                     *         "user": "u1"
                     *       },
                     *       "mode": "lease",
                     *       "pending_reviews": [],
                     *       "queue": [],
                     *       "queue_length": 0,
                     *       "queue_max": 16,
                     *       "recoverable": false,
                     *       "request_count": 1,
                     *       "request_id": "r1",
                     *       "requests": [
                     *         {
                     *           "at": 1700000000012,
                     *           "id": "r1",
                     *           "input": {
                     *             "text": "Where is my parcel?"
                     *           },
                     *           "metadata": {},
                     *           "owner_id": "host-a"
                     *         }
                     *       ],
                     *       "revision": 2,
                     *       "schema_version": 3,
                     *       "snapshot_count": 0,
                     *       "snapshots": [],
                     *       "spec": {},
                     *       "status": "running",
                     *       "updated_at": 1700000000012
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent-7",
                 *       "metadata": {
                 *         "user": "u1"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SessionBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionRow"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent-7",
                     *       "busy": "reject",
                     *       "created_at": 1700000000011,
                     *       "id": "s1",
                     *       "incarnation": 11,
                     *       "mode": "lease",
                     *       "queue_length": 0,
                     *       "recoverable": false,
                     *       "request_count": 0,
                     *       "revision": 1,
                     *       "snapshot_count": 0,
                     *       "status": "new",
                     *       "updated_at": 1700000000011
                     *     }
                     */
                    "application/json": components["schemas"]["SessionRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-session": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "cancel-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["CancelSessionBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "agent_id": "agent_idé",
                     *         "busy": "reject",
                     *         "created_at": 1700000000001,
                     *         "expires_at": 1700000005003,
                     *         "id": "i d",
                     *         "incarnation": 1,
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 0,
                     *         "revision": 4,
                     *         "snapshot_count": 0,
                     *         "status": "cancelled",
                     *         "updated_at": 1700000000006
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "checkpoint-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lease_id": "lease_2",
                 *       "owner_id": "w",
                 *       "snapshot": {
                 *         "cursor": {
                 *           "phase": "wait"
                 *         },
                 *         "snapshot_id": "n",
                 *         "turn_state": {
                 *           "x": 1
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CheckpointSessionBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "acquired_at": 1700000000002,
                     *         "epoch": 2,
                     *         "expires_at": 1700000005003,
                     *         "lease_id": "lease_2",
                     *         "owner_id": "w",
                     *         "request_id": "r"
                     *       },
                     *       "session": {
                     *         "agent_id": "a",
                     *         "busy": "reject",
                     *         "created_at": 1700000000001,
                     *         "id": "s",
                     *         "incarnation": 1,
                     *         "lease": {
                     *           "acquired_at": 1700000000002,
                     *           "epoch": 2,
                     *           "expires_at": 1700000005003,
                     *           "lease_id": "lease_2",
                     *           "owner_id": "w",
                     *           "request_id": "r"
                     *         },
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 1,
                     *         "request_id": "r",
                     *         "revision": 3,
                     *         "snapshot_count": 1,
                     *         "status": "running",
                     *         "updated_at": 1700000000003
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "claim-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "owner_id": "host-a",
                 *       "request": {
                 *         "id": "r1",
                 *         "input": {
                 *           "text": "Where is my parcel?"
                 *         }
                 *       },
                 *       "ttl_ms": 30000
                 *     }
                 */
                "application/json": components["schemas"]["ClaimSessionBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "acquired_at": 1700000000012,
                     *         "epoch": 12,
                     *         "expires_at": 1700000030012,
                     *         "lease_id": "lease_12",
                     *         "owner_id": "host-a",
                     *         "request_id": "r1"
                     *       },
                     *       "session": {
                     *         "agent_id": "agent-7",
                     *         "busy": "reject",
                     *         "created_at": 1700000000011,
                     *         "id": "s1",
                     *         "incarnation": 11,
                     *         "lease": {
                     *           "acquired_at": 1700000000012,
                     *           "epoch": 12,
                     *           "expires_at": 1700000030012,
                     *           "lease_id": "lease_12",
                     *           "owner_id": "host-a",
                     *           "request_id": "r1"
                     *         },
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 1,
                     *         "request_id": "r1",
                     *         "revision": 2,
                     *         "snapshot_count": 0,
                     *         "status": "running",
                     *         "updated_at": 1700000000012
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "claim_resume-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "owner_id": "v"
                 *     }
                 */
                "application/json": components["schemas"]["RunnerBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "acquired_at": 1700000000007,
                     *         "epoch": 7,
                     *         "expires_at": 1700000030007,
                     *         "lease_id": "lease_7",
                     *         "owner_id": "v",
                     *         "request_id": "r"
                     *       },
                     *       "recovery": {
                     *         "resume": "n"
                     *       },
                     *       "session": {
                     *         "agent_id": "a",
                     *         "busy": "reject",
                     *         "created_at": 1700000000001,
                     *         "id": "s",
                     *         "incarnation": 1,
                     *         "lease": {
                     *           "acquired_at": 1700000000007,
                     *           "epoch": 7,
                     *           "expires_at": 1700000030007,
                     *           "lease_id": "lease_7",
                     *           "owner_id": "v",
                     *           "request_id": "r"
                     *         },
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 1,
                     *         "request_id": "r",
                     *         "revision": 7,
                     *         "snapshot_count": 1,
                     *         "status": "running",
                     *         "updated_at": 1700000000007
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "commit-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lease_id": "lease_2",
                 *       "owner_id": "w",
                 *       "reviews": [
                 *         {
                 *           "arguments": {
                 *             "f": 1
                 *           },
                 *           "id": "q",
                 *           "operation": "rm"
                 *         }
                 *       ],
                 *       "session": {
                 *         "status": "waiting"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["EndTurnBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "agent_id": "a",
                     *         "busy": "reject",
                     *         "created_at": 1700000000001,
                     *         "id": "s",
                     *         "incarnation": 1,
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 1,
                     *         "request_id": "r",
                     *         "revision": 5,
                     *         "snapshot_count": 1,
                     *         "status": "waiting",
                     *         "updated_at": 1700000000005
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "fork-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "idé"
                 *     }
                 */
                "application/json": components["schemas"]["ForkSessionBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_idé",
                     *       "busy": "reject",
                     *       "created_at": 1700000000013,
                     *       "expires_at": 1700000005003,
                     *       "id": "idé",
                     *       "incarnation": 13,
                     *       "mode": "lease",
                     *       "queue_length": 0,
                     *       "recoverable": false,
                     *       "request_count": 0,
                     *       "revision": 1,
                     *       "snapshot_count": 0,
                     *       "status": "cancelled",
                     *       "updated_at": 1700000000013
                     *     }
                     */
                    "application/json": components["schemas"]["SessionRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "recover-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "owner_id": "owner_idé",
                 *       "ttl_ms": 5000
                 *     }
                 */
                "application/json": components["schemas"]["RunnerBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "acquired_at": 122,
                     *         "epoch": 121,
                     *         "expires_at": 123,
                     *         "lease_id": "leaseid",
                     *         "owner_id": "owner",
                     *         "request_id": "requestid"
                     *       },
                     *       "queued": 135,
                     *       "recovery": {
                     *         "restart": "restart",
                     *         "resume": "resume"
                     *       },
                     *       "session": {
                     *         "agent_id": "agent",
                     *         "busy": "busy",
                     *         "created_at": 128,
                     *         "expires_at": 130,
                     *         "id": "id",
                     *         "incarnation": 110,
                     *         "lease": {
                     *           "acquired_at": 122,
                     *           "epoch": 121,
                     *           "expires_at": 123,
                     *           "lease_id": "leaseid",
                     *           "owner_id": "owner",
                     *           "request_id": "requestid"
                     *         },
                     *         "mode": "mode",
                     *         "queue_length": 127,
                     *         "recoverable": true,
                     *         "request_count": 125,
                     *         "request_id": "requestid",
                     *         "revision": 111,
                     *         "snapshot_count": 126,
                     *         "status": "status",
                     *         "updated_at": 129
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "renew-session": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lease_id": "lease_2",
                 *       "owner_id": "w",
                 *       "ttl_ms": 9000
                 *     }
                 */
                "application/json": components["schemas"]["RenewSessionBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lease": {
                     *         "acquired_at": 1700000000002,
                     *         "epoch": 2,
                     *         "expires_at": 1700000009004,
                     *         "lease_id": "lease_2",
                     *         "owner_id": "w",
                     *         "request_id": "r"
                     *       },
                     *       "session": {
                     *         "agent_id": "a",
                     *         "busy": "reject",
                     *         "created_at": 1700000000001,
                     *         "id": "s",
                     *         "incarnation": 1,
                     *         "lease": {
                     *           "acquired_at": 1700000000002,
                     *           "epoch": 2,
                     *           "expires_at": 1700000009004,
                     *           "lease_id": "lease_2",
                     *           "owner_id": "w",
                     *           "request_id": "r"
                     *         },
                     *         "mode": "lease",
                     *         "queue_length": 0,
                     *         "recoverable": false,
                     *         "request_count": 1,
                     *         "request_id": "r",
                     *         "revision": 4,
                     *         "snapshot_count": 1,
                     *         "status": "running",
                     *         "updated_at": 1700000000004
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Turned"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "replay-session": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only the last entries, at most this many */
                tail?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_idé",
                     *       "metadata": {},
                     *       "pending_reviews": [],
                     *       "revision": 4,
                     *       "session_id": "i d",
                     *       "snapshots": [],
                     *       "status": "cancelled",
                     *       "timeline": [
                     *         {
                     *           "at": 1700000000001,
                     *           "id": "i d",
                     *           "what": "created"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "set-session-ttl": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "if_incarnation": 1,
                 *       "ttl_ms": 5000
                 *     }
                 */
                "application/json": components["schemas"]["TtlBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_idé",
                     *       "busy": "reject",
                     *       "created_at": 1700000000001,
                     *       "expires_at": 1700000005002,
                     *       "id": "i d",
                     *       "incarnation": 1,
                     *       "mode": "lease",
                     *       "queue_length": 0,
                     *       "recoverable": false,
                     *       "request_count": 0,
                     *       "revision": 2,
                     *       "snapshot_count": 0,
                     *       "status": "new",
                     *       "updated_at": 1700000000002
                     *     }
                     */
                    "application/json": components["schemas"]["SessionRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-threads": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "created_at": 1700000000004,
                     *           "floor": 0,
                     *           "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *           "id": "chat-1",
                     *           "incarnation": 4,
                     *           "metadata": {},
                     *           "rev": 1,
                     *           "stats": {
                     *             "entry_count": 1
                     *           },
                     *           "updated_at": 1700000000004
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListThread"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "create-thread": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["NewThreadBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 141,
                     *       "entries": [
                     *         {
                     *           "at": 154,
                     *           "id": "id",
                     *           "seq": 153,
                     *           "skipped": true
                     *         }
                     *       ],
                     *       "head": "6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a",
                     *       "id": "id",
                     *       "incarnation": 104,
                     *       "rev": 105,
                     *       "updated_at": 142
                     *     }
                     */
                    "application/json": components["schemas"]["ThreadStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-threads": {
        parameters: {
            query?: {
                /** @description All of the kind, instead of a prefix */
                all?: boolean;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "complete": true,
                     *       "completed_at": 108,
                     *       "deleted_at": 106,
                     *       "id": "id",
                     *       "index": 105,
                     *       "kind": "kind",
                     *       "prefix": "prefix",
                     *       "removed": 107
                     *     }
                     */
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The path of the receipt */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-thread": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000004,
                     *       "floor": 0,
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "id": "chat-1",
                     *       "incarnation": 4,
                     *       "metadata": {},
                     *       "rev": 1,
                     *       "stats": {
                     *         "entry_count": 1
                     *       },
                     *       "updated_at": 1700000000004
                     *     }
                     */
                    "application/json": components["schemas"]["Thread"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-thread": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "append-bytes": {
        parameters: {
            query?: {
                /** @description The id of the entry, unique in the thread; generated if absent */
                entry?: string;
                /** @description The kind of the entry; note if absent */
                entry_kind?: string;
                /** @description Apply only at this rev; a missing thread is at 0 */
                expected_rev?: number;
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 141,
                     *       "entries": [
                     *         {
                     *           "at": 154,
                     *           "id": "id",
                     *           "seq": 153,
                     *           "skipped": true
                     *         }
                     *       ],
                     *       "head": "6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a",
                     *       "id": "id",
                     *       "incarnation": 104,
                     *       "rev": 105,
                     *       "updated_at": 142
                     *     }
                     */
                    "application/json": components["schemas"]["ThreadStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "compact-thread": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "before_seq": 1
                 *     }
                 */
                "application/json": components["schemas"]["CompactBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "floor": 1,
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "rev": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Compacted"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "load-entries": {
        parameters: {
            query?: {
                /** @description The thread at this rev */
                at_rev?: number;
                /** @description The first seq */
                from?: number;
                /** @description Only entries of this kind; may be repeated */
                kind?: string[];
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Only the last entries, at most this many */
                tail?: number;
                /** @description The last seq, inclusive */
                to?: number;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "floor": 0,
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "incarnation": 4,
                     *       "items": [
                     *         {
                     *           "at": 1700000000004,
                     *           "id": "m1",
                     *           "kind": "message",
                     *           "payload": {
                     *             "role": "user",
                     *             "text": "Where is my parcel?"
                     *           },
                     *           "refs": {},
                     *           "seq": 0
                     *         }
                     *       ],
                     *       "next": null,
                     *       "rev": 1
                     *     }
                     */
                    "application/json": components["schemas"]["EntryPage"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "append-entries": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "entries": [
                 *         {
                 *           "id": "m1",
                 *           "kind": "message",
                 *           "payload": {
                 *             "role": "user",
                 *             "text": "Where is my parcel?"
                 *           }
                 *         }
                 *       ],
                 *       "expected_rev": 0
                 *     }
                 */
                "application/json": components["schemas"]["AppendBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000004,
                     *       "entries": [
                     *         {
                     *           "at": 1700000000004,
                     *           "id": "m1",
                     *           "seq": 0
                     *         }
                     *       ],
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "id": "chat-1",
                     *       "incarnation": 4,
                     *       "rev": 1,
                     *       "updated_at": 1700000000004
                     *     }
                     */
                    "application/json": components["schemas"]["ThreadStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-entry": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                entry: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "at": 1700000000004,
                     *       "id": "m1",
                     *       "kind": "message",
                     *       "payload": {
                     *         "role": "user",
                     *         "text": "Where is my parcel?"
                     *       },
                     *       "refs": {},
                     *       "seq": 0
                     *     }
                     */
                    "application/json": components["schemas"]["Entry"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "get-entry-bytes": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                entry: string;
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "fork-thread": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "at_rev": 1,
                 *       "id": "chat-1-b"
                 *     }
                 */
                "application/json": components["schemas"]["ForkBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000005,
                     *       "floor": 0,
                     *       "forked_from": {
                     *         "id": "chat-1",
                     *         "incarnation": 4,
                     *         "rev": 1
                     *       },
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "id": "chat-1-b",
                     *       "incarnation": 5,
                     *       "metadata": {},
                     *       "rev": 1,
                     *       "stats": {
                     *         "entry_count": 1
                     *       },
                     *       "updated_at": 1700000000005
                     *     }
                     */
                    "application/json": components["schemas"]["Thread"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "set-thread-ttl": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "if_incarnation": 1,
                 *       "ttl_ms": 5000
                 *     }
                 */
                "application/json": components["schemas"]["TtlBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 141,
                     *       "expires_at": 149,
                     *       "floor": 139,
                     *       "forked_from": {
                     *         "id": "thread",
                     *         "incarnation": 147,
                     *         "rev": 148
                     *       },
                     *       "head": "6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a",
                     *       "id": "id",
                     *       "incarnation": 104,
                     *       "metadata": {
                     *         "metadata": "é<é>",
                     *         "z": 1
                     *       },
                     *       "rev": 105,
                     *       "stats": {
                     *         "entry_count": 105
                     *       },
                     *       "summary": {
                     *         "summary": "é<é>",
                     *         "z": 1
                     *       },
                     *       "updated_at": 142
                     *     }
                     */
                    "application/json": components["schemas"]["Thread"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "verify-thread": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "head": "e05685cfe36e12f7d87701053e6a69de7b1b123f1c4f1fb2a85b39da91be5039",
                     *       "ok": true,
                     *       "rev": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Verified"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "watch-thread": {
        parameters: {
            query?: {
                /** @description The first seq */
                from?: number;
                /** @description Only this incarnation: another one ends the watch as deleted; 0 means the current one */
                incarnation?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description Continue after this event; takes precedence over from and from_index */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["WatchEnd"] | components["schemas"]["Entry"] | components["schemas"]["Problem"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "list-tokens": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description Rows of one page */
                limit?: number;
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "created_at": 112,
                     *           "created_by": "createdby",
                     *           "expires_at": 114,
                     *           "grants": [
                     *             {
                     *               "scopes": [
                     *                 "scopes"
                     *               ],
                     *               "verbs": [
                     *                 "verbs"
                     *               ]
                     *             }
                     *           ],
                     *           "id": "id",
                     *           "last_used": 115,
                     *           "principal": "principal"
                     *         }
                     *       ],
                     *       "next": "next"
                     *     }
                     */
                    "application/json": components["schemas"]["ListToken"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "create-token": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grants": [
                 *         {
                 *           "scopes": [
                 *             "team-*"
                 *           ],
                 *           "verbs": [
                 *             "read",
                 *             "write"
                 *           ]
                 *         },
                 *         {
                 *           "verbs": [
                 *             "cluster:read"
                 *           ]
                 *         }
                 *       ],
                 *       "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                 *       "principal": "ci",
                 *       "ttl_ms": 1000
                 *     }
                 */
                "application/json": components["schemas"]["TokenBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 111,
                     *       "created_by": "createdby",
                     *       "expires_at": 113,
                     *       "grants": [
                     *         {
                     *           "scopes": [
                     *             "scopes"
                     *           ],
                     *           "verbs": [
                     *             "verbs"
                     *           ]
                     *         }
                     *       ],
                     *       "id": "id",
                     *       "last_used": 114,
                     *       "principal": "principal"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-token": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 110,
                     *       "created_by": "createdby",
                     *       "expires_at": 112,
                     *       "grants": [
                     *         {
                     *           "scopes": [
                     *             "scopes"
                     *           ],
                     *           "verbs": [
                     *             "verbs"
                     *           ]
                     *         }
                     *       ],
                     *       "id": "id",
                     *       "last_used": 113,
                     *       "principal": "principal"
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "revoke-token": {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "list-values": {
        parameters: {
            query?: {
                /** @description The next value of the previous page */
                after?: string;
                /** @description body: with the bytes, or with the state and the metadata; of changes with what each wrote */
                include?: "body";
                /** @description Rows of one page */
                limit?: number;
                /** @description KEY=VALUE: only those whose metadata has this member; may be repeated for others. The scope must have declared the keys with index_metadata */
                metadata?: string[];
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description asc, or desc: the last first. A page continues with next in both: as after in a list; as from in a load, as to in a load with desc */
                order?: "asc" | "desc";
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Unix ms: only those of this time or later, by at of an entry and updated_at of other rows. A page may be empty although it has a next */
                since?: number;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
                /** @description Unix ms: only those earlier than this time, as since; 0 means any */
                until?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "bytes": 9,
                     *           "content_type": "text/plain",
                     *           "incarnation": 1,
                     *           "key": "config/model",
                     *           "revision": 1,
                     *           "updated_at": 1700000000001
                     *         }
                     *       ],
                     *       "next": null
                     *     }
                     */
                    "application/json": components["schemas"]["ListValueRow"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-values": {
        parameters: {
            query?: {
                /** @description All of the kind, instead of a prefix */
                all?: boolean;
                /** @description Only keys, ids or names with this prefix */
                prefix?: string;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "complete": true,
                     *       "completed_at": 1700000000002,
                     *       "deleted_at": 1700000000002,
                     *       "id": "0000000000000002",
                     *       "index": 2,
                     *       "kind": "values",
                     *       "prefix": "k/",
                     *       "removed": 1
                     *     }
                     */
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The path of the receipt */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrefixDeletion"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "get-value": {
        parameters: {
            query?: {
                /** @description Wait until the serving node has applied this index */
                min_index?: number;
                /** @description The scope, for callers that cannot send Dormouse-Scope */
                scope?: string;
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The incarnation of the value, in which its revisions count; for if_incarnation */
                    "Dormouse-Incarnation"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    "put-value": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description skip keeps a value that exists; replace if absent */
                on_exists?: "replace" | "skip";
                /** @description Expire after this time, in log time; 0 means never */
                ttl_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValueStamp"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    /** @description The revision (a thread's rev) in quotes, if what is answered has one */
                    ETag?: string;
                    /** @description The path of what was created */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": 1700000000001,
                     *       "incarnation": 1,
                     *       "key": "config/model",
                     *       "revision": 1,
                     *       "updated_at": 1700000000001
                     *     }
                     */
                    "application/json": components["schemas"]["ValueStamp"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    "delete-value": {
        parameters: {
            query?: {
                /** @description Apply only to this incarnation; 0 means any */
                if_incarnation?: number;
                /** @description Apply only at this revision; 0 means that it must not exist */
                if_revision?: number;
                /** @description Refuse every write to this id for this time */
                seal_ms?: number;
            };
            header?: {
                /** @description The id of the cluster, as in answers: a node of another cluster refuses the request as unavailable */
                "Dormouse-Cluster"?: string;
                /** @description Apply only if the claim's current epoch is this: claim="session:s1";epoch=7 */
                "Dormouse-Fence"?: string;
                /** @description The tenant's own keyspace; default if absent */
                "Dormouse-Scope"?: string;
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
                /** @description A retry within 24 h gets the first answer */
                "Idempotency-Key"?: string;
                /** @description The revision (a thread's rev) in quotes: apply only there */
                "If-Match"?: string;
                /** @description *: apply only if it does not exist */
                "If-None-Match"?: string;
            };
            path: {
                /** @description 1 to 512 bytes of UTF-8, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    /** @description The cluster that served it; send it back to refuse the nodes of any other */
                    "Dormouse-Cluster"?: string;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    /** @description Who served it */
                    "Dormouse-Node"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["IdempotencyMismatch"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Unknown"];
            default: components["responses"]["Problem"];
        };
    };
    whoami: {
        parameters: {
            query?: {
                /** @description Skip the barrier: answer from this node's own state, with its age */
                stale?: boolean;
            };
            header?: {
                /** @description The timeout in ms: after it a write is unknown, a read unavailable. 10,000 if absent */
                "Dormouse-Timeout-Ms"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Of a stale read: how long ago the node knew itself up to date, -1 where it cannot tell */
                    "Dormouse-Age-Ms"?: number;
                    /** @description The log index that the answer is of, or the newest that this node has applied */
                    "Dormouse-Index"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "auth": "off",
                     *       "grants": [],
                     *       "principal": ""
                     *     }
                     */
                    "application/json": components["schemas"]["Principal"];
                };
            };
            400: components["responses"]["Invalid"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["Overloaded"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
}
