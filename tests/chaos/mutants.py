"""Deliberate defects of the code, each with the tests and faults that should detect it."""

from dataclasses import dataclass, field
from typing import Final

WRITER: Final = "streams/engine/tasks/checkpointer.py"
PROCESSOR: Final = "streams/engine/tasks/ordered_task.py"
OWNER: Final = "streams/engine/tasks/partition_task.py"
BATCH: Final = "streams/engine/tasks/batch.py"
RUNNER: Final = "streams/engine/tasks/batch_runner.py"
COMMITTER: Final = "streams/engine/keyed/keyed_task.py"
CRASH_JOURNAL: Final = "streams/engine/failures/crash_journal.py"
FAIR_QUEUE: Final = "runtime/fair_queue.py"
JOURNAL_STORE: Final = "streams/engine/failures/journal_store.py"
SUSPECTS: Final = "streams/engine/failures/suspects.py"
DRIVER: Final = "streams/engine/keyed/keyed_driver.py"
PARKING: Final = "streams/engine/failures/deferral.py"
LOT: Final = "streams/engine/failures/deferred_records.py"
SCHEDULER: Final = "streams/engine/keyed/scheduler.py"
ASSIGNMENT: Final = "streams/engine/keyed/offset_tracker.py"
STATE: Final = "streams/engine/state/partition_state.py"
RECOVERY: Final = "streams/engine/state/recovery.py"
CONSUMER: Final = "streams/engine/faust/consumer.py"
CONSUMER_THREAD: Final = "streams/engine/faust/consumer_thread.py"
MEMBERSHIP: Final = "streams/engine/tasks/write_lease.py"
REBALANCE: Final = "streams/engine/faust/rebalance_signals.py"
OFFSETS: Final = "runtime/kafka/offsets.py"
MERGED_TEXT: Final = "operators/llm/merged_text.py"
WORK: Final = "operators/work.py"
DATA_LOSS: Final = "streams/engine/failures/data_loss.py"
EVENTS: Final = "streams/stages/events/handler.py"
CORRECTING: Final = "streams/stages/events/correcting.py"
COMPRESS: Final = "operators/timeline/compress.py"
TEXTS: Final = "operators/timeline/texts.py"
TIMELINE: Final = "operators/timeline/timeline.py"
PRODUCER: Final = "runtime/kafka/transactional.py"
SIMILAR_KEYS: Final = "streams/stages/extraction/similar_keys.py"

SESSIONS: Final = "streams/stages/sessions/handler.py"
CLOSED_WINDOWS: Final = "streams/stages/sessions/closed_windows.py"
SHARED_WINDOWS: Final = "extraction/shared_windows.py"
EXTRACTION: Final = "streams/stages/extraction/handler.py"
ENTITIES: Final = "streams/stages/entities/handler.py"
ENTITY_ERASING: Final = "streams/stages/entities/erasing.py"
ERASING: Final = "streams/stages/events/erasing.py"
PUBLISHED: Final = "streams/operations/erasure/published.py"
VERIFICATION: Final = "streams/operations/erasure/verification.py"
ERASURE_CHANGES: Final = "control/erasure_changes.py"
KEYS: Final = "memory/keys.py"
AGENT: Final = "operators/agent/agent.py"
EVOLUTION: Final = "streams/stages/events/evolution.py"

TEST_WRITER: Final = "tests/streams/engine/test_checkpointer.py"
TEST_PROCESSOR: Final = "tests/streams/engine/test_ordered_task.py"
TEST_KEYED: Final = "tests/streams/engine/test_keyed_driver.py"
TEST_CRASH_JOURNAL: Final = "tests/streams/engine/test_crash_journal.py"
TEST_CRASH_JOURNAL_DRIVERS: Final = "tests/streams/engine/test_journal_in_drivers.py"
TEST_COMMIT_ORDER: Final = "tests/streams/engine/test_commit_order.py"
TEST_FAIR_QUEUE: Final = "tests/runtime/test_fair_queue.py"
TEST_JOURNAL_STORE: Final = "tests/streams/engine/test_journal_store.py"
TEST_PARKING: Final = "tests/streams/engine/test_parking.py"
TEST_LOT: Final = "tests/streams/engine/test_deferred_records.py"
TEST_STATE: Final = "tests/streams/engine/test_partition_state.py"
TEST_RECOVERY: Final = "tests/streams/engine/test_recovery.py"
TEST_CONSUMER: Final = "tests/streams/engine/test_consumer.py"
TEST_WAITING_BATCHES: Final = "tests/streams/engine/test_waiting_batches.py"
TEST_WAITING: Final = "tests/streams/engine/test_waiting.py"
TEST_WHOLE_STORE: Final = "tests/streams/stages/index/test_store_watermark.py"
TEST_MERGED_TEXT: Final = "tests/operators/llm/test_merged_text.py"
TEST_WORK: Final = "tests/operators/test_work.py"
TEST_DATA_LOSS: Final = "tests/streams/engine/test_data_loss.py"
TEST_POINTS: Final = "tests/stores/test_position.py"
TEST_TAIL: Final = "tests/runtime/redis/test_session_tail.py"
TEST_TRANSACTIONS: Final = "tests/runtime/test_kafka_transactions.py"
TEST_SCHEDULER: Final = "tests/streams/test_delivery_interleavings.py"
TEST_REBALANCE: Final = "tests/streams/engine/test_rebalance_signals.py"
TEST_CUT_LOGS: Final = "tests/streams/test_cut_logs.py"
TEST_KILLED_COMMANDS: Final = "tests/streams/test_killed_commands.py"
TEST_UNFINISHED: Final = "tests/streams/test_unfinished_commands.py"
TEST_REPETITION: Final = "tests/streams/test_repetition.py"
TEST_TEXTS: Final = "tests/operators/timeline/test_texts.py"
TEST_COMPRESS: Final = "tests/operators/timeline/test_time_compress.py"
TEST_TIMELINES: Final = "tests/streams/test_timelines.py"
TEST_FORMER: Final = "tests/streams/stages/entities/test_former_entities.py"
TEST_CORRECTIONS: Final = "tests/streams/stages/events/test_corrections.py"
TEST_KEYS: Final = "tests/memory/test_keys.py"
TEST_ERASED_SESSIONS: Final = "tests/streams/stages/sessions/test_erased_sessions.py"
TEST_CHANGED_MESSAGES: Final = "tests/streams/stages/sessions/test_changed_messages.py"
TEST_ERASED_WINDOWS: Final = "tests/streams/stages/extraction/test_erased_windows.py"
TEST_ERASING: Final = "tests/streams/stages/events/test_erasing.py"
TEST_ERASED_ENTITIES: Final = "tests/streams/stages/entities/test_erased_entities.py"
TEST_PUBLISHED: Final = "tests/streams/operations/erasure/test_published.py"
TEST_INTERRUPTED_ERASURE: Final = "tests/streams/test_interrupted_erasure.py"
TEST_CONTROL_ERASURES: Final = "tests/control/test_erasures.py"
TEST_EDITS: Final = "tests/operators/agent/test_edits.py"
TEST_EDITED_STAGES: Final = "tests/streams/stages/merging/test_edited_stages.py"
TEST_LINKED_STAGES: Final = "tests/streams/stages/merging/test_linked_stages.py"
TEST_SIMILAR_KEYS: Final = "tests/streams/stages/extraction/test_similar_keys.py"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One defect."""

    name: str
    file: str
    old: str
    """Code in the file, exactly once."""
    new: str
    tests: tuple[str, ...] = ()
    """Tests that pytest runs first, because they are quick."""
    faults: tuple[str, ...] = ()
    """Faults to inject if no test notices the defect."""
    noticed_by: str = field(kw_only=True)
    """The test that noticed the defect in the last whole run."""


MUTANTS: Final = (
    # Work that is bounded.
    Mutant(
        "work of a contribution not bounded",
        WORK,
        "        if units > self._left:\n",
        "        if False:\n",
        (TEST_WORK,),
        noticed_by="test_costly_patches_stay_within_their_contributions_allowance",
    ),
    Mutant(
        "work of a patch not bounded",
        WORK,
        "        if units > self._in_patch:\n",
        "        if False:\n",
        (TEST_WORK,),
        noticed_by="test_a_patch_that_costs_too_much_is_refused",
    ),
    Mutant(
        "handlers begun by a fenced worker",
        CRASH_JOURNAL,
        "            if self._is_lost():\n",
        "            if False:\n",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_a_lost_worker_begins_nothing_more",
    ),
    Mutant(
        "entries of a fenced worker freed",
        CRASH_JOURNAL,
        "                is_kept = self._is_lost()\n",
        "                is_kept = False\n",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_a_lost_worker_keeps_its_entries",
    ),
    # The one writer of a partition.
    Mutant(
        "no fence at take-over",
        WRITER,
        "identity = transactional_id(group, source.partition)\n",
        'identity = f"{transactional_id(group, source.partition)}.{id(self)}"\n',
        (TEST_WRITER,),
        ("zombie-entities",),
        noticed_by="test_a_fenced_writer_commits_nothing",
    ),
    Mutant(
        "recover before the fence",
        WRITER,
        """            await self._producer.start()
            next_offset, metadata, loss = await self._position()
""",
        """            if self._table is not None and self._changelog is not None:
                self._table.open()
                await recover(self._table, self._changelog, kafka=self._kafka, offsets=self._offsets)
            await self._producer.start()
            next_offset, metadata, loss = await self._position()
            if loss is None:
                return next_offset
""",
        (TEST_WRITER,),
        noticed_by="test_nothing_is_written_once_recovery_begins",
    ),
    Mutant(
        "committed offset read before the fence",
        WRITER,
        "            await self._producer.start()\n            next_offset, metadata, loss = await self._position()\n",
        "            next_offset, metadata, loss = await self._position()\n            await self._producer.start()\n",
        (TEST_WRITER,),
        noticed_by="test_the_last_commit_before_the_fence_counts",
    ),
    Mutant(
        "log of the same length taken for the same",
        WRITER,
        "            return found.written_ms == last.written_ms\n",
        "            return True\n",
        (TEST_CUT_LOGS,),
        noticed_by="test_the_record_handled_last_is_known_again",
    ),
    Mutant(
        "record handled last not noted",
        OWNER,
        "last = None if next_offset is None else self._stamp_of(next_offset - 1)\n",
        "last = None\n",
        (TEST_PROCESSOR, TEST_CUT_LOGS),
        noticed_by="test_a_batch_is_one_transaction",
    ),
    Mutant(
        "offset not committed",
        PRODUCER,
        "                if offsets:\n",
        "                if False:\n",
        (TEST_TRANSACTIONS,),
        ("kill-at-committed",),
        noticed_by="test_a_commit_writes_offsets_and_moves_the_group",
    ),
    Mutant(
        "offset in a separate transaction",
        PRODUCER,
        "                if offsets:\n",
        "                if offsets:\n                    await client.commit_transaction()\n"
        "                    await client.begin_transaction()\n",
        (TEST_WRITER,),
        ("kill-at-offsets",),
        noticed_by="test_an_interrupted_batch_leaves_no_outputs",
    ),
    Mutant(
        "offset committed before its outputs",
        PRODUCER,
        "                written = await self._produce(client, records, grouped)\n                if offsets:\n"
        "                    await client.send_offsets_to_transaction(dict(offsets), group)\n",
        "                if offsets:\n                    await client.send_offsets_to_transaction(dict(offsets), group)\n"
        "                    await client.commit_transaction()\n                    await client.begin_transaction()\n"
        "                written = await self._produce(client, records, grouped)\n",
        (TEST_WRITER,),
        ("kill-at-sent",),
        noticed_by="test_an_interrupted_batch_leaves_no_outputs",
    ),
    Mutant(
        "rows not in the transaction",
        WRITER,
        "self._producer.commit([*outputs, *changes],",
        "self._producer.commit([*outputs],",
        (TEST_WRITER,),
        ("kill-at-applied",),
        noticed_by="test_a_batch_is_committed_with_its_offset",
    ),
    Mutant(
        "changelog offset forgotten",
        WRITER,
        "return max(written[len(outputs) :], default=NO_OFFSET)",
        "return NO_OFFSET",
        (TEST_WRITER,),
        noticed_by="test_a_batch_is_committed_with_its_offset",
    ),
    Mutant(
        "lost answer treated as committed",
        WRITER,
        "        except KafkaUnavailableError as error:\n"
        '            raise TransientError(str(error), dependency="kafka") from error\n        return max',
        "        except KafkaUnavailableError:\n            return NO_OFFSET\n        return max",
        (TEST_WRITER,),
        ("kill-broker",),
        noticed_by="test_an_interrupted_batch_leaves_no_outputs",
    ),
    Mutant(
        "fenced writer takes the partition back",
        WRITER,
        'raise FencedError(f"{self._name} belongs to another worker: {error}") from error',
        'raise TransientError(str(error), dependency="kafka") from error',
        (TEST_WRITER,),
        noticed_by="test_a_fenced_writer_commits_nothing",
    ),
    Mutant(
        "open transaction not aborted at the end",
        PRODUCER,
        "            await client.abort_transaction()\n",
        "            pass\n",
        (TEST_TRANSACTIONS,),
        noticed_by="test_stopping_aborts_the_open_transaction",
    ),
    Mutant(
        "one record in 500 is not produced",
        PRODUCER,
        "        for index, record in enumerate(records):\n            largest =",
        "        for index, record in enumerate(records):\n            if index % 500 == 499:\n                continue\n"
        "            largest =",
        (TEST_TRANSACTIONS,),
        noticed_by="test_the_order_in_a_partition_holds_across_batches",
    ),
    # Recovery.
    Mutant(
        "recovery ends at the last stable offset",
        OFFSETS,
        '_ISOLATION: Final = "read_uncommitted"',
        '_ISOLATION: Final = "read_committed"',
        (TEST_RECOVERY,),
        noticed_by="test_rows_after_an_open_transaction_are_recovered",
    ),
    Mutant(
        "recovery applies aborted rows",
        RECOVERY,
        'isolation_level="read_committed"',
        'isolation_level="read_uncommitted"',
        (TEST_RECOVERY,),
        noticed_by="test_aborted_rows_never_reach_the_table",
    ),
    Mutant(
        "recovery applies nothing",
        RECOVERY,
        "table.write(_newest_rows(table, records),",
        "table.write([],",
        (TEST_RECOVERY,),
        ("second-worker",),
        noticed_by="test_rows_and_tombstones_are_applied",
    ),
    Mutant(
        "recovery skips one row",
        RECOVERY,
        "    return newest + 1\n",
        "    return newest + 2\n",
        (TEST_RECOVERY, TEST_WRITER),
        noticed_by="test_an_interrupted_recovery_continues",
    ),
    Mutant(
        "changelog that lost its end taken",
        RECOVERY,
        "    if newest >= end:\n",
        "    if False:\n",
        (TEST_RECOVERY,),
        noticed_by="test_a_changelog_that_lost_its_end_is_refused",
    ),
    Mutant(
        "table older than the log's beginning kept",
        RECOVERY,
        "        table.clear()\n",
        "",
        (TEST_RECOVERY,),
        noticed_by="test_a_table_before_the_logs_start_is_rebuilt",
    ),
    Mutant(
        "stale rows taken",
        STATE,
        "return stored is not None and row[:_POSITION_BYTES] < stored[:_POSITION_BYTES]",
        "return False",
        (TEST_STATE,),
        noticed_by="test_only_a_row_of_a_lower_position_is_stale",
    ),
    # Partitions handled in order.
    Mutant(
        "lost answer treated as aborted",
        OWNER,
        "                    self._next_offset = await self._writer.initialize()\n",
        "                    committed = await self._writer.initialize()\n"
        "                    self._next_offset = committed if self._next_offset is None else self._next_offset\n",
        (TEST_PROCESSOR,),
        noticed_by="test_every_record_counts_once_through_many_failures",
    ),
    Mutant(
        "background work that raised is not started again",
        "runtime/background.py",
        "            await self._wait_after(failure)\n",
        "            await self._wait_after(failure)\n            return\n",
        ("tests/runtime/test_background.py",),
        noticed_by="test_failed_work_is_restarted_logged_counted_and_reported",
    ),
    Mutant(
        "background work with a failed task group is not started again",
        "runtime/background.py",
        "await asyncio.ensure_future(self.work())",
        "await self.work()",
        ("tests/runtime/test_background.py",),
        noticed_by="test_failed_work_with_a_task_group_is_restarted",
    ),
    Mutant(
        "background work whose call was cancelled is not started again",
        "runtime/background.py",
        "except (Exception, asyncio.CancelledError) as error:",
        "except Exception as error:",
        ("tests/runtime/test_background.py",),
        noticed_by="test_work_whose_awaited_call_was_cancelled_is_restarted",
    ),
    Mutant(
        "cancelled work of a partition overlooked",
        OWNER,
        'return StreamError("a call that it waited for was cancelled") if task.cancelled() else task.exception()',
        "return None if task.cancelled() else task.exception()",
        (TEST_PROCESSOR, TEST_KEYED),
        noticed_by="test_a_cancelled_call_of_a_handler_stops_the_worker",
    ),
    Mutant(
        "background work given up stops nothing",
        "streams/engine/worker.py",
        "            if isinstance(app.crash_reason, BackgroundWorkError):\n",
        "            if False:\n",
        ("tests/streams/test_background_work.py",),
        noticed_by="test_failing_work_finally_stops_the_worker",
    ),
    Mutant(
        "no deadline after a signal",
        "runtime/interruption.py",
        "            self._set_deadline(self.grace_s())\n",
        "",
        ("tests/runtime/test_interruption.py",),
        noticed_by="test_the_process_ends_whatever_its_work_does",
    ),
    Mutant(
        "full queue not paused",
        PROCESSOR,
        "                self._context.flow_control.pause(self._partition, PauseReason.FULL)\n",
        "                pass\n",
        (TEST_PROCESSOR,),
        noticed_by="test_a_partition_is_paused_while_its_queue_is_full",
    ),
    Mutant(
        "paused partition not resumed",
        PROCESSOR,
        "            self._context.flow_control.resume(self._partition, PauseReason.FULL)\n",
        "            pass\n",
        (TEST_PROCESSOR,),
        noticed_by="test_a_partition_is_paused_while_its_queue_is_full",
    ),
    Mutant(
        "early record lost at the take-over",
        DRIVER,
        "        for record in task.take_early():\n",
        "        for record in task.take_early()[1:]:\n",
        (TEST_KEYED,),
        noticed_by="test_an_unrestored_partition_blocks_no_other",
    ),
    Mutant(
        "cache kept over a take-over",
        PROCESSOR,
        "        state = PartitionState(self._writer.rows, self._codec, cache_bytes=self._cache_bytes)\n",
        "        state = getattr(self, '_kept', None) or PartitionState(self._writer.rows, self._codec, cache_bytes=self._cache_bytes)\n"
        "        self._kept = state\n",
        (TEST_PROCESSOR,),
        noticed_by="test_an_aborted_commit_is_made_again_once",
    ),
    Mutant(
        "handler kept over a take-over",
        PROCESSOR,
        "        handler = self._new_handler()\n",
        "        handler = getattr(self, '_kept', None) or self._new_handler()\n        self._kept = handler\n",
        (TEST_PROCESSOR,),
        noticed_by="test_an_aborted_commit_is_made_again_once",
    ),
    Mutant(
        "take-over without ownership",
        OWNER,
        "                    self._require_ownership()\n                    self._next_offset",
        "                    self._next_offset",
        (TEST_PROCESSOR, TEST_KEYED),
        noticed_by="test_after_the_generation_has_passed_nothing_is_written",
    ),
    Mutant(
        "commit without ownership",
        OWNER,
        "        self._require_ownership()\n        compaction = ",
        "        compaction = ",
        (TEST_PROCESSOR, TEST_KEYED),
        noticed_by="test_after_the_generation_has_passed_nothing_is_written",
    ),
    Mutant(
        "local table before the transaction",
        OWNER,
        "        last = None if next_offset is None else self._stamp_of(next_offset - 1)\n",
        "        apply(0)\n        apply = int\n        last = None if next_offset is None else self._stamp_of(next_offset - 1)\n",
        (TEST_PROCESSOR,),
        ("kill-at-commit",),
        noticed_by="test_an_output_that_kafka_refuses_isolates_its_record",
    ),
    Mutant(
        "done records handled again",
        PROCESSOR,
        "return self._next_offset is not None and record.offset < self._next_offset",
        "return False",
        (TEST_PROCESSOR,),
        noticed_by="test_a_batch_is_one_transaction",
    ),
    Mutant(
        "batch that waits committed",
        BATCH,
        "        if self.awaited is not None:\n",
        "        if False:\n",
        (TEST_WAITING_BATCHES,),
        noticed_by="test_a_waiting_batch_has_no_effect",
    ),
    Mutant(
        "letters dropped",
        RUNNER,
        "in batch.rejections:\n",
        "in ():\n",
        (TEST_PROCESSOR,),
        ("poison",),
        noticed_by="test_poison_is_dead_lettered_unchanged",
    ),
    Mutant(
        "position committed with records queued",
        OWNER,
        "if not await self._handle_next() and not await self._wait_for_work():\n",
        "if not await self._wait_for_work() or await self._handle_next():\n",
        (TEST_PROCESSOR,),
        noticed_by="test_no_position_is_committed_over_queued_records",
    ),
    Mutant(
        "position committed over an unread record",
        CONSUMER,
        "progress is None or progress.last_offset >= reached or progress.position <= reached",
        "progress is None or progress.position <= reached",
        (TEST_CONSUMER,),
        ("kill-sessions",),
        noticed_by="test_trailing_transaction_markers_are_detected_by_position",
    ),
    # Records that kill their worker.
    Mutant(
        "nothing journaled",
        CRASH_JOURNAL,
        "            slot = self._store.put(entry)\n",
        "            slot = self._store.put(JournalEntry(partition, -1, -1))\n",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_only_records_that_kill_workers_are_rejected",
    ),
    Mutant(
        "suspects handled together",
        CRASH_JOURNAL,
        "max(1, self._maximum_crashes - 1)",
        "self._maximum_crashes",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_only_records_that_kill_workers_are_rejected",
    ),
    Mutant(
        "neighbours of the deadly record dead-lettered",
        CRASH_JOURNAL,
        "suspect.was_alone and suspect.crashes",
        "suspect.crashes",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_only_records_that_kill_workers_are_rejected",
    ),
    Mutant(
        "harmless suspects kept",
        CRASH_JOURNAL,
        "            self._clear(entry)\n",
        "            pass\n",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_a_suspect_waits_to_run_alone",
    ),
    Mutant(
        "committed suspects kept",
        OWNER,
        "            self._context.journal.on_committed(self._partition, self._next_offset)\n",
        "            pass\n",
        (TEST_CRASH_JOURNAL_DRIVERS,),
        noticed_by="test_a_guilty_record_is_put_aside_unhandled",
    ),
    Mutant(
        "crash not counted",
        SUSPECTS,
        "before.crashes + 1, was_alone",
        "max(1, before.crashes), was_alone",
        (TEST_CRASH_JOURNAL,),
        noticed_by="test_only_records_that_kill_workers_are_rejected",
    ),
    Mutant(
        "suspects in a batch",
        PROCESSOR,
        "            if is_alone:\n                break\n",
        "",
        (TEST_CRASH_JOURNAL_DRIVERS,),
        noticed_by="test_a_batch_of_suspects_is_handled_one_by_one",
    ),
    Mutant(
        "entries of another group taken",
        JOURNAL_STORE,
        "or (owner and owner != [self._owner])",
        "",
        (TEST_JOURNAL_STORE,),
        noticed_by="test_another_groups_entries_are_ignored",
    ),
    Mutant(
        "entries need free disk space",
        JOURNAL_STORE,
        "(_RESERVED_BYTES,)",
        "(1,)",
        (TEST_JOURNAL_STORE,),
        noticed_by="test_entries_are_removed_though_the_disk_is_full",
    ),
    # Steps of a commit, and the end of a task.
    Mutant(
        "erasing step leaves no mark",
        OWNER,
        "            compaction.announce()\n",
        "            pass\n",
        (TEST_COMMIT_ORDER,),
        noticed_by="test_erasing_batches_mark_the_table_twice",
    ),
    Mutant(
        "erased rows not compacted",
        OWNER,
        "            compaction.request()\n",
        "            pass\n",
        (TEST_COMMIT_ORDER,),
        noticed_by="test_erasing_batches_mark_the_table_twice",
    ),
    Mutant(
        "draining drops computed results",
        COMMITTER,
        "        return bool(self._computed)\n",
        "        return False\n",
        (TEST_COMMIT_ORDER,),
        noticed_by="test_finish_commits_results_that_wait_for_a_commit",
    ),
    # Fairness.
    Mutant(
        "silence earns a tenant credit",
        FAIR_QUEUE,
        "            own.virtual_time = max(own.virtual_time, self._virtual_time)\n        own.weight = weight\n",
        "            pass\n        own.weight = weight\n",
        (TEST_FAIR_QUEUE,),
        noticed_by="test_silence_earns_a_flow_no_credit",
    ),
    # Partitions handled by key.
    Mutant(
        "next offset skips a gap",
        ASSIGNMENT,
        "            if entry.status is not Status.DONE and id(entry) not in ids:\n                break\n",
        "            if entry.status is not Status.DONE and id(entry) not in ids:\n                continue\n",
        (TEST_KEYED, TEST_SCHEDULER),
        ("kill-extraction",),
        noticed_by="test_results_after_a_slow_record_are_committed",
    ),
    Mutant(
        "records done before their commit",
        COMMITTER,
        "        entries = self._next_entries(limit)\n",
        "        entries = self._next_entries(limit)\n        for entry in entries:\n            self._scheduler.on_written(entry)\n",
        (TEST_KEYED,),
        ("kill-extraction",),
        noticed_by="test_a_record_failing_alone_is_given_up_after_limit",
    ),
    Mutant(
        "keyed lost answer treated as aborted",
        COMMITTER,
        "        self._drop_done()\n",
        "",
        (TEST_KEYED,),
        noticed_by="test_lost_answer_to_a_commit_writes_once",
    ),
    Mutant(
        "keyed records handled though done",
        DRIVER,
        "        if next_offset is not None and source.offset < next_offset:\n",
        "        if False:\n",
        (TEST_KEYED,),
        noticed_by="test_records_a_predecessor_committed_are_not_handled",
    ),
    Mutant(
        "position never committed",
        OWNER,
        "        if position is not None and self._may_write():\n",
        "        if False:\n",
        (TEST_KEYED,),
        noticed_by="test_keyed_partition_commits_trailing_markers_when_idle",
    ),
    # Parked records.
    Mutant(
        "later records not parked after it",
        PARKING,
        "return self._throttle.parks(tenant) or self._tasks[partition.partition].deferred.holds(tenant)",
        "return self._throttle.parks(tenant)",
        (TEST_PARKING,),
        noticed_by="test_later_records_follow_parked_ones",
    ),
    Mutant(
        "parked records not known after a take-over",
        COMMITTER,
        "        self.deferred.recover(self._writer.rows)\n",
        "        self.deferred._rows = self._writer.rows\n",
        (TEST_PARKING,),
        noticed_by="test_successor_repeats_nothing_that_was_acknowledged",
    ),
    Mutant(
        "parked row not in the transaction",
        COMMITTER,
        "                changes.rows,\n                next_offset,\n",
        "                [],\n                next_offset,\n",
        (TEST_PARKING,),
        noticed_by="test_parked_records_do_not_hold_their_partition",
    ),
    Mutant(
        "parked record done twice after a lost answer",
        COMMITTER,
        "            return not self.deferred.has(entry)\n",
        "            return False\n",
        (TEST_PARKING,),
        noticed_by="test_lost_answer_repeats_no_parked_record",
    ),
    Mutant(
        "later records of its key stay in view",
        LOT,
        "        early = [each for each in tenant.view.values() if each.offset > entry.offset and each.key == entry.key]\n",
        "        early: list[Entry[Any]] = []\n",
        (TEST_LOT, TEST_PARKING),
        noticed_by="test_later_records_of_its_key_go_again",
    ),
    Mutant(
        "what is on its way in is overtaken",
        LOT,
        " or (end is not None and record.offset >= end)",
        "",
        (TEST_LOT, TEST_PARKING),
        noticed_by="test_earlier_records_being_parked_return_first",
    ),
    Mutant(
        "rows are read from where they were",
        LOT,
        "            tenant.next_offset = min(tenant.next_offset, entry.offset)\n",
        "",
        (TEST_LOT, TEST_PARKING),
        noticed_by="test_later_records_of_its_key_go_again",
    ),
    Mutant(
        "what is to be parked is kept over an assignment",
        SCHEDULER,
        "entry.partition in partitions and not entry.is_parked and entry.status is not Status.PARKING",
        "entry.partition in partitions",
        (TEST_PARKING,),
        noticed_by="test_rebalance_interrupts_the_parking",
    ),
    Mutant(
        "a full partition is not parked",
        DRIVER,
        "        if free == 0:\n            self._park_full(partition)\n",
        "",
        (TEST_PARKING,),
        noticed_by="test_a_flood_beyond_the_span_hides_no_tenant",
    ),
    Mutant(
        "a waiting record holds a full partition",
        DRIVER,
        "        if free is not None and free <= 0:\n            self._park_full(entry.partition)\n",
        "",
        (TEST_PARKING,),
        noticed_by="test_a_failing_record_does_not_hold_a_full_partition",
    ),
    # Reading, and the group.
    Mutant(
        "uncommitted records read",
        CONSUMER_THREAD,
        '"read_committed"',
        '"read_uncommitted"',
        (TEST_CONSUMER,),
        ("foreign-producers",),
        noticed_by="test_aborted_records_are_not_delivered",
    ),
    Mutant(
        "fetched without a bound",
        CONSUMER,
        "        if app.fetched_bytes >= app.max_fetched_bytes:\n",
        "        if False:\n",
        (TEST_CONSUMER,),
        noticed_by="test_fetched_records_are_bounded_by_the_budget",
    ),
    Mutant(
        "no seek to the beginning",
        CONSUMER,
        "        if sources:\n",
        "        if False:\n",
        (TEST_CONSUMER,),
        noticed_by="test_records_fetched_while_flow_was_stopped_are_delivered",
    ),
    Mutant(
        "flow not stopped at an assignment",
        REBALANCE,
        "        app.consumer.stop_flow()\n        app.flow_control.suspend()\n        sources =",
        "        sources =",
        (TEST_REBALANCE,),
        ("kill-sessions",),
        noticed_by="test_an_assignment_stops_the_flow_first",
    ),
    Mutant(
        "no revocation",
        REBALANCE,
        "        await driver.revoke()\n",
        "",
        (TEST_REBALANCE,),
        ("zombie-sessions",),
        noticed_by="test_a_revocation_stops_the_driver_at_once",
    ),
    Mutant(
        "no heartbeat check",
        MEMBERSHIP,
        "        if self._clock() - self._last_heartbeat > self._session_timeout_s:",
        "        if False:",
        (TEST_WAITING,),
        noticed_by="test_zombie_never_writes_again",
    ),
    Mutant(
        "no generation check",
        MEMBERSHIP,
        " and self._generation() == generation",
        "",
        (TEST_WAITING,),
        noticed_by="test_worker_writes_only_under_the_groups_generation",
    ),
    Mutant(
        "unanswered heartbeats ignored",
        MEMBERSHIP,
        " and self._is_answered()",
        "",
        (TEST_WAITING,),
        noticed_by="test_unanswered_heartbeats_suspend_writing",
    ),
    # A log that has lost records.
    Mutant(
        "passed retention overlooked",
        DATA_LOSS,
        "begin <= reached <= end",
        "reached <= end",
        (TEST_DATA_LOSS,),
        ("retention",),
        noticed_by="test_a_beginning_past_the_offset_is_named",
    ),
    Mutant(
        "cut log overlooked",
        DATA_LOSS,
        "begin <= reached <= end",
        "begin <= reached",
        (TEST_DATA_LOSS,),
        ("truncation",),
        noticed_by="test_an_end_before_the_offset_is_named",
    ),
    Mutant(
        "cut log that grew taken for whole",
        DATA_LOSS,
        "if cut_at is not None:",
        "if False:",
        (TEST_DATA_LOSS,),
        ("truncation",),
        noticed_by="test_an_end_before_the_offset_is_named",
    ),
    # Commands that are killed between two steps.
    Mutant(
        "unfinished command overlooked by workers",
        WRITER,
        "            self._require_finished(metadata)\n",
        "",
        (TEST_WRITER,),
        ("killed-commands",),
        noticed_by="test_an_unfinished_command_keeps_a_successor_waiting",
    ),
    Mutant(
        "rows dropped before offsets are reset",
        "streams/operations/replay.py",
        """    await reset.begin(stage, targets)
    notice(f"sessions: {counted(await reset.empty_table(stage), 'row')} dropped")
""",
        """    notice(f"sessions: {counted(await reset.empty_table(stage), 'row')} dropped")
    await reset.begin(stage, targets)
""",
        (TEST_KILLED_COMMANDS,),
        noticed_by="test_killed_after_any_step_and_run_again",
    ),
    Mutant(
        "reset without a note that it is unfinished",
        "streams/operations/resetting.py",
        "note = OffsetMetadata(unfinished=self._command).text",
        'note = ""',
        (TEST_KILLED_COMMANDS,),
        noticed_by="test_killed_after_any_step_and_run_again",
    ),
    Mutant(
        "frozen workers not fenced by a reset",
        "streams/operations/resetting.py",
        "                await producer.start()\n",
        "                pass\n",
        (f"{TEST_UNFINISHED}::test_a_frozen_worker_cannot_undo_a_replay",),
        noticed_by="test_a_frozen_worker_cannot_undo_a_replay",
    ),
    # Stores, which cannot be fenced.
    Mutant(
        "store with holes taken for whole",
        "streams/stages/index/store_watermark.py",
        "        if problem is not None:\n",
        "        if False:\n",
        (TEST_WHOLE_STORE,),
        noticed_by="test_a_restored_store_waits_for_a_replay",
    ),
    Mutant(
        "checkpoint not written",
        "streams/stages/index/handler.py",
        "        await self._set_checkpoint(batch)\n",
        "",
        (TEST_WHOLE_STORE,),
        noticed_by="test_a_restored_store_waits_for_a_replay",
    ),
    Mutant(
        "older point replaces a newer",
        "stores/position.py",
        "or stored.offset <= self.offset",
        "or True",
        (TEST_POINTS,),
        noticed_by="test_at_most_one_of_two_positions_is_older",
    ),
    Mutant(
        "older session tail replaces a newer",
        "runtime/redis/session_tail.py",
        "tonumber(ARGV[2]) then return 0 end",
        "tonumber(ARGV[2]) then end",
        (TEST_TAIL,),
        noticed_by="test_a_late_write_of_a_zombie_changes_nothing",
    ),
    # What a repetition must not change.
    Mutant(
        "every position admitted",
        "operators/applied_positions.py",
        "    if position > last:\n",
        "    if True:\n",
        (TEST_REPETITION,),
        noticed_by="test_redriving_an_extraction_twice_counts_once",
    ),
    Mutant(
        "correction forgotten",
        CORRECTING,
        "        ledger.put(key, after, position=record.offset)\n",
        "",
        (TEST_CORRECTIONS,),
        noticed_by="test_an_invalidated_event_is_retracted_and_hidden",
    ),
    Mutant(
        "correction made again",
        CORRECTING,
        "if correction.id in before.known:",
        "if False:",
        (TEST_CORRECTIONS,),
        noticed_by="test_a_correction_sent_again_counts_once",
    ),
    Mutant(
        "correction retracts nothing",
        "streams/stages/events/ledger_entries.py",
        "        return _in_force([self.contributions, *self.corrections])",
        "        return _in_force([self.contributions])",
        (TEST_CORRECTIONS,),
        noticed_by="test_an_invalidated_event_is_retracted_and_hidden",
    ),
    Mutant(
        "every answer adopted",
        MERGED_TEXT,
        "        if is_news(content, base or _EMPTY):\n",
        "        if True:\n",
        (TEST_MERGED_TEXT,),
        noticed_by="test_an_answer_counts_once",
    ),
    Mutant(
        "what an outcome covers merged again",
        MERGED_TEXT,
        '    if covers(base_of(before)["sources"], operand.source, operand.position):\n',
        "    if False:\n",
        (f"{TEST_MERGED_TEXT}::test_a_rebuild_skips_merged_statements",),
        noticed_by="test_a_rebuild_skips_merged_statements",
    ),
    # Timelines.
    Mutant(
        "release does not advance the clock",
        COMPRESS,
        "released(self._aging.advance(timeline, time + timeline.offset), source_id)",
        "released(timeline, source_id)",
        (TEST_COMPRESS,),
        noticed_by="test_a_release_advances_the_clock_as_before",
    ),
    Mutant(
        "event named as gone twice",
        TIMELINE,
        "is_asked=True)",
        "is_asked=False)",
        (TEST_COMPRESS,),
        ("kill-entities",),
        noticed_by="test_summarised_events_are_dropped_in_time",
    ),
    Mutant(
        "recall lets nothing live on",
        TIMELINE,
        "max(week_of(event.time).end, event.touched or event.time)",
        "week_of(event.time).end",
        (TEST_COMPRESS,),
        ("kill-recalls",),
        noticed_by="test_a_recalled_event_is_kept_longer",
    ),
    Mutant(
        "expiry means later extractions",
        "streams/stages/events/expiry.py",
        "            if published.position > known:\n",
        "            if False:\n",
        (TEST_TIMELINES,),
        noticed_by="test_an_expiry_means_no_later_extraction",
    ),
    Mutant(
        "clock moved by entities without timelines",
        "streams/stages/entities/handler.py",
        "            if ages(entity_type):\n                # Other",
        "            if True:\n                # Other",
        (TEST_TIMELINES,),
        noticed_by="test_a_successor_knows_the_time_of_its_predecessor",
    ),
    Mutant(
        "silence starts again with a new owner",
        "streams/stages/entities/timers.py",
        "            self._clock.observe(newest[0], wall_ms - silence_ms)\n",
        "            self._clock.observe(newest[0], wall_ms)\n",
        (TEST_TIMELINES,),
        noticed_by="test_silence_outlives_a_restart",
    ),
    Mutant(
        "summary with other events than it names",
        TEXTS,
        'return text if text is not None and text["of"] == digest_of(period, digest) else None',
        "return text",
        (TEST_TEXTS,),
        ("kill-merging",),
        noticed_by="test_an_answer_covers_the_events_of_its_question",
    ),
    Mutant(
        "rebuild asks before its ticks",
        TEXTS,
        'bool(before["clock"] >= text["clock"]) and reaches(',
        "reaches(",
        (TEST_TEXTS,),
        ("zombie-entities",),
        noticed_by="test_a_rebuild_waits_for_the_tick_that_summarised",
    ),
    Mutant(
        "rebuild asks before its events",
        TEXTS,
        "in (() if ahead else periods)",
        "in periods",
        (TEST_TEXTS,),
        ("kill-merging",),
        noticed_by="test_a_rebuild_waits_for_texts_written_later",
    ),
    Mutant(
        "what a schema lacks retracted",
        EVENTS,
        "previous=in_force if is_dropped else present_part(in_force, schema),",
        "previous=in_force,",
        (TEST_FORMER,),
        noticed_by="test_fields_missing_in_the_schema_keep_their_state",
    ),
    Mutant(
        "what a schema lacks forgotten",
        EVENTS,
        "            former=() if is_dropped else former_part(in_force, schema),\n",
        "",
        (TEST_FORMER,),
        noticed_by="test_fields_missing_in_the_schema_keep_their_state",
    ),
    Mutant(
        "dropped fields kept after a drop",
        EVENTS,
        "() if is_dropped else former_part",
        "former_part",
        (TEST_FORMER,),
        noticed_by="test_fields_missing_in_the_schema_keep_their_state",
    ),
    Mutant(
        "what earlier windows founded unknown",
        SIMILAR_KEYS,
        "present = [*noted, *(",
        "present = [*(",
        (TEST_SIMILAR_KEYS,),
        noticed_by="test_shared_things_are_the_whole_tenants",
    ),
    Mutant(
        "one user's things another's",
        SIMILAR_KEYS,
        "place.user if is_of_one_user else None",
        "None",
        (TEST_SIMILAR_KEYS,),
        noticed_by="test_names_not_yet_in_the_store_are_known",
    ),
    Mutant(
        "one user's shared things unknown to another",
        SIMILAR_KEYS,
        "place.user if is_of_one_user else None",
        "place.user",
        (TEST_SIMILAR_KEYS,),
        noticed_by="test_shared_things_are_the_whole_tenants",
    ),
    Mutant(
        "another number the same thing",
        "extraction/similar_keys.py",
        " and _marks_in(name) == _marks_in(value)",
        "",
        ("tests/extraction/test_similar_keys.py",),
        noticed_by="test_another_number_or_letter_is_another_name",
    ),
    Mutant(
        "repetitions compared with the names given to them",
        "streams/stages/extraction/window_notes.py",
        "sessions.add(as_made)",
        "sessions.add(settled)",
        (TEST_SIMILAR_KEYS,),
        noticed_by="test_a_repeated_statement_is_recognized_by_its_words",
    ),
    Mutant(
        "marked keys placed by their marks",
        KEYS,
        "_placed(unmarked_key(key), partitions)",
        "_placed(key, partitions)",
        (TEST_KEYS,),
        noticed_by="test_a_mark_moves_no_record_to_another_partition",
    ),
    Mutant(
        "windows of a user under one key",
        CLOSED_WINDOWS,
        "return marked_key(encode_key(*parts), self.id)",
        "return encode_key(*parts)",
        (TEST_ERASED_SESSIONS,),
        noticed_by="test_a_windows_key_is_its_own",
    ),
    Mutant(
        "erased message taken",
        SESSIONS,
        "if is_erased(self._tenants, message.tenant, message.user, record, MESSAGES):",
        "if False:",
        (TEST_ERASED_SESSIONS,),
        noticed_by="test_a_message_before_the_erasure_offset_enters_no_window",
    ),
    Mutant(
        "open window of an erased user kept",
        SESSIONS,
        "            state.drop_user(command.user)\n",
        "",
        (TEST_ERASED_SESSIONS,),
        noticed_by="test_the_open_window_of_an_erased_user_is_dropped",
    ),
    Mutant(
        "open window of another given up",
        SESSIONS,
        "state.drop_user(command.user)",
        "self._window_builder.discard_window(state)",
        (TEST_CHANGED_MESSAGES,),
        noticed_by="test_an_erased_user_leaves_the_shared_windows",
    ),
    Mutant(
        "earlier revision published",
        EVENTS,
        "extraction.revision < previous.extraction.revision",
        "False",
        ("tests/streams/stages/events/test_events_handler.py",),
        noticed_by="test_an_earlier_revision_never_replaces_a_later_one",
    ),
    Mutant(
        "deleted text published late",
        EVENTS,
        "extraction = amended_extraction(extraction, amended.revisions)",
        "pass",
        (TEST_CHANGED_MESSAGES,),
        noticed_by="test_a_late_extraction_does_not_restore_a_deleted_text",
    ),
    Mutant(
        "event of one user given to another",
        SHARED_WINDOWS,
        "events = [each for each in extraction.events if authors.of(each.message_ids) == user]",
        "events = list(extraction.events)",
        (TEST_CHANGED_MESSAGES,),
        noticed_by="test_seven_speakers_share_one_window",
    ),
    Mutant(
        "erased window extracted",
        EXTRACTION,
        "if window is None or self._is_erased(window, record):",
        "if window is None:",
        (TEST_ERASED_WINDOWS,),
        noticed_by="test_an_erased_window_is_not_extracted",
    ),
    Mutant(
        "window erased during its call stored",
        EXTRACTION,
        "return [] if self._is_erased(window, record) else extracted",
        "return extracted",
        (TEST_ERASED_WINDOWS,),
        noticed_by="test_a_window_erased_while_vectors_are_offered_gives_nothing",
    ),
    Mutant(
        "erased extraction handled",
        EVENTS,
        "and self._is_erased(record):",
        "and False:",
        (TEST_ERASING,),
        noticed_by="test_records_before_the_erasure_offset_are_skipped",
    ),
    Mutant(
        "erased window kept in the ledger",
        ERASING,
        "            if batch.state.get(key) is not None:\n                batch.state.delete(key, position=record.offset)\n",
        "            pass\n",
        (TEST_ERASING,),
        noticed_by="test_results_of_an_erased_window_are_retracted",
    ),
    Mutant(
        "published memories that the ledger lacks stay",
        ERASING,
        "for each in window.memory_ids]",
        "for each in ()]",
        (TEST_ERASING,),
        noticed_by="test_published_memories_missing_in_the_ledger_are_retracted",
    ),
    Mutant(
        "published memories that an entity's state lacks stay",
        ENTITY_ERASING,
        "self._drop_memories(batch, record, erasure, known=())",
        "pass",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_memories_published_before_a_rebuild_are_removed",
    ),
    Mutant(
        "published memories not named by an erasure",
        PUBLISHED,
        "trace.note_window_memory(found.window_id, found.generation, found.id)",
        "pass",
        (TEST_PUBLISHED,),
        noticed_by="test_memories_without_an_extraction_are_named",
    ),
    Mutant(
        "receipt written over what is left",
        VERIFICATION,
        "left[record.place.topic] += 1",
        "pass",
        (TEST_INTERRUPTED_ERASURE,),
        noticed_by="test_a_rebuild_during_an_erasure_restores_nothing",
    ),
    Mutant(
        "generation switched amid an erasure",
        ERASURE_CHANGES,
        "if not under_way:",
        "if True:",
        (TEST_CONTROL_ERASURES,),
        noticed_by="test_generations_wait_for_erasures",
    ),
    Mutant(
        "erased events stay memories",
        ERASING,
        "self._publisher.tombstone(batch, record, command.tenant, memory_id)",
        "pass",
        (TEST_ERASING,),
        noticed_by="test_results_of_an_erased_window_are_retracted",
    ),
    Mutant(
        "own entity of an erased user kept",
        ENTITY_ERASING,
        "        batch.state.delete(row_key(erasure), position=record.offset)\n",
        "",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_an_entity_of_the_user_is_removed_completely",
    ),
    Mutant(
        "late contribution of an erased user applied",
        ENTITIES,
        "if is_erased(self._tenants, contribution, entity_type):",
        "if False:",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_a_late_contribution_of_an_erased_user_changes_nothing",
    ),
    Mutant(
        "history of an erased entity kept",
        ENTITY_ERASING,
        "        self._drop_history(batch, record, erasure, state)\n",
        "",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_an_entity_of_the_user_is_removed_completely",
    ),
    Mutant(
        "outputs of an erasure name the user",
        ENTITY_ERASING,
        '"user": None, ',
        "",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_a_shared_entity_does_not_name_the_erased_user",
    ),
    Mutant(
        "outputs of an erasure taken for an erasure",
        ENTITY_ERASING,
        '"user": None, "cause": "extraction", ',
        '"user": None, ',
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_a_rebuild_after_an_erasure_is_equal",
    ),
    Mutant(
        "answer kept that was not adopted",
        ENTITIES,
        " and is_in_use(contribution.merged, applied.state, entity_type)",
        "",
        (TEST_ERASED_ENTITIES,),
        noticed_by="test_an_answer_of_no_news_is_not_kept",
    ),
    Mutant(
        "erased words kept in a merged text",
        MERGED_TEXT,
        "if not waiting_changes(state) or (net.withdrawn and moment.has_llm):",
        "if True:",
        ("tests/operators/llm/test_forgetting.py",),
        noticed_by="test_the_rule_merges_the_remaining_statements",
    ),
    Mutant(
        "reach of an erasure goes back",
        "control/erasure_changes.py",
        "max(known[each] if each < len(known) else 0, offsets.get(each, 0))",
        "offsets.get(each, 0)",
        ("tests/control/test_erasures.py",),
        noticed_by="test_an_erasure_offset_never_decreases",
    ),
    Mutant(
        "one contribution in 40 not applied",
        "streams/stages/entities/handler.py",
        "        self._count(applied.refused)\n        if applied.changed:\n            batch.state.put(",
        "        if record.offset % 40 == 39:\n            return\n        if applied.changed:\n            batch.state.put(",
        ("tests/streams/stages/entities/test_entities_handler.py",),
        ("kill-entities",),
        noticed_by="test_entities_equal_the_newest_extraction_of_each_window",
    ),
    # Memory methods and edits of blocks.
    Mutant(
        "evolution applied again",
        EVOLUTION,
        "            if before is not None:\n",
        "            if False:\n",
        (TEST_LINKED_STAGES,),
        ("methods-redrive-then-replay",),
        noticed_by="test_a_repeated_evolution_changes_nothing",
    ),
    Mutant(
        "notes of later events found",
        "streams/stages/merging/lookups.py",
        "return NotePlace.model_validate(place).is_before(before)",
        "return True",
        (TEST_LINKED_STAGES,),
        noticed_by="test_equal_facts_of_a_burst_keep_one",
    ),
    Mutant(
        "emptied entity forgets its erasures",
        ENTITY_ERASING,
        "        if state.erasures:\n",
        "        if False:\n",
        ("tests/streams/stages/entities/test_retained_entities.py",),
        noticed_by="test_an_emptied_entity_remembers_its_erasures",
    ),
    Mutant(
        "statements that wait are lost with an edit",
        AGENT,
        '"waiting": waiting_changes(state)',
        '"waiting": []',
        (TEST_EDITS,),
        noticed_by="test_the_model_sees_edits_and_keeps_them",
    ),
    Mutant(
        "edit applied again in a rebuild",
        AGENT,
        '    if covers(base_of(before)["sources"], operand.source, operand.position):\n',
        "    if False:\n",
        (TEST_EDITS,),
        noticed_by="test_a_rebuild_gives_the_same_bytes",
    ),
    Mutant(
        "repeated edit makes another one",
        CORRECTING,
        "            if offset == record.offset:\n",
        "            if True:\n",
        (TEST_EDITED_STAGES,),
        noticed_by="test_a_repeated_edit_counts_once",
    ),
)
