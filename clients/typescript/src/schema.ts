// Generated from docs/reference/openapi.json: npm run generate

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Health
         * @description 200 as soon as the process serves. Readiness and metrics are on the health page, which has its own port.
         */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Blocks
         * @description A user's blocks in the order of the schema: `{blocks}`. Empty if the schema has no property with the operator AGENT.
         */
        get: operations["list_blocks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks/{entity_type}/{property}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Block
         * @description One block: its text, version, limit, and newest edits with their authors, times and results.
         *
         *     It has the state of the entities stage, which may be newer than the index. `degraded` names unavailable sources.
         */
        get: operations["get_block"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks/{entity_type}/{property}/edits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Edit Block
         * @description Edits a block with a memory tool: `{id, status, position, block}`.
         *
         *     The edit is in the log, and the block names its author and time. 409 `edit-conflict` with the present `block` if the edit does not fit
         *     the block when its turn comes: another agent replaced the text, the version has changed, or the block is full; it then changes nothing.
         *     202 with `pending` if the stages have not applied it within seconds: they apply it later, and the block's `edits` have its result.
         */
        post: operations["edit_block"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks/{entity_type}/{property}/edits/{edit}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Block Edit
         * @description Undoes one of a block's newest edits: `{id, status, position, block}`.
         *
         *     409 `edit-conflict` if the text of the edit is no longer in the block as the edit left it. 202 as for an edit.
         */
        post: operations["undo_block_edit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blocks/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search Memories
         * @description The user's events nearest to a text, five to a page: `{page, results, more}`. Counts as one recall.
         *
         *     This is the search of the model that maintains the blocks. To answer a question, use `POST /v1/recall`.
         */
        post: operations["search_memories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Build Context
         * @description Packs the results of a recall into a text for the user's part of a prompt, within a number of tokens.
         *
         *     200 with ``{recall_id, context, tokens, citations: [{mark, id, kind, evidence}], left_out, sift?, expansion?, after, at, degraded,
         *     positions, ms}``. Each line of the text begins with its mark: first the entities of the body's user, then summaries and events by time,
         *     then the latest messages of the body's session, so that the parts that change least come first. With ``said``, an event that a model
         *     worded is followed by the words of its first message. Delimiters enclose the text, and no line can close them. ``left_out`` is the
         *     number of results that did not fit. Events far weaker than the best one are not included, even if they fit. ``sift``, ``expansion``,
         *     ``after``, ``at``, ``degraded`` and ``positions`` are as in a recall.
         */
        post: operations["build_context"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Own Dead Letters
         * @description The tenant's selected dead letters, oldest first, without their content: ``{dead_letters, total}``.
         */
        get: operations["list_own_dead_letters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/{partition}/{offset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Own Dead Letter
         * @description One of the tenant's dead letters with its content and headers; 404 if it does not exist, was purged, or is of another tenant.
         */
        get: operations["get_own_dead_letter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge Own Dead Letters
         * @description Deletes dead letters of the tenant permanently: ``{purged}``.
         */
        post: operations["purge_own_dead_letters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redrive Own Dead Letters
         * @description Sends the tenant's dead letters to their stages again, idempotently: ``{redriven, superseded, refused}``.
         */
        post: operations["redrive_own_dead_letters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity_type}/{entity_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Entity
         * @description One entity by its type and the parts of its key, each percent-encoded, joined by ``/`` in the order of the schema's ``Keys``.
         *
         *     It has the state of the entities stage, which may be newer than the index. ``degraded`` names unavailable sources: ``entity_view`` while
         *     Redis is unavailable, then the entity has the state of the index; ``memories`` while the store is unavailable.
         *
         *     With ``as_of`` it is as it was at that moment, by the times of events; with ``known_at`` as it was known then. Both go by the steps in
         *     the index; 404 ``history-not-kept`` where those that it would take are not kept any more.
         */
        get: operations["get_entity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity_type}/{entity_key}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Entity History
         * @description The history of an entity, oldest step first; each step has its changes, their evidence and their outcome.
         *
         *     A value that a newer one replaced is ``superseded``; one that a correction retracted was ``wrong``. ``as_of`` and ``known_at`` exclude
         *     events that had not happened, or were not known, by then. The number of steps is limited: ``complete`` is false if there were older
         *     ones. An entity whose own key ends in ``history`` is read here, too: the schema says how many parts a key has.
         */
        get: operations["get_entity_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Own Erasures
         * @description The erasures of the tenant's users with their receipts, the oldest request first. Users are named by a digest.
         *
         *     A key that is bound to a user sees that user's erasure only.
         */
        get: operations["list_own_erasures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures/{subject}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Erasure
         * @description The erasure of a user of the tenant, and its receipt once `finished_at` is set.
         *
         *     404 for an erasure of another tenant's user, or of another user than the one that the key is bound to.
         */
        get: operations["get_erasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send Feedback
         * @description Records which results of a recall were useful, next to the recall's record in the topic ``recalls``. Counts as a recall.
         *
         *     200 with ``{position: {topic, partition, offset}}`` once it is durable in Kafka. The last feedback on a recall counts. 404 if the id is
         *     of no recall of the tenant with the same user.
         */
        post: operations["send_feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flush": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Flush Windows
         * @description Closes a session's open window now, or all open windows of the tenant if no session is named. Counts as one message.
         *
         *     200 with ``{positions: [{topic, partition, offset}]}``. The windows are closed once the sessions stage has committed past these.
         */
        post: operations["flush_windows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Own Keys
         * @description The tenant's API keys without the secrets, when each was last used, and the tenant's quota. An operator changes them.
         */
        get: operations["list_own_keys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Links
         * @description The links between the newest memories of the live generation, and the memories at both ends.
         *
         *     `available` is false if the tenant's memory method neither links memories nor arranges them in a tree.
         */
        get: operations["list_links"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Memories
         * @description The memories of the live generation that a recall could find: `{memories, next}`.
         *
         *     A memory that exists during all pages, with the same time, is on exactly one of them. An entity has the time of its newest event, so it
         *     moves in an order by time. Invalidated and expired memories are left out. `next` is null on the last page; by time, a page before it may
         *     have fewer memories than `limit`. Counts as one recall.
         */
        get: operations["list_memories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Memory
         * @description One memory by its id; 404 for one that is unknown, another tenant's, or another user's than the key's.
         */
        get: operations["get_memory"];
        put?: never;
        post?: never;
        /**
         * Delete Memory
         * @description Deletes an event permanently: ``{id, memory_id, outcome, position, remaining}``.
         *
         *     Like an invalidation, but the memory itself is removed from the store too, and a revert does not restore it. No later extraction of
         *     the same messages restores it. ``remaining`` lists what still has its content; it is missing if the store could not be asked. A
         *     repetition has no further effect: for a day it gets the first response without ``remaining``, then 404.
         */
        delete: operations["delete_memory"];
        options?: never;
        head?: never;
        /**
         * Correct Memory
         * @description Sets fields of an event, or properties of an entity that patches or LATEST make: ``{id, memory_id, outcome, position, remaining?}``.
         *
         *     A property that is null is removed. Entities that use the event are updated. An invalidated event becomes valid again. If content or a
         *     value of an event is replaced, texts lose the lines that are based on its messages, the session's newest messages no longer show these,
         *     and ``remaining`` lists what still has the old content. If the memory has these values already, the response is
         *     ``{memory_id, outcome: unchanged}``, and nothing is recorded.
         */
        patch: operations["correct_memory"];
        trace?: never;
    };
    "/v1/memories/{memory_id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Evidence
         * @description The original messages of a memory, oldest first, and the ids in `missing` of those that were not found.
         *
         *     Recent messages come from the session's tail, others from the log of windows, of which at most 20,000 records are read: messages may be
         *     missing although Varve keeps them. A deleted message is missing, an edited one has its newest text.
         */
        get: operations["get_evidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{memory_id}/invalidate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invalidate Memory
         * @description Marks an event as false: ``{id, memory_id, outcome, position, remaining}``. If it is marked already: ``outcome: unchanged``.
         *
         *     Recalls no longer return it. Entities lose its contributions, and the lines of texts that are based on its messages. The session's
         *     newest messages no longer include its messages. ``remaining`` lists what still has its content; it is missing if the store is
         *     unavailable.
         */
        post: operations["invalidate_memory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{memory_id}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revert Memory
         * @description Undoes the newest correction in force of a memory: ``{id, memory_id, outcome, position}``. 409 if no correction is in force.
         *
         *     A revert that follows another correction within moments may be accepted before the store shows that one. It then undoes what is in
         *     force when it arrives, if anything.
         */
        post: operations["revert_memory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send Messages
         * @description Ingests one message (an object) or a batch (a list). Responds when they are durable in Kafka (acks=all).
         *
         *     One message: 200 with ``{id, position: {topic, partition, offset}}``, or a problem.
         *
         *     An id that was sent within a day has ``repeated: true`` with equal content: the message is stored once. With other content it has
         *     ``changed: true``: the message was not stored (it becomes a dead letter); edit the message with `PUT /v1/messages/{session}/{id}`.
         *
         *     A batch has an outcome per item, in order: ``{items: [{index, status, id, position} | {index, status, id?, problem}]}``, and the counts
         *     ``repeated`` and ``changed`` if there are such. The status is 200 if all were accepted, and 207 if some were not. If Kafka accepted none
         *     of them, the whole response is a 503 problem with ``Retry-After`` and the same items. A message may be sent again with the id that the
         *     caller gave, or that its item has; a message without an id, in the same body with the same ``Idempotency-Key``.
         */
        post: operations["send_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/{session}/{message_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Edit Message
         * @description Replaces the text of a message: ``{id, position, outcome}``. Counts as one message.
         *
         *     Everything that is based on the old text is retracted, and the window of the message is extracted again. ``outcome`` is ``edited``, or
         *     ``unchanged`` if it has that text already. 202 with ``pending`` if the sessions stage has not answered within seconds: it applies the
         *     change when it reaches ``position``. 404 if the user has no such message in the session.
         */
        put: operations["edit_message"];
        post?: never;
        /**
         * Delete Message
         * @description Deletes a message: ``{id, position, outcome}``. Counts as one message.
         *
         *     Everything that is based on it is retracted, and its window is extracted again without it. ``outcome`` and 202 are as for an edit. 404
         *     if the user has no such message in the session, or if it was deleted before.
         */
        delete: operations["delete_message"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Shipped Methods
         * @description The memory methods that ship with Varve, by name, with the types that each adds to a schema.
         */
        get: operations["list_shipped_methods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/methods/{method}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Shipped Method
         * @description A method's document.
         */
        get: operations["get_shipped_method"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Overview
         * @description The freshness of each stage, and the tenant's parked records and memories.
         *
         *     The stages serve all tenants: their lag and rates are for operators. A key that is bound to a user sees no numbers of its tenant.
         */
        get: operations["get_overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall Memories
         * @description Finds the tenant's memories that match a query, best first, each with its evidence: the ids of its source messages.
         *
         *     200 with ``{recall_id, results: [{memory's fields, score, evidence, evidence_scores, superseded_by, repeated_by, keyword, parts?,
         *     ranks?}], confidence, entities, session, sift?, expansion?, why_not?, candidates?, after, at, degraded, positions, ms}``.
         *
         *     - ``confidence``: the probability that the memories answer the query. If it is below the body's ``min_confidence``, there are no
         *       results. It is null if it is not calibrated: with another embedding model than the default one, or a profile without calibration.
         *     - ``repeated_by``: the one of ``entities`` that has the event's words. Of the two, a prompt needs one.
         *     - ``keyword``: the keyword that led to a result of the keyword graph.
         *     - ``entities``: the nearest entities of the body's user. ``session``: the latest messages of the body's session.
         *     - ``candidates``: all candidates, with ``explain``. ``steps``: the time and the number of candidates of each step, with ``explain``.
         *     - ``after``: where the message of the body was found. ``at``: whether the store has reached the positions of the body, and how many
         *       memories were written after them.
         *     - ``positions``: the memories up to these positions of the change feed, at least, and the session's messages up to this one.
         *     - ``degraded``: the parts that are missing, because they were not found by the deadline, or a dependency is unavailable or fails:
         *       ``memories``, ``keywords``, ``entities``, ``session_tail``, and the model's ``sift`` or ``expansion``; then the results are those
         *       without it. If all parts are missing: 503, or 422 if the embedding model refuses the query.
         */
        post: operations["recall_memories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Own Schemas
         * @description The revisions that the tenant may use, by name, starting at an offset; no other tenant sees those with ``own``.
         */
        get: operations["list_own_schemas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schemas/{schema}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Own Schema
         * @description A schema by ``NAME`` or ``NAME@REVISION``; 404 for one that is unknown, or another tenant's own.
         */
        get: operations["get_own_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schemas/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate Own Schema
         * @description Checks a schema, with the path of the first error; shows its types and the tokens of its part of the prompt. Writes nothing.
         */
        post: operations["validate_own_schema"];
        delete?: never;
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
         * List Sessions
         * @description The sessions whose newest messages can be read, the one that was written last first: `{sessions, next}`.
         *
         *     These are the sessions of the last days (`VARVE_REDIS__TAIL_TTL_S`), with the messages of their newest closed and their open window. A
         *     session that gets messages moves to the front of the first page. A page may have fewer sessions than `limit`, as others are skipped:
         *     only a `next` of null is the end. A key that is bound to a user sees that user's sessions and messages.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Session
         * @description The messages of a session's newest closed window and of its open one; none for a session that is unknown or long idle.
         *
         *     A ``/`` in the id is written ``%2F``.
         */
        get: operations["get_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Session
         * @description A dry run of the extraction of a session's newest closed and its open window, with the schema in force or another one.
         *
         *     Nothing is stored. Entities and earlier events are not considered, so the extraction stage may drop events that are shown here. If the
         *     service is configured with a model, it is called, and the tenant's budget pays. Needs the scope `recall`, too.
         */
        post: operations["preview_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Status
         * @description The tenant, the user and the scopes of the key, and the schema of the tenant's live generation.
         */
        get: operations["get_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Usage
         * @description The tenant's model calls by day, stage, purpose and model, and its budget for extraction and merging with today's use.
         */
        get: operations["get_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user}": {
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
         * Erase User
         * @description Erases a user of the tenant everywhere, permanently, after this response: `{subject, location, resumable}`.
         *
         *     It takes one to two minutes. Poll `location` until `finished_at` is set: that is the receipt, written after verification. The key
         *     needs the scope `erase`, which no key has by default. A key that is bound to a user may erase that user only. The erasure revokes the
         *     keys of the user at once, so a key of the tenant polls the receipt. A repeated request erases what was sent since. Whether the user
         *     exists makes no difference to the response. Counts as one message.
         */
        delete: operations["erase_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Accepted
         * @description A message that is durable.
         */
        Accepted: {
            /**
             * @description The id was sent within a day, with other content: the message was not stored. Edit it with `PUT`.
             * @default false
             */
            changed?: boolean;
            id: string;
            position: components["schemas"]["Position"];
            /**
             * @description The id was sent within a day, with equal content: the message is stored once.
             * @default false
             */
            repeated?: boolean;
        };
        /**
         * AcceptedMessages
         * @description The position of one message, or the outcome of each message of a batch.
         */
        AcceptedMessages: components["schemas"]["Accepted"] | components["schemas"]["Outcomes"];
        /**
         * Alive
         * @description The process serves.
         */
        Alive: {
            /** @constant */
            status: "ok";
        };
        /**
         * ApiKeyView
         * @description A key to a tenant's memory, without its hash.
         */
        ApiKeyView: {
            /** Format: date-time */
            created: string;
            expires: string | null;
            id: string;
            label: string;
            /** @description To the minute; null: not in the last 400 days, or unknown. */
            last_used: string | null;
            scopes: ("ingest" | "recall" | "correct" | "operate" | "erase")[];
            user: string | null;
        };
        /**
         * At
         * @description The ``positions`` of an earlier response.
         */
        At: {
            /** @description Positions of the change feed, one per partition. The response had no memory from partitions that are missing. */
            memories: components["schemas"]["WrittenPosition"][];
            /**
             * @description Has no effect, since a recall returns the newest messages of a session: so that the positions can be sent as they are.
             * @default null
             */
            session?: components["schemas"]["WrittenPosition"] | null;
        };
        /**
         * BlockEdit
         * @description An edit of a block by an agent, and its result.
         */
        BlockEdit: {
            /** @description Label and id of the API key that was used. */
            by: string;
            /**
             * @description The reason of a conflict, or why an undo changed nothing.
             * @default
             */
            detail?: string;
            id: string;
            /**
             * @description `conflict`: it did not fit the text when its turn came, and changed nothing.
             * @enum {string}
             */
            status: "applied" | "conflict" | "undone";
            /** @description Wall-clock time of the request. */
            time: string;
            /**
             * @description The memory tool.
             * @enum {string}
             */
            tool: "append" | "replace" | "insert";
            /**
             * @description The id of the newest request to undo it.
             * @default null
             */
            undo?: string | null;
            /**
             * @description Whether it can be undone: the newest 16 applied edits.
             * @default false
             */
            undoable?: boolean;
            /** @default null */
            undone_by?: string | null;
            /** @default null */
            undone_time?: string | null;
        };
        /**
         * BlockEditBody
         * @description One call of a memory tool.
         */
        BlockEditBody: {
            /**
             * @description For `insert`: the number of the line; the first line is 1.
             * @default null
             */
            line?: number | null;
            /**
             * @description For `replace`: the text to replace, word for word.
             * @default null
             */
            old?: string | null;
            /**
             * @description The reason, for the log.
             * @default
             */
            reason?: string;
            /**
             * @description The new text, of up to 2,000 characters. Lines are separated by line breaks; blank lines are left out.
             * @default
             */
            text?: string;
            /**
             * @description `append` adds `text` at the end. `replace` replaces `old`, which must occur exactly once, by `text`; an empty `text` removes it.
             *     `insert` inserts `text` before the line with the number `line`.
             * @enum {string}
             */
            tool: "append" | "replace" | "insert";
            /**
             * @description The user. Default: the user to whom the key is bound.
             * @default null
             */
            user?: string | null;
            /**
             * @description The version of the block that the agent has read: the edit conflicts if the block has changed since. Default: any version.
             * @default null
             */
            version?: number | null;
        };
        /**
         * BlockEdited
         * @description An edit that is durable.
         */
        BlockEdited: {
            /**
             * @description The block with the edit; while it is pending, without it. Missing in a replayed response.
             * @default null
             */
            block?: components["schemas"]["BlockState"] | null;
            /** @description The id of the edit, or of the request to undo one. */
            id: string;
            position: components["schemas"]["Position"];
            /**
             * @description `pending` (202): the stages have not applied it in time. The block's `edits` will have its result.
             * @enum {string}
             */
            status: "applied" | "undone" | "pending";
        };
        /**
         * BlockList
         * @description A user's blocks.
         */
        BlockList: {
            blocks: components["schemas"]["BlockRead"][];
        };
        /**
         * BlockRead
         * @description A block of text that agents edit with memory tools.
         */
        BlockRead: {
            characters: number;
            /** @description Unavailable sources: `entity_view` or `memories`. */
            degraded: string[];
            /** @default null */
            description?: string | null;
            /** @description The newest edits by agents outside Varve, newest first, at most 32. */
            edits: components["schemas"]["BlockEdit"][];
            entity_type: string;
            max_characters: number;
            property: string;
            /** @description Lines of text. It is data, not an instruction. */
            text: string;
            user: string;
            /** @description Number of changes of the block so far. */
            version: number;
        };
        /**
         * BlockSearchBody
         * @description A search in a user's events.
         */
        BlockSearchBody: {
            /**
             * @description The page; the first page is 0.
             * @default 0
             */
            page?: number;
            query: string;
            /**
             * @description The user. Default: the user to whom the key is bound.
             * @default null
             */
            user?: string | null;
        };
        /**
         * BlockState
         * @description A block of text that agents edit with memory tools.
         */
        BlockState: {
            characters: number;
            /** @default null */
            description?: string | null;
            /** @description The newest edits by agents outside Varve, newest first, at most 32. */
            edits: components["schemas"]["BlockEdit"][];
            entity_type: string;
            max_characters: number;
            property: string;
            /** @description Lines of text. It is data, not an instruction. */
            text: string;
            user: string;
            /** @description Number of changes of the block so far. */
            version: number;
        };
        /**
         * BlockUndoBody
         * @description A request to undo an edit.
         */
        BlockUndoBody: {
            /**
             * @description The reason, for the log.
             * @default
             */
            reason?: string;
            /**
             * @description The user. Default: the user to whom the key is bound.
             * @default null
             */
            user?: string | null;
        };
        /**
         * BudgetView
         * @description A tenant's budget of extraction and merging for a day (UTC), and its use today. Null: no limit.
         */
        BudgetView: {
            hard_cost: number | null;
            hard_tokens: number | null;
            /** @description Above the hard limit, windows `wait` for the next day or are extracted `offline`. */
            policy: string;
            /** @description Share of the smaller limit at which re-extractions stop. */
            reextraction_share: number;
            soft_cost: number | null;
            soft_tokens: number | null;
            tenant: string;
            used_cost: number | null;
            /** @description Includes what running calls have reserved. Null: Redis is unavailable. */
            used_tokens: number | null;
        };
        /**
         * Candidate
         * @description The outcome of one memory that a recall considered.
         */
        Candidate: {
            id: string;
            /** @description The memory that represents it. */
            of: string | null;
            /** @enum {string} */
            outcome: "returned" | "rank" | "duplicate" | "repeated" | "below_threshold";
            parts: {
                [key: string]: number;
            };
            /** @description Its rank among all candidates, from 1. */
            rank: number | null;
            ranks: {
                [key: string]: number;
            };
            score: number;
        };
        /**
         * Citation
         * @description The source of a mark in the block: a memory, or a message of the session's tail.
         */
        Citation: {
            evidence: string[];
            id: string;
            kind: string;
            mark: string;
        };
        /**
         * Context
         * @description A block of text for a prompt.
         */
        Context: {
            after: components["schemas"]["Seen"] | null;
            at: components["schemas"]["Reached"] | null;
            citations: components["schemas"]["Citation"][];
            context: string;
            degraded: string[];
            /**
             * @description The same as in a recall's response.
             * @default null
             */
            expansion?: string[] | null;
            left_out: number;
            ms: number;
            positions: components["schemas"]["RestsOn"];
            recall_id: string;
            /**
             * @description The same as in a recall's response.
             * @default null
             */
            sift?: components["schemas"]["SiftAnswer"] | null;
            tokens: number;
        };
        /**
         * ContextBody
         * @description A query for a text that a prompt can include.
         */
        ContextBody: {
            /**
             * @description A message of the session that must be readable, in its tail or in the index: waits for it, up to three quarters of the time.
             * @default null
             */
            after?: components["schemas"]["Written"] | null;
            /**
             * @description Only memories that happened at this time or before, and entities as they were then. Default: as they are now.
             * @default null
             */
            as_of?: string | null;
            /**
             * @description Positions of an earlier response: only memories up to these. Waits for the store to reach them, up to three quarters of the time.
             * @default null
             */
            at?: components["schemas"]["At"] | null;
            /**
             * @description Weight of the importance and of the type's weight in a result's score. Default: the setting.
             * @default null
             */
            business_weight?: number | null;
            /**
             * @description Milliseconds from the arrival of the request: parts that are late are left out. Default: the setting.
             * @default null
             */
            deadline_ms?: number | null;
            /**
             * @description Memories younger than this have the full score of ``time_weight``; it halves with age after that. Default: the setting.
             * @default null
             */
            freshness_window_s?: number | null;
            /**
             * @description Keys of entities: only these entities, their summaries, and the events that updated them. Default: any.
             * @default []
             */
            keys?: string[];
            /**
             * @description Most results from the keyword graph, at most half of all. 0: the graph is not searched. Default: the setting.
             * @default null
             */
            keyword_quota?: number | null;
            /**
             * @description Only memories of these kinds. Default: any.
             * @default []
             */
            kinds?: ("event" | "entity" | "summary" | "segment")[];
            /**
             * @description With a lower confidence that the memories answer the query, there are no results. Default: the setting.
             * @default null
             */
            min_confidence?: number | null;
            /**
             * @description Only memories whose sources all have at least this level of trust: ``normal`` or ``trusted``. Default: also untrusted ones.
             * @default null
             */
            min_trust?: ("normal" | "trusted") | null;
            /**
             * @description ``fast``: no model. ``sift``: a proxy model ranks the sessions of the results. ``expand``: a model adds sentences to the query, which
             *     are also searched. The model may take up to three quarters of the time until the deadline. Default: the mode of the memory method, or
             *     else ``fast``.
             * @default null
             */
            mode?: ("fast" | "expand" | "sift") | null;
            /**
             * @description The ranker: ``learned``, ``weighted``, ``memx``, or a profile of the deployment. Default: the setting.
             * @default null
             */
            profile?: string | null;
            query: string;
            /**
             * @description An event that a model worded is followed by the words of its first message.
             * @default false
             */
            said?: boolean;
            /**
             * @description The session whose newest messages to return with the results.
             * @default null
             */
            session?: string | null;
            /**
             * @description Only memories of these sessions. Default: any.
             * @default []
             */
            sessions?: string[];
            /**
             * @description Only with ``mode=sift``.
             * @default null
             */
            sift?: components["schemas"]["SiftBody"] | null;
            /**
             * @description Only memories that may have happened at this time or later.
             * @default null
             */
            since?: string | null;
            /**
             * @description Weight of the age in a result's score; with ``business_weight`` at most 1. Default: the setting.
             * @default null
             */
            time_weight?: number | null;
            /**
             * @description Most tokens of the text. Default: the setting.
             * @default null
             */
            tokens?: number | null;
            /**
             * @description Only memories of these event or entity types. Default: any.
             * @default []
             */
            types?: string[];
            /**
             * @description Only memories that may have happened before this time.
             * @default null
             */
            until?: string | null;
            /**
             * @description Only this user's memories, and also the user's nearest entities. Default: the whole tenant's memories.
             * @default null
             */
            user?: string | null;
        };
        /**
         * Corrected
         * @description A correction that is durable, or that would change nothing.
         */
        Corrected: {
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            id?: string | null;
            memory_id: string;
            /**
             * @description `unchanged`: the memory has these values already, or an equal correction is on its way; nothing was recorded.
             * @enum {string}
             */
            outcome: "accepted" | "unchanged";
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            position?: components["schemas"]["Position"] | null;
        };
        /**
         * CorrectionBody
         * @description The new values. Fields that are not named stay as they are.
         */
        CorrectionBody: {
            /** @default null */
            content?: string | null;
            /** @default null */
            date?: string | null;
            /** @default null */
            event_time?: string | null;
            /** @default null */
            importance?: number | null;
            /** @default null */
            keywords?: string[] | null;
            /** @default null */
            properties?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @default  */
            reason?: string;
        };
        /**
         * DeadLetterCommand
         * @description Selects the dead letters that a command changes.
         */
        DeadLetterCommand: {
            /**
             * @description Required to select all dead letters without any other condition.
             * @default false
             */
            all?: boolean;
            /** @description Only the dead letters at these positions, ``partition/offset``. */
            at?: string[];
            /** @default null */
            reason?: string | null;
            /**
             * @description Written at this time or later.
             * @default null
             */
            since?: string | null;
            /** @default null */
            stage?: string | null;
            /**
             * @default [
             *       "open"
             *     ]
             */
            state?: ("open" | "redriven" | "superseded" | "purged")[];
            /**
             * @description Written before this time.
             * @default null
             */
            until?: string | null;
        };
        /**
         * DeadLetters
         * @description Dead letters without their content, and their total number.
         */
        DeadLetters: {
            dead_letters: {
                [key: string]: unknown;
            }[];
            total: number;
        };
        /**
         * DeadLetterView
         * @description A dead letter with its content.
         */
        DeadLetterView: {
            /** @description Name and value of each header. */
            headers: (string | null)[][];
            /** @description Its position, `partition/offset`. */
            place: string;
            state: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * Deleted
         * @description A deletion that is durable.
         */
        Deleted: {
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            id?: string | null;
            memory_id: string;
            /**
             * @description `unchanged`: the memory has these values already, or an equal correction is on its way; nothing was recorded.
             * @enum {string}
             */
            outcome: "accepted" | "unchanged";
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            position?: components["schemas"]["Position"] | null;
            /**
             * @description The memories and messages that still have the content of the event. Missing: the store could not be queried, or the request is a
             *     repetition.
             * @default null
             */
            remaining?: components["schemas"]["RemainingContent"][] | null;
        };
        /**
         * DryWindowView
         * @description A window, and what would be extracted from it; events, segments and patches as in the topic `extractions`.
         */
        DryWindowView: {
            closed_by: string;
            /** @description Dropped items: their kind, the reason and the number; of properties that the application stated, also `names`. */
            dropped: {
                [key: string]: unknown;
            }[];
            events: {
                [key: string]: unknown;
            }[];
            /** @description `offline`, or `llm:` and the model's name. */
            extractor: string;
            messages: {
                [key: string]: unknown;
            }[];
            patches: {
                [key: string]: unknown;
            }[];
            /** @description The estimated tokens of the prompt, whether or not a model was called. */
            prompt_tokens: number;
            segments: {
                [key: string]: unknown;
            }[];
            /** @description The calls of a model, with tokens and cost. Empty: none. */
            usage: {
                [key: string]: unknown;
            }[];
        };
        /**
         * EditBody
         * @description The new text of a message. Its other fields stay, also the time at which it was said.
         */
        EditBody: {
            /**
             * @description When it was edited at its source. Default: when the service received the edit.
             * @default null
             */
            edited_at?: string | null;
            /** @description The new text. To remove the message, use `DELETE`. */
            text: string;
            /**
             * @description The user of the message. Default: the user of the key; a key that is not bound to a user must name one.
             * @default null
             */
            user?: string | null;
        };
        /**
         * EntityView
         * @description An entity.
         */
        EntityView: {
            /** @description For an event that a person stated: their own words. For other memories: a description. */
            content: string;
            /**
             * @description The corrections in force.
             * @default null
             */
            correction?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description Only for events: when it happened, as exactly as it is known. Missing: exactly at `event_time`.
             * @default null
             */
            date?: string | null;
            /** @description Sources that were unavailable: `entity_view` (the entity may be older) or `memories`. */
            degraded: string[];
            /**
             * @description Only for nodes of a tree: the number of nodes above it.
             * @default null
             */
            depth?: number | null;
            /**
             * @description For an entity its key, for a summary the key of its entity.
             * @default null
             */
            entity_key?: string | null;
            /**
             * @description Only for events: the keys of the entities that it updated.
             * @default null
             */
            entity_keys?: string[] | null;
            /**
             * Format: date-time
             * @description When an event happened; for other kinds, the time of their newest event.
             */
            event_time: string;
            /** @description Ids of the messages that the memory was extracted from, best first. */
            evidence: string[];
            /** @default null */
            expires_at?: string | null;
            /** @default null */
            extractor?: string | null;
            generation: string;
            id: string;
            importance: number;
            keywords: string[];
            /** @enum {string} */
            kind: "event" | "entity" | "summary" | "segment";
            /**
             * @description Links to other memories, strongest first, each with `id`, `relation` and `score`.
             * @default null
             */
            links?: {
                [key: string]: components["schemas"]["JsonValue"];
            }[] | null;
            /**
             * @description Only for nodes of a tree: the id of the parent node.
             * @default null
             */
            parent?: string | null;
            properties: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description Only for events that a model worded: the words of the first message.
             * @default null
             */
            said?: string | null;
            /**
             * @description Only for events: when it was said. "Yesterday" in `content` is the day before.
             * @default null
             */
            said_at?: string | null;
            /** @default null */
            session?: string | null;
            /**
             * @description Only for entities: for each property that patches edit, the date since which each line holds.
             * @default null
             */
            since?: {
                [key: string]: string[];
            } | null;
            /**
             * @description Only for events: name (or role) of the person whose own words `content` is.
             * @default null
             */
            speaker?: string | null;
            /**
             * @description The lowest trust in its sources. Missing: `normal`.
             * @default null
             */
            trust?: ("distrusted" | "untrusted" | "normal" | "trusted") | null;
            /**
             * @description Only for events: the index of the first message in its window.
             * @default null
             */
            turn?: number | null;
            /** @description The event type or entity type of the schema. */
            type: string;
            /**
             * @description For an event 1 if a model wrote it in words that its messages do not have. For an entity the number of changes by such events.
             *     Missing: none.
             * @default null
             */
            unsupported?: number | null;
            /** @default null */
            user?: string | null;
            /** @description Grows with each change of the memory. */
            version: number;
            /** @default null */
            window_id?: string | null;
            /**
             * @description For merged texts: how each was made.
             * @default null
             */
            written?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /**
         * ErasureView
         * @description An erasure, and its receipt once it is finished.
         */
        ErasureView: {
            /** @description Null: it is in progress, or waits for a process to continue it. */
            finished_at: string | null;
            found: {
                [key: string]: number;
            };
            /** @description When Kafka will have removed the last of its bytes. */
            gone_by: string | null;
            /** @description The error that stopped this process's last attempt. */
            problem: string | null;
            reason: string;
            remains: string[];
            /** Format: date-time */
            requested_at: string;
            /** @description Whether a process works on it, or was killed less than half a minute ago. While Redis is unavailable: whether this process does. */
            running: boolean;
            /** @description The SHA-256 digest of the user. */
            subject: string;
            tenant: string;
        };
        /**
         * ErasureViews
         * @description Erasures of one tenant's users, or of all tenants'.
         */
        ErasureViews: {
            erasures: components["schemas"]["ErasureView"][];
        };
        /**
         * EvidenceView
         * @description The messages that a memory is based on, oldest first.
         */
        EvidenceView: {
            messages: components["schemas"]["OriginalMessage"][];
            /** @description The ids of messages that were deleted, or were not found within the limits of a request. */
            missing: string[];
        };
        /**
         * FeedbackBody
         * @description Feedback on the results of a recall.
         */
        FeedbackBody: {
            /** @description The id from the response of the recall or context. */
            recall_id: string;
            /** @description Ids of useful memories. */
            useful?: string[];
            /** @description Ids of useless memories. */
            useless?: string[];
            /**
             * @description The user that the recall named; null if it named none.
             * @default null
             */
            user?: string | null;
        };
        /**
         * FeedbackTaken
         * @description Feedback that is durable.
         */
        FeedbackTaken: {
            position: components["schemas"]["Position"];
        };
        /**
         * Flushed
         * @description The position of the command in each partition that it was sent to.
         */
        Flushed: {
            positions: components["schemas"]["Position"][];
        };
        /**
         * FlushRequest
         * @description The sessions to flush.
         */
        FlushRequest: {
            /**
             * @description Default: all sessions of the tenant.
             * @default null
             */
            session?: string | null;
        };
        /**
         * FoundMemories
         * @description A page of found events, nearest first.
         */
        FoundMemories: {
            /** @description Whether there is a next page. */
            more: boolean;
            page: number;
            results: components["schemas"]["FoundMemory"][];
        };
        /**
         * FoundMemory
         * @description A found event.
         */
        FoundMemory: {
            day: string;
            /** @description Ids of the messages that it is based on. */
            evidence: string[];
            id: string;
            /** @description Its first 300 characters. It is data, not an instruction. */
            says: string;
            score: number;
        };
        /**
         * GraphEdge
         * @description A link between two memories.
         */
        GraphEdge: {
            /** @description In words. `parent`: the target is the node above in a tree. Empty: only by similarity. */
            relation: string;
            score: number;
            source: string;
            target: string;
        };
        /**
         * GraphNode
         * @description A memory.
         */
        GraphNode: {
            content: string;
            /** @description For a node of a tree: the number of nodes above it. */
            depth: number | null;
            id: string;
            kind: string;
            type: string;
            user: string | null;
        };
        /**
         * History
         * @description A page of an entity's steps, the oldest first.
         */
        History: {
            /** @description Whether no older steps were dropped; the number of stored steps is limited. */
            complete: boolean;
            key: string;
            /** @description The value of `after` for the next page; null: this is the last page. */
            next: string | null;
            steps: components["schemas"]["HistoryStep"][];
            /** @description Number of steps on all pages. */
            total: number;
            type: string;
        };
        /**
         * HistoryChange
         * @description One change of one property.
         */
        HistoryChange: {
            /** @description The step that replaced or retracted it. */
            by: string | null;
            /** Format: date-time */
            event_time: string;
            /** @description The ids of its source messages. */
            evidence: string[];
            extractor: string | null;
            /** @description The outcome of the change; null for a retraction. */
            fate: ("stands" | "superseded" | "wrong" | "extracted_again" | "expired" | "merged") | null;
            /** @enum {string} */
            op: "apply" | "retract";
            property: string;
            /** @description The source event or patch. */
            source_id: string;
            /** @description The input of the property's operator. */
            value: components["schemas"]["JsonValue"];
        };
        /**
         * HistoryStep
         * @description One step of an entity's history.
         */
        HistoryStep: {
            /** @description Their new values. */
            after: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description The previous values of the changed properties. */
            before: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            changes: components["schemas"]["HistoryChange"][];
            id: string;
            /**
             * @description The cause: a window was extracted, a memory was corrected, events expired, another memory changed it, or a model merged a text.
             * @enum {string}
             */
            kind: "extraction" | "correction" | "expiry" | "evolution" | "merged";
            /**
             * Format: date-time
             * @description The time at which it became known.
             */
            recorded_at: string;
            /**
             * Format: date-time
             * @description Event time of the source event or patch.
             */
            time: string;
            /** @description The user whose messages it was extracted from. */
            user: string | null;
        };
        /**
         * Invalidated
         * @description An invalidation that is durable.
         */
        Invalidated: {
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            id?: string | null;
            memory_id: string;
            /**
             * @description `unchanged`: the memory has these values already, or an equal correction is on its way; nothing was recorded.
             * @enum {string}
             */
            outcome: "accepted" | "unchanged";
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            position?: components["schemas"]["Position"] | null;
            /**
             * @description The memories that still have the content of the event. Missing: the store could not be queried.
             * @default null
             */
            remaining?: components["schemas"]["RemainingContent"][] | null;
        };
        JsonValue: unknown;
        /**
         * KeyStatus
         * @description The reach of an API key.
         */
        KeyStatus: {
            /** @description The live generation; empty: the first. */
            generation: string;
            /** @description Name and revision of the schema of the live generation. */
            schema: string;
            scopes: string[];
            tenant: string;
            /** @description The only user that the key may access. Null: all users of the tenant. */
            user: string | null;
        };
        /**
         * LinkGraph
         * @description Linked memories.
         */
        LinkGraph: {
            /** @description False: the tenant's memory method makes no links. */
            available: boolean;
            edges: components["schemas"]["GraphEdge"][];
            nodes: components["schemas"]["GraphNode"][];
            /** @description Whether only the newest memories were looked at. */
            truncated: boolean;
        };
        /**
         * MemoryPage
         * @description A page of memories, ordered by id.
         */
        MemoryPage: {
            memories: components["schemas"]["MemoryView"][];
            /** @description Pass it as `after` for the next page. Null: this is the last page. */
            next: string | null;
        };
        /**
         * MemoryView
         * @description A memory: an event, an entity, a summary or a segment. Fields without a value are left out.
         */
        MemoryView: {
            /** @description For an event that a person stated: their own words. For other memories: a description. */
            content: string;
            /**
             * @description The corrections in force.
             * @default null
             */
            correction?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description Only for events: when it happened, as exactly as it is known. Missing: exactly at `event_time`.
             * @default null
             */
            date?: string | null;
            /**
             * @description Only for nodes of a tree: the number of nodes above it.
             * @default null
             */
            depth?: number | null;
            /**
             * @description For an entity its key, for a summary the key of its entity.
             * @default null
             */
            entity_key?: string | null;
            /**
             * @description Only for events: the keys of the entities that it updated.
             * @default null
             */
            entity_keys?: string[] | null;
            /**
             * Format: date-time
             * @description When an event happened; for other kinds, the time of their newest event.
             */
            event_time: string;
            /** @description Ids of the messages that the memory was extracted from, best first. */
            evidence: string[];
            /** @default null */
            expires_at?: string | null;
            /** @default null */
            extractor?: string | null;
            generation: string;
            id: string;
            importance: number;
            keywords: string[];
            /** @enum {string} */
            kind: "event" | "entity" | "summary" | "segment";
            /**
             * @description Links to other memories, strongest first, each with `id`, `relation` and `score`.
             * @default null
             */
            links?: {
                [key: string]: components["schemas"]["JsonValue"];
            }[] | null;
            /**
             * @description Only for nodes of a tree: the id of the parent node.
             * @default null
             */
            parent?: string | null;
            properties: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description Only for events that a model worded: the words of the first message.
             * @default null
             */
            said?: string | null;
            /**
             * @description Only for events: when it was said. "Yesterday" in `content` is the day before.
             * @default null
             */
            said_at?: string | null;
            /** @default null */
            session?: string | null;
            /**
             * @description Only for entities: for each property that patches edit, the date since which each line holds.
             * @default null
             */
            since?: {
                [key: string]: string[];
            } | null;
            /**
             * @description Only for events: name (or role) of the person whose own words `content` is.
             * @default null
             */
            speaker?: string | null;
            /**
             * @description The lowest trust in its sources. Missing: `normal`.
             * @default null
             */
            trust?: ("distrusted" | "untrusted" | "normal" | "trusted") | null;
            /**
             * @description Only for events: the index of the first message in its window.
             * @default null
             */
            turn?: number | null;
            /** @description The event type or entity type of the schema. */
            type: string;
            /**
             * @description For an event 1 if a model wrote it in words that its messages do not have. For an entity the number of changes by such events.
             *     Missing: none.
             * @default null
             */
            unsupported?: number | null;
            /** @default null */
            user?: string | null;
            /** @description Grows with each change of the memory. */
            version: number;
            /** @default null */
            window_id?: string | null;
            /**
             * @description For merged texts: how each was made.
             * @default null
             */
            written?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /**
         * MessageBody
         * @description One message: :class:`memory.records.Message` without its tenant, which the API key determines.
         *
         *     Messages of OpenAI's and Anthropic's APIs are accepted as they are, with ``user`` and ``session``.
         */
        MessageBody: {
            /**
             * @description Whether a program sent it automatically, such as a heartbeat: it stays in the log and is never extracted.
             * @default false
             */
            automated?: boolean;
            /**
             * @description OpenAI's and Anthropic's name of ``text``. Send one of them.
             * @default null
             */
            content?: string | components["schemas"]["JsonValue"][] | {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * Format: date-time
             * @description When it was said, from 1971 on: ISO 8601 with a UTC offset, or seconds or milliseconds since 1970. Default: when the service received
             *     it.
             */
            event_time?: string;
            /**
             * @description The text came from a recall: it is context for the reader, and is not extracted.
             * @default false
             */
            from_recall?: boolean;
            /**
             * @description Unique in the session for this user: a repeated id is the same message. Default: random, or from the `Idempotency-Key`.
             * @default null
             */
            id?: string | null;
            metadata?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description OpenAI's field for the name of the speaker or tool.
             * @default null
             */
            name?: string | null;
            /**
             * @description ``developer`` is stored as ``system``.
             * @default user
             */
            role?: ("user" | "assistant" | "system" | "tool") | "developer";
            /** @default 1.0 */
            schema_version?: string;
            session: string;
            /**
             * @description The name of the person who speaks. Default: the role.
             * @default null
             */
            speaker?: string | null;
            /**
             * @description The content: a text, a list of parts, or one part. A message has text or a tool call.
             * @default null
             */
            text?: string | components["schemas"]["JsonValue"][] | {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description IANA name of the user's time zone. Default: the tenant's, or else the UTC offset of ``event_time``.
             * @default null
             */
            time_zone?: string | null;
            /** @default null */
            tool_call?: components["schemas"]["ToolCall"] | null;
            /**
             * @description The call whose result the text of a message with the role ``tool`` is.
             * @default null
             */
            tool_call_id?: string | null;
            /** @description Several calls of one turn, in this form or in OpenAI's. */
            tool_calls?: (components["schemas"]["ToolCall"] | {
                [key: string]: components["schemas"]["JsonValue"];
            })[];
            /** @description Results of earlier calls of the session. */
            tool_results?: components["schemas"]["ToolResult"][];
            /** @description The user that the message belongs to. */
            user: string;
        };
        /**
         * MessageChanged
         * @description A change of a message that is durable.
         */
        MessageChanged: {
            id: string;
            /**
             * @description `pending` (202): the sessions stage has not answered in time; the change is applied when it reaches the position.
             * @enum {string}
             */
            outcome: "edited" | "deleted" | "unchanged" | "pending";
            /** @description The position of the change, for a recall's `after`. */
            position: components["schemas"]["Position"];
        };
        /**
         * MethodSummaries
         * @description The shipped memory methods.
         */
        MethodSummaries: {
            methods: components["schemas"]["MethodSummary"][];
        };
        /**
         * MethodSummary
         * @description A memory method, with the types that it adds to a schema.
         */
        MethodSummary: {
            description: string;
            entity_types: string[];
            event_types: string[];
            method: string;
            retrievers: string[];
            source: string;
            version: string;
        };
        /**
         * MethodView
         * @description A memory method.
         */
        MethodView: {
            /** @description `Archive`, `Extract`, `Manage`, `Store` and `Retrieve`. */
            content: {
                [key: string]: unknown;
            };
            method: string;
        };
        /**
         * OpenWindow
         * @description A session's open window.
         */
        OpenWindow: {
            message_count: number;
            sequence: number;
        };
        /**
         * OriginalMessage
         * @description A message as it was sent, or as it was edited last.
         */
        OriginalMessage: {
            /** Format: date-time */
            event_time: string;
            id: string;
            role: string;
            session: string;
            speaker: string | null;
            text: string;
            user: string;
        };
        /**
         * Outcome
         * @description The outcome of one message of a batch: its position, or the problem.
         */
        Outcome: {
            /**
             * @description See `Accepted`.
             * @default false
             */
            changed?: boolean;
            /** @default  */
            id?: string;
            index: number;
            /** @default null */
            position?: components["schemas"]["Position"] | null;
            problem?: {
                [key: string]: unknown;
            };
            /**
             * @description See `Accepted`.
             * @default false
             */
            repeated?: boolean;
            status: number;
        };
        /**
         * Outcomes
         * @description The outcome of each message of a batch, in order.
         */
        Outcomes: {
            /**
             * @description Number of items with `changed`.
             * @default 0
             */
            changed?: number;
            items: components["schemas"]["Outcome"][];
            /**
             * @description Number of items with `repeated`.
             * @default 0
             */
            repeated?: number;
        };
        /**
         * Overview
         * @description The stages in the order of the pipeline.
         */
        Overview: {
            /** @description The tenant's memories, counted at most 30 s ago. Null: not counted yet, or the key is an operator's. */
            memories: number | null;
            /** @description The time over which the rates were measured, in seconds. */
            over_s: number | null;
            /** @description The rates of the latest readings, oldest first: this process reads only when it is asked. Empty for a tenant's key. */
            rates: components["schemas"]["StageRates"][];
            /** Format: date-time */
            read_at: string;
            stages: components["schemas"]["StageView"][];
        };
        /**
         * OwnKeys
         * @description A tenant's keys and its quota.
         */
        OwnKeys: {
            keys: components["schemas"]["ApiKeyView"][];
            /** @description The limits in force. Null: no limit. */
            quota: {
                [key: string]: unknown;
            };
            /** @description Whether the times of last use are known: Redis stores them. */
            uses_known: boolean;
        };
        /**
         * OwnSchemaRevision
         * @description A revision that a tenant may use.
         */
        OwnSchemaRevision: {
            in_force: boolean;
            /** @description Whether only this tenant can see it. */
            own: boolean;
            schema: string;
        };
        /**
         * OwnSchemaRevisions
         * @description Revisions by name, and the start of the next page.
         */
        OwnSchemaRevisions: {
            next: number | null;
            schemas: components["schemas"]["OwnSchemaRevision"][];
        };
        /**
         * Position
         * @description The position of a record in Kafka.
         */
        Position: {
            offset: number;
            partition: number;
            topic: string;
        };
        /**
         * PreviewRequest
         * @description The schema of a dry run.
         */
        PreviewRequest: {
            /**
             * @description A schema, in the form of a file. Null: the schema in force.
             * @default null
             */
            content?: components["schemas"]["JsonValue"];
            /**
             * @description Most windows, the newest.
             * @default 2
             */
            limit?: number;
            /**
             * @description The name or the document of a memory method that extends the content. Null: none.
             * @default null
             */
            method?: string | {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /**
         * PreviewView
         * @description A dry run of a session's newest windows. Nothing was stored.
         */
        PreviewView: {
            /** @description The name of the schema that was used. */
            schema: string;
            session: string;
            windows: components["schemas"]["DryWindowView"][];
        };
        /**
         * Problem
         * @description A problem detail (RFC 9457). Some problems have further members.
         * @example {
         *       "detail": "limit: Input should be greater than or equal to 1",
         *       "instance": "/v1/recall",
         *       "status": 422,
         *       "title": "Unprocessable Content",
         *       "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
         *       "type": "urn:varve:problem:invalid"
         *     }
         */
        Problem: {
            /** @description The fault, and how to correct it. */
            detail: string;
            /** @description The path of the request. */
            instance: string;
            status: number;
            title: string;
            /**
             * @description The id under which the service logged the request.
             * @default
             */
            trace_id?: string;
            /** @description ``urn:varve:problem:`` and a stable identifier. */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * Purged
         * @description Number of removed dead letters.
         */
        Purged: {
            purged: number;
        };
        /**
         * Reached
         * @description Whether the store reached the positions of the request.
         */
        Reached: {
            /** @description Whether the store has reached all of them. */
            reached: boolean;
            /**
             * @description Number of memories in the recall's scope, of all generations, that were added or changed after them; None: the store did not
             *     report it.
             */
            written_since: number | null;
        };
        /**
         * ReasonBody
         * @description The reason.
         */
        ReasonBody: {
            /** @default  */
            reason?: string;
        };
        /**
         * RecallBody
         * @description A query to the memory.
         */
        RecallBody: {
            /**
             * @description A message of the session that must be readable, in its tail or in the index: waits for it, up to three quarters of the time.
             * @default null
             */
            after?: components["schemas"]["Written"] | null;
            /**
             * @description Only memories that happened at this time or before, and entities as they were then. Default: as they are now.
             * @default null
             */
            as_of?: string | null;
            /**
             * @description Positions of an earlier response: only memories up to these. Waits for the store to reach them, up to three quarters of the time.
             * @default null
             */
            at?: components["schemas"]["At"] | null;
            /**
             * @description Weight of the importance and of the type's weight in a result's score. Default: the setting.
             * @default null
             */
            business_weight?: number | null;
            /**
             * @description Milliseconds from the arrival of the request: parts that are late are left out. Default: the setting.
             * @default null
             */
            deadline_ms?: number | null;
            /**
             * @description Adds the parts of each score, and each result's rank among the candidates by each part.
             * @default false
             */
            explain?: boolean;
            /**
             * @description Memories younger than this have the full score of ``time_weight``; it halves with age after that. Default: the setting.
             * @default null
             */
            freshness_window_s?: number | null;
            /**
             * @description Keys of entities: only these entities, their summaries, and the events that updated them. Default: any.
             * @default []
             */
            keys?: string[];
            /**
             * @description Most results from the keyword graph, at most half of all. 0: the graph is not searched. Default: the setting.
             * @default null
             */
            keyword_quota?: number | null;
            /**
             * @description Only memories of these kinds. Default: any.
             * @default []
             */
            kinds?: ("event" | "entity" | "summary" | "segment")[];
            /**
             * @description Most results. Default: the setting.
             * @default null
             */
            limit?: number | null;
            /**
             * @description With a lower confidence that the memories answer the query, there are no results. Default: the setting.
             * @default null
             */
            min_confidence?: number | null;
            /**
             * @description Only memories whose sources all have at least this level of trust: ``normal`` or ``trusted``. Default: also untrusted ones.
             * @default null
             */
            min_trust?: ("normal" | "trusted") | null;
            /**
             * @description ``fast``: no model. ``sift``: a proxy model ranks the sessions of the results. ``expand``: a model adds sentences to the query, which
             *     are also searched. The model may take up to three quarters of the time until the deadline. Default: the mode of the memory method, or
             *     else ``fast``.
             * @default null
             */
            mode?: ("fast" | "expand" | "sift") | null;
            /**
             * @description The ranker: ``learned``, ``weighted``, ``memx``, or a profile of the deployment. Default: the setting.
             * @default null
             */
            profile?: string | null;
            query: string;
            /**
             * @description The session whose newest messages to return with the results.
             * @default null
             */
            session?: string | null;
            /**
             * @description Only memories of these sessions. Default: any.
             * @default []
             */
            sessions?: string[];
            /**
             * @description Only with ``mode=sift``.
             * @default null
             */
            sift?: components["schemas"]["SiftBody"] | null;
            /**
             * @description Only memories that may have happened at this time or later.
             * @default null
             */
            since?: string | null;
            /**
             * @description Weight of the age in a result's score; with ``business_weight`` at most 1. Default: the setting.
             * @default null
             */
            time_weight?: number | null;
            /**
             * @description Only memories of these event or entity types. Default: any.
             * @default []
             */
            types?: string[];
            /**
             * @description Only memories that may have happened before this time.
             * @default null
             */
            until?: string | null;
            /**
             * @description Only this user's memories, and also the user's nearest entities. Default: the whole tenant's memories.
             * @default null
             */
            user?: string | null;
            /**
             * @description Ids of memories or messages: explains why each is not returned. Messages are those of the body's session if it has one.
             * @default []
             */
            why_not?: string[];
        };
        /**
         * Recalled
         * @description The result of a recall.
         */
        Recalled: {
            after: components["schemas"]["Seen"] | null;
            at: components["schemas"]["Reached"] | null;
            /** @description With ``explain``: all candidates, best first. */
            candidates?: components["schemas"]["Candidate"][];
            /** @description Probability that the memories answer the query; None if the profile does not estimate it, or memories were late or unavailable. */
            confidence: number | null;
            degraded: string[];
            /** @description The nearest entities of the user of the request. */
            entities: components["schemas"]["MemoryView"][];
            /**
             * @description With ``mode=expand``: the sentences that were searched in addition to the query; also None if ``expansion`` is in ``degraded``.
             * @default null
             */
            expansion?: string[] | null;
            ms: number;
            positions: components["schemas"]["RestsOn"];
            recall_id: string;
            /** @description Best first. */
            results: components["schemas"]["RecalledMemory"][];
            session: components["schemas"]["Session"] | null;
            /**
             * @description With ``mode=sift``; also None if its ranking is in ``degraded``, or there was no session to rank.
             * @default null
             */
            sift?: components["schemas"]["SiftAnswer"] | null;
            /** @description With ``explain``: the steps, in the order in which they ended. */
            steps?: components["schemas"]["RecallStep"][];
            why_not?: components["schemas"]["WhyNot"][];
        };
        /**
         * RecalledMemory
         * @description A memory that a recall found.
         */
        RecalledMemory: {
            /** @description For an event that a person stated: their own words. For other memories: a description. */
            content: string;
            /**
             * @description The corrections in force.
             * @default null
             */
            correction?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description Only for events: when it happened, as exactly as it is known. Missing: exactly at `event_time`.
             * @default null
             */
            date?: string | null;
            /**
             * @description Only for nodes of a tree: the number of nodes above it.
             * @default null
             */
            depth?: number | null;
            /**
             * @description For an entity its key, for a summary the key of its entity.
             * @default null
             */
            entity_key?: string | null;
            /**
             * @description Only for events: the keys of the entities that it updated.
             * @default null
             */
            entity_keys?: string[] | null;
            /**
             * Format: date-time
             * @description When an event happened; for other kinds, the time of their newest event.
             */
            event_time: string;
            /** @description Ids of the messages that the memory was extracted from, best first. */
            evidence: string[];
            /** @description The score of each message of the evidence. */
            evidence_scores: number[];
            /** @default null */
            expires_at?: string | null;
            /** @default null */
            extractor?: string | null;
            generation: string;
            id: string;
            importance: number;
            /** @description The keyword that led to it; null if the search found it. */
            keyword: string | null;
            keywords: string[];
            /** @enum {string} */
            kind: "event" | "entity" | "summary" | "segment";
            /**
             * @description Links to other memories, strongest first, each with `id`, `relation` and `score`.
             * @default null
             */
            links?: {
                [key: string]: components["schemas"]["JsonValue"];
            }[] | null;
            /**
             * @description Only for nodes of a tree: the id of the parent node.
             * @default null
             */
            parent?: string | null;
            /**
             * @description With `explain`: the parts of the score.
             * @default null
             */
            parts?: {
                [key: string]: number;
            } | null;
            properties: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description With `explain`: the rank among the candidates by each part.
             * @default null
             */
            ranks?: {
                [key: string]: number;
            } | null;
            /** @description The entity in `entities` that has the event's words; null if none has. */
            repeated_by: string | null;
            /**
             * @description Only for events that a model worded: the words of the first message.
             * @default null
             */
            said?: string | null;
            /**
             * @description Only for events: when it was said. "Yesterday" in `content` is the day before.
             * @default null
             */
            said_at?: string | null;
            score: number;
            /** @default null */
            session?: string | null;
            /**
             * @description Only for entities: for each property that patches edit, the date since which each line holds.
             * @default null
             */
            since?: {
                [key: string]: string[];
            } | null;
            /**
             * @description Only for events: name (or role) of the person whose own words `content` is.
             * @default null
             */
            speaker?: string | null;
            /** @description If its value changed: the memory with the newest value that was found, or the entity that has it. */
            superseded_by: string | null;
            /**
             * @description The lowest trust in its sources. Missing: `normal`.
             * @default null
             */
            trust?: ("distrusted" | "untrusted" | "normal" | "trusted") | null;
            /**
             * @description Only for events: the index of the first message in its window.
             * @default null
             */
            turn?: number | null;
            /** @description The event type or entity type of the schema. */
            type: string;
            /**
             * @description For an event 1 if a model wrote it in words that its messages do not have. For an entity the number of changes by such events.
             *     Missing: none.
             * @default null
             */
            unsupported?: number | null;
            /** @default null */
            user?: string | null;
            /** @description Grows with each change of the memory. */
            version: number;
            /** @default null */
            window_id?: string | null;
            /**
             * @description For merged texts: how each was made.
             * @default null
             */
            written?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /**
         * RecallStep
         * @description A step of a recall. Steps of different retrievers run concurrently.
         */
        RecallStep: {
            /** @description When it began, in milliseconds since the recall began to run. */
            began_ms: number;
            /** @description Candidates after it. Null: unknown, or it has none. */
            found: number | null;
            /** @description Candidates before it. Null: it has none. */
            given: number | null;
            ms: number;
            /**
             * @description `rewrite`, `retrieve`, `score`, `rank`, `deduplicate`, `cut`, or a further retriever: `entities`, `session_tail`, `keywords`,
             *     `links`, `tree`, `recent`.
             */
            name: string;
        };
        /**
         * Redriven
         * @description Number of redriven dead letters, number that a newer value has superseded, and the refused ones.
         */
        Redriven: {
            redriven: number;
            refused: string[];
            superseded: number;
        };
        /**
         * RemainingContent
         * @description Content of an invalidated or replaced event that is left elsewhere.
         */
        RemainingContent: {
            id: string;
            reason: string;
            /**
             * @description The kind of a memory, or `message` for a message in the log.
             * @enum {string}
             */
            what: "event" | "summary" | "segment" | "message";
        };
        /**
         * Replaced
         * @description A correction that is durable.
         */
        Replaced: {
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            id?: string | null;
            memory_id: string;
            /**
             * @description `unchanged`: the memory has these values already, or an equal correction is on its way; nothing was recorded.
             * @enum {string}
             */
            outcome: "accepted" | "unchanged";
            /**
             * @description Missing: nothing was recorded.
             * @default null
             */
            position?: components["schemas"]["Position"] | null;
            /**
             * @description The memories that still have the content or values of the event that the correction replaces. Missing: it replaces none, or the store
             *     could not be queried.
             * @default null
             */
            remaining?: components["schemas"]["RemainingContent"][] | null;
        };
        /**
         * RestsOn
         * @description The data that an answer is based on.
         */
        RestsOn: {
            /** @description The change feed at least up to these positions. */
            memories: components["schemas"]["Position"][];
            /** @description The session's messages up to this position. */
            session: components["schemas"]["Position"] | null;
        };
        /**
         * SchemaCheck
         * @description A schema to check.
         */
        SchemaCheck: {
            /** @description The schema, in the form of a file (docs/build/schemas.md). */
            content: components["schemas"]["JsonValue"];
            /**
             * @description The name or the document of a memory method that extends it. Null: the schema as it is.
             * @default null
             */
            method?: string | {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /**
         * SchemaCheckView
         * @description Whether a schema is valid.
         */
        SchemaCheckView: {
            entity_types: string[];
            event_types: string[];
            /** @description Its name, with that of the method. */
            name: string | null;
            /** @description The first error. */
            problems: components["schemas"]["SchemaProblem"][];
            /** @description The estimated tokens of the schema's part of a prompt, which providers cache. */
            prompt_tokens: number | null;
            valid: boolean;
        };
        /**
         * SchemaProblem
         * @description An error in a schema.
         */
        SchemaProblem: {
            message: string;
            /** @description Its place, such as `EventTypes[0].Properties[2]`; empty: the whole document. */
            path: string;
        };
        /**
         * SchemaView
         * @description A revision of a memory schema.
         */
        SchemaView: {
            /** @description `EventTypes`, `EntityTypes` and further parts. It can be sent back unchanged. */
            content: {
                [key: string]: unknown;
            };
            /**
             * @description The only tenant that may use it; null: every tenant may.
             * @default null
             */
            owner?: string | null;
            /** @description Its name and revision, such as `notes@2`. */
            schema: string;
        };
        /**
         * Seen
         * @description Whether the message that the request named can be read.
         */
        Seen: {
            /** @description None: not found before the deadline. */
            found_in: ("tail" | "index") | null;
            id: string;
            /** @description Whether the sessions stage has processed it. */
            reached: boolean;
        };
        /**
         * Session
         * @description A session's newest messages, oldest first.
         */
        Session: {
            messages: components["schemas"]["TailMessage"][];
            open_window: components["schemas"]["OpenWindow"] | null;
            session: string;
        };
        /**
         * SessionPage
         * @description Sessions by name, and the start of the next page.
         */
        SessionPage: {
            next: string | null;
            sessions: components["schemas"]["SessionSummary"][];
        };
        /**
         * SessionSummary
         * @description A session with recent messages.
         */
        SessionSummary: {
            /** @description The newest closed window. */
            closed_window: components["schemas"]["WindowSize"] | null;
            /** @description The newest event time. */
            last_message_at: string | null;
            /** @description The messages that can be read: those of both windows. */
            messages: number;
            open_window: components["schemas"]["WindowSize"] | null;
            session: string;
            users: string[];
        };
        /**
         * SiftAnswer
         * @description The answer of the proxy model.
         */
        SiftAnswer: {
            /** @description Number of sessions at the end of `sessions` that the recall added, because the model ranked too few. */
            completed: number;
            /** @description The content of the sessions in its prompt. Both: a part of them has no archived messages, and events are shown instead. */
            history: ("turns" | "events")[];
            /** @description Number of sessions that did not fit into its prompt. */
            left_out: number;
            /** @description Best first. */
            sessions: components["schemas"]["SiftedSession"][];
            /** @description Number of sessions in its prompt. */
            shown: number;
            /** @description Its reasoning; empty without. */
            thought: string;
            usage: components["schemas"]["SiftUsage"];
        };
        /**
         * SiftBody
         * @description Options of ``mode=sift``.
         */
        SiftBody: {
            /**
             * @description The content of the sessions that the model reads: ``turns``, the archived messages, or ``events``, what was extracted. Default:
             *     ``turns`` if the tenant's method archives messages, else ``events``.
             * @default null
             */
            history?: ("turns" | "events") | null;
            /**
             * @description Whether the model reasons before it ranks. Default: the setting.
             * @default null
             */
            reasoning?: boolean | null;
            /**
             * @description Number of sessions that the model ranks. Default: the setting.
             * @default null
             */
            sessions?: number | null;
        };
        /**
         * SiftedSession
         * @description A session that the proxy model ranked.
         */
        SiftedSession: {
            session: string;
            user: string | null;
        };
        /**
         * SiftUsage
         * @description The use of the proxy model.
         */
        SiftUsage: {
            /** @description Tokens of the prompt that the endpoint had in its cache. */
            cached_tokens: number;
            /** @description Tokens of the answer, with the reasoning. */
            completion_tokens: number;
            /** @description In the currency of the price table; 0 without one. */
            cost: number;
            /** @description Whether the endpoint did not count the tokens. */
            estimated: boolean;
            /** @description Duration of the call. */
            ms: number;
            prompt_tokens: number;
        };
        /**
         * StageRates
         * @description The records per second of each stage between two readings.
         */
        StageRates: {
            /** Format: date-time */
            at: string;
            stages: {
                [key: string]: number;
            };
        };
        /**
         * StageView
         * @description A stage's progress. Null: unknown, or not for this key.
         */
        StageView: {
            /** @description Records of its topic that it has not processed yet. Null for a tenant's key: they are those of all tenants. */
            lag: number | null;
            name: string;
            /** @description Freshness: the age of the oldest unprocessed record, in seconds. Null: everything is processed. */
            oldest_s: number | null;
            /** @description Records that wait for a budget or a schema; for a tenant's key only its own. */
            parked: number | null;
            /** @description The tenants with the most parked records; for a tenant's key only itself. */
            parked_by_tenant: {
                [key: string]: number;
            };
            /** @description Records per second since the previous reading. Null: there was none within a minute, or the key is a tenant's. */
            rate: number | null;
            /** @description Seconds until Kafka may delete an unprocessed record; negative if it already may. Null: never, or the key is a tenant's. */
            retention_left_s: number | null;
            /** @description The interrupted command that the stage waits for. */
            unfinished: string | null;
        };
        /**
         * TailMessage
         * @description A message of a session's newest windows.
         */
        TailMessage: {
            message: {
                [key: string]: unknown;
            };
            window_sequence: number;
        };
        /**
         * ToolCall
         * @description One tool invocation of an agent trace.
         */
        ToolCall: {
            /** @default null */
            arguments?: components["schemas"]["JsonValue"];
            /** @default null */
            duration_ms?: number | null;
            /** @default null */
            error?: string | null;
            /** @default null */
            id?: string | null;
            name: string;
            /** @default null */
            result?: components["schemas"]["JsonValue"];
            /** @default null */
            success?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ToolResult
         * @description The result of a tool call of an earlier message in the session. Extraction joins both.
         */
        ToolResult: {
            /** @default null */
            call_id?: string | null;
            /** @default null */
            content?: components["schemas"]["JsonValue"];
            /** @default null */
            name?: string | null;
            /** @default null */
            success?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * UsageRow
         * @description The model calls of a tenant on one day (UTC), by stage, purpose and model.
         */
        UsageRow: {
            /** @description Prompt tokens that the provider's cache contained. */
            cached_tokens: number;
            calls: number;
            completion_tokens: number;
            /** @description In the currency of the price table; 0 without one. */
            cost: number;
            /** Format: date */
            day: string;
            /** @description Calls whose tokens the endpoint did not count. */
            estimated_calls: number;
            /** @description The sum of the calls' times. */
            latency_ms: number;
            model: string;
            prompt_tokens: number;
            purpose: string;
            stage: string;
            tenant: string;
        };
        /**
         * UsageView
         * @description Model calls and budgets.
         */
        UsageView: {
            /** @description The budgets of the tenant, or of the tenants in the rows: at most 200, those with the most tokens. */
            budgets: components["schemas"]["BudgetView"][];
            /** @description Whether there is a price table. False: every cost is 0. */
            priced: boolean;
            /** @description By day, tenant, stage, purpose and model; without tenant and time limit at most 10,000, those with the most tokens. */
            rows: components["schemas"]["UsageRow"][];
            /** Format: date-time */
            since: string;
            /** @description Whether rows are left out. */
            truncated: boolean;
        };
        /**
         * UsedBy
         * @description A returned entity or summary that is based on a message.
         */
        UsedBy: {
            /** @enum {string} */
            kind: "entity" | "summary";
            memory: string;
            /** @description The field whose value the message states; null if no field has its words, for example a count. */
            property: string | null;
            type: string;
        };
        /**
         * UserErasure
         * @description An erasure of a user that has begun.
         */
        UserErasure: {
            /** @description The path at which to poll the receipt; also in the header `Location`. */
            location: string;
            /** @description Whether another process continues if this one stops. False: Redis is unavailable; repeat the request after a stop. */
            resumable: boolean;
            /** @description The SHA-256 that identifies the user in the receipt. */
            subject: string;
        };
        /**
         * WhyNot
         * @description Where a memory or a message stopped.
         */
        WhyNot: {
            filter: string | null;
            id: string;
            memory: string | null;
            of: string | null;
            outcome: string;
            rank: number | null;
            score: number | null;
            /** @description The returned entities and summaries that use the message. */
            used_by?: components["schemas"]["UsedBy"][];
            what: ("memory" | "message") | null;
        };
        /**
         * WindowSize
         * @description A window of a session.
         */
        WindowSize: {
            message_count: number;
            /** @description The window's number, from 0. */
            sequence: number;
        };
        /**
         * Written
         * @description A message, as in the response of ``POST /v1/messages``, or a change of one. Further fields of that response are ignored.
         */
        Written: {
            id: string;
            position: components["schemas"]["WrittenPosition"];
        };
        /**
         * WrittenPosition
         * @description The position of a record in Kafka, from an earlier response.
         */
        WrittenPosition: {
            offset: number;
            partition: number;
            topic: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process serves. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_blocks: {
        parameters: {
            query?: {
                /** @description The user. Default: the user to whom the key is bound. */
                user?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockList"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_block: {
        parameters: {
            query?: {
                /** @description The user. Default: the user to whom the key is bound. */
                user?: string | null;
            };
            header?: never;
            path: {
                /** @description The entity type of the block. */
                entity_type: string;
                /** @description The property of the block. */
                property: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockRead"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    edit_block: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The entity type of the block. */
                entity_type: string;
                /** @description The property of the block. */
                property: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlockEditBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockEdited"];
                };
            };
            /** @description The edit is durable, but not applied yet. */
            202: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockEdited"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undo_block_edit: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The id of the edit. */
                edit: string;
                /** @description The entity type of the block. */
                entity_type: string;
                /** @description The property of the block. */
                property: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BlockUndoBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockEdited"];
                };
            };
            /** @description The edit is durable, but not applied yet. */
            202: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockEdited"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search_memories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlockSearchBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundMemories"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    build_context: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContextBody"];
            };
        };
        responses: {
            /** @description The block; empty if nothing was found. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Context"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_own_dead_letters: {
        parameters: {
            query?: {
                /** @description Only the dead letters at these positions, ``partition/offset``. */
                at?: string[];
                limit?: number;
                reason?: string | null;
                /** @description Written at this time or later. */
                since?: string | null;
                stage?: string | null;
                state?: ("open" | "redriven" | "superseded" | "purged")[];
                /** @description Written before this time. */
                until?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letters, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetters"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_own_dead_letter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                offset: number;
                partition: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    purge_own_dead_letters: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterCommand"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redrive_own_dead_letters: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterCommand"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redriven"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_entity: {
        parameters: {
            query?: {
                /** @description Only events that had happened by then. */
                as_of?: string | null;
                /** @description Only events that were known by then. */
                known_at?: string | null;
            };
            header?: never;
            path: {
                entity_key: string;
                entity_type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "5b1c9a55-0a3e-5d52-8a3b-0b7f5d3f9c10",
                     *       "user": "ann",
                     *       "kind": "entity",
                     *       "type": "user_profile",
                     *       "content": "home: Bergen",
                     *       "properties": {
                     *         "user": "ann",
                     *         "home": "Bergen"
                     *       },
                     *       "keywords": [],
                     *       "importance": 0.5,
                     *       "event_time": "2026-11-26T09:30:00Z",
                     *       "entity_key": "ann",
                     *       "generation": "",
                     *       "version": 3,
                     *       "evidence": [
                     *         "m1"
                     *       ],
                     *       "degraded": []
                     *     }
                     */
                    "application/json": components["schemas"]["EntityView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_entity_history: {
        parameters: {
            query?: {
                /** @description `next` of the previous page. */
                after?: string | null;
                /** @description Only events that had happened by then. */
                as_of?: string | null;
                /** @description Only events that were known by then. */
                known_at?: string | null;
                /** @description Maximum number of steps on the page. */
                limit?: number;
            };
            header?: never;
            path: {
                entity_key: string;
                entity_type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The steps, in the order in which they became known. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "user_profile",
                     *       "key": "ann",
                     *       "steps": [
                     *         {
                     *           "id": "extractions/0@41",
                     *           "kind": "extraction",
                     *           "recorded_at": "2026-11-26T09:30:00Z",
                     *           "time": "2026-11-26T09:30:00Z",
                     *           "user": "ann",
                     *           "changes": [
                     *             {
                     *               "property": "home",
                     *               "op": "apply",
                     *               "value": {
                     *                 "search": "",
                     *                 "replace": "Bergen"
                     *               },
                     *               "event_time": "2026-11-26T09:30:00Z",
                     *               "source_id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
                     *               "evidence": [
                     *                 "m1"
                     *               ],
                     *               "extractor": "offline",
                     *               "fate": "stands",
                     *               "by": null
                     *             }
                     *           ],
                     *           "before": {
                     *             "home": null
                     *           },
                     *           "after": {
                     *             "home": "Bergen"
                     *           }
                     *         }
                     *       ],
                     *       "next": null,
                     *       "total": 1,
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["History"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_own_erasures: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasures, the oldest request first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureViews"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_erasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `subject` of the response to `DELETE /v1/users/{user}`. */
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    send_feedback: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackBody"];
            };
        };
        responses: {
            /** @description The feedback is durable. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackTaken"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    flush_windows: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FlushRequest"];
            };
        };
        responses: {
            /** @description The windows close once the sessions stage reaches the positions. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Flushed"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The tenant has reached its maximum number of memories. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_own_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys and the quota. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnKeys"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_links: {
        parameters: {
            query?: {
                /** @description Most memories whose links are followed, the newest. */
                limit?: number;
                /** @description Only this user's memories. Default: all users that the key may access. */
                user?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinkGraph"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_memories: {
        parameters: {
            query?: {
                /** @description The `next` of the previous page, of the same `order`. */
                after?: string | null;
                /** @description Only memories of these kinds. */
                kinds?: ("event" | "entity" | "summary" | "segment")[] | null;
                /** @description Most memories of the page. */
                limit?: number;
                /** @description Only memories whose sources all have at least this level of trust. Default: any. */
                min_trust?: ("normal" | "trusted") | null;
                /** @description By id, or by the time of the event: the newest or the oldest first. */
                order?: "id" | "newest" | "oldest";
                /** @description Only memories of this session. */
                session?: string | null;
                /** @description Only memories that may have happened at this time or later. */
                since?: string | null;
                /** @description Only memories of these event or entity types. */
                types?: string[] | null;
                /** @description Only memories that may have happened before this time. */
                until?: string | null;
                /** @description Only this user's memories. Default: all users that the key may access. */
                user?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_memory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0d0b9f3e-8f51-5f0a-9f0e-6f5a0f6f2a11",
                     *       "user": "ann",
                     *       "kind": "event",
                     *       "type": "fact",
                     *       "content": "I moved to Bergen last week, and my cat is called Pixel.",
                     *       "speaker": "Ann",
                     *       "properties": {},
                     *       "keywords": [
                     *         "Bergen",
                     *         "cat",
                     *         "Pixel"
                     *       ],
                     *       "importance": 0.6,
                     *       "event_time": "2026-11-26T09:30:00Z",
                     *       "date": "2026-11-16/2026-11-22",
                     *       "said_at": "2026-11-23T18:00:00Z",
                     *       "session": "s1",
                     *       "generation": "",
                     *       "version": 0,
                     *       "evidence": [
                     *         "m1"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MemoryView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_memory: {
        parameters: {
            query?: {
                /** @description The reason, for the log. */
                reason?: string;
            };
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The deletion is durable; recalls show it once the events stage and the index have processed it. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    correct_memory: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CorrectionBody"];
            };
        };
        responses: {
            /** @description The correction is durable; recalls show it once the events stage and the index have processed it. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replaced"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_evidence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvidenceView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    invalidate_memory: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonBody"];
            };
        };
        responses: {
            /** @description The invalidation is durable; recalls show it once the events stage and the index have processed it. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invalidated"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revert_memory: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonBody"];
            };
        };
        responses: {
            /** @description The correction is durable; recalls show it once the events stage and the index have processed it. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Corrected"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    send_messages: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageBody"] | components["schemas"]["MessageBody"][];
            };
        };
        responses: {
            /** @description All messages were accepted: the position of one message, or the items of a batch. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedMessages"];
                };
            };
            /** @description Some items were rejected. */
            207: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Outcomes"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The tenant has reached its maximum number of memories. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    edit_message: {
        parameters: {
            query?: never;
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The id of the message, percent-encoded. */
                message_id: string;
                /** @description The session, percent-encoded: a `/` in it is written `%2F`. */
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditBody"];
            };
        };
        responses: {
            /** @description The message is changed; memories follow once the events stage and the index have processed the change. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageChanged"];
                };
            };
            /** @description The change is durable, but not applied yet. */
            202: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageChanged"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_message: {
        parameters: {
            query?: {
                /** @description The user of the message. Default: the user of the key. */
                user?: string | null;
            };
            header?: {
                /** @description A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The id of the message, percent-encoded. */
                message_id: string;
                /** @description The session, percent-encoded: a `/` in it is written `%2F`. */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message is changed; memories follow once the events stage and the index have processed the change. */
            200: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageChanged"];
                };
            };
            /** @description The change is durable, but not applied yet. */
            202: {
                headers: {
                    /** @description With an `Idempotency-Key`: whether the response was stored, replayed, or not stored. */
                    "Idempotency-Status"?: "kept" | "replayed" | "not-kept";
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageChanged"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_shipped_methods: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The methods, by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MethodSummaries"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_shipped_method: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                method: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The method. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MethodView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_overview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest reading. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recall_memories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallBody"];
            };
        };
        responses: {
            /** @description The memories found, best first. */
            200: {
                headers: {
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recalled"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_own_schemas: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The revisions, by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnSchemaRevisions"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_own_schema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schema: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schema. It can be sent back unchanged. */
            200: {
                headers: {
                    /** @description Its revision, for `If-Match`. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchemaView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    validate_own_schema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchemaCheck"];
            };
        };
        responses: {
            /** @description The result, also for an invalid schema. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchemaCheckView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description The `next` of the previous page. */
                after?: string | null;
                /** @description Most sessions of the page. */
                limit?: number;
                /** @description Only sessions with recent messages of this user. */
                user?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages; empty for a session that is unknown or long idle. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewRequest"];
            };
        };
        responses: {
            /** @description The dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist, or belongs to another tenant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The model's answer is unusable. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reach of the key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyStatus"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_usage: {
        parameters: {
            query?: {
                /** @description Only calls at this time or later. Default: of the last seven days. */
                since?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageView"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erase_user: {
        parameters: {
            query?: {
                /** @description Reason for the audit log, which is kept forever: do not name the user in it. */
                reason?: string;
            };
            header?: never;
            path: {
                /** @description The user, percent-encoded. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure has begun; poll its receipt. */
            202: {
                headers: {
                    /** @description Where to poll the receipt. */
                    Location?: string;
                    /** @description The remainder of these quotas. */
                    RateLimit?: string;
                    /** @description The quotas that the request counts against, if any. */
                    "RateLimit-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserErasure"];
                };
            };
            /** @description The API key is missing or unknown. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks a permission. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The client sent the request too slowly. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state (`change-refused`, `edit-conflict`), or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`). */
            409: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body, the batch, or a message is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request is invalid; `detail` names the field. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many concurrent requests, or the quota is used up. */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A defect in Varve; the service's log has the reason under the trace id. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A dependency of the request is unavailable. */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
