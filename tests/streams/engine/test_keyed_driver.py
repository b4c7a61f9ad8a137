"""Records handled by key: failures, and attempts that a rebalance interrupts."""

import asyncio

from runtime.kafka import OutgoingRecord
from streams.errors import FencedError, NotReadyError, PoisonRecordError, TransientError, WaitedTooLongError
from tests.streams.engine.keyed_harness import SLOTS, SPAN, driver_harness, failing, reasons
from tests.streams.harness import until


async def test_a_record_failing_alone_is_given_up_after_limit() -> None:
    async with driver_harness() as harness:
        harness.answers[0] = failing(TransientError("always", dependency="llm"))
        await harness.put(0)
        await harness.put(1, b"other")
        await harness.drained()
        assert harness.handled.count(0) == 3
        assert reasons(harness.sent) == [b"gave_up"]
        assert harness.log.next_offset == 2
        assert harness.log.last is not None
        assert harness.log.last.offset == 1, "the last that is done without a gap"


async def test_a_refused_keyed_dead_letter_is_shortened() -> None:
    async with driver_harness() as harness:
        harness.log.largest_letter = 100_000
        harness.answers[0] = failing(PoisonRecordError("bad", "a giant"))
        await harness.put(0, value=bytes(200_000))
        await harness.put(1, b"other")
        await harness.drained()
        letter, *parts = harness.log.letters
        assert len(parts) == int(dict(letter.headers)["varve-dlq-parts"]) > 0
        assert harness.log.next_offset == 2


async def test_a_keyed_dead_letter_always_refused_blocks() -> None:
    async with driver_harness() as harness:
        harness.log.largest_letter = 1
        harness.answers[0] = failing(PoisonRecordError("bad", "a poison record"))
        await harness.put(0)
        await until(lambda: harness.log.epoch >= 4)
        assert harness.driver.failure is None
        assert harness.log.refused_letters <= 3 + harness.log.epoch, "with a wait between rounds"
        harness.log.largest_letter = None
        await harness.drained()
        assert len(reasons(harness.sent)) == 1
        assert harness.context.task.metrics.metrics.dead_letters.labels("test", "too_large")._value.get() == 1


async def test_an_outage_gives_up_no_record() -> None:
    async with driver_harness() as harness:
        away = TransientError("away", dependency="llm")
        for offset in range(3):
            harness.answers[offset] = failing(away)
            await harness.put(offset, b"%d" % offset)
        await until(lambda: len(harness.handled) > 20)
        assert reasons(harness.sent) == []
        harness.answers.clear()
        await harness.drained()
        assert {output.value for output in harness.sent} == {b"0", b"1", b"2"}
        assert harness.log.next_offset == 3


async def test_outage_of_one_dependency_spares_attempts_with_another() -> None:
    async with driver_harness() as harness:
        for offset in range(4):
            harness.answers[offset] = failing(TransientError("away", dependency="store"))
            await harness.put(offset, b"%d" % offset)
        await until(lambda: len(harness.handled) > 40)

        def busy_once() -> list[OutgoingRecord]:
            harness.answers.clear()
            raise TransientError("busy", dependency="llm")

        harness.answers = {0: busy_once}
        await harness.drained()
        assert reasons(harness.sent) == []
        assert harness.log.next_offset == 4


async def test_a_cancelled_call_of_an_attempt_stops_the_worker() -> None:
    def cancelled() -> list[OutgoingRecord]:
        raise asyncio.CancelledError

    async with driver_harness() as harness:
        harness.answers[0] = cancelled
        await harness.put(0)
        await until(lambda: harness.driver.failure is not None, deadline_s=20)
        assert harness.log.next_offset is None


async def test_failures_are_counted_per_dependency() -> None:
    async with driver_harness() as harness:
        failures = [TransientError("away", dependency="store")] * 2 + [TransientError("busy", dependency="llm")] * 2

        def next_failure() -> list[OutgoingRecord]:
            if failures:
                raise failures.pop(0)
            return [OutgoingRecord("out", b"k", b"0")]

        harness.answers[0] = next_failure
        await harness.put(0)
        await harness.drained()
        assert reasons(harness.sent) == []
        assert harness.log.next_offset == 1


async def test_success_begun_before_an_outage_does_not_end_it() -> None:
    async with driver_harness() as harness:
        for slow in range(1, 3):
            harness.gates[slow] = asyncio.Event()
            await harness.put(slow, b"slow-%d" % slow)
        await until(lambda: len(harness.handled) == 2)
        for offset in (3, 4):
            harness.answers[offset] = failing(TransientError("away", dependency="store"))
            await harness.put(offset, b"%d" % offset)
        for slow in range(1, 3):
            await harness.handled_more(20)
            harness.gates[slow].set()
        await harness.handled_more(20)
        assert reasons(harness.sent) == []
        harness.answers.clear()
        await harness.drained()
        assert harness.log.next_offset == 5


async def test_poison_and_bugs_are_dead_lettered_at_once() -> None:
    async with driver_harness() as harness:
        harness.answers[0] = failing(PoisonRecordError("bad_answer", "beyond repair", raw_answer="{{"))
        harness.answers[1] = failing(ZeroDivisionError())
        for offset in range(3):
            await harness.put(offset)
        await harness.drained()
        assert harness.handled == [0, 1, 2]
        assert reasons(harness.sent) == [b"bad_answer", b"unexpected"]
        assert dict(harness.sent[0].headers)["varve-dlq-answer"] == b"{{"
        assert [output.value for output in harness.sent] == [b"value", b"value", b"2"]


async def test_aborted_commit_is_made_again_without_the_call() -> None:
    async with driver_harness() as harness:
        harness.log.aborted_commits = 4
        await harness.put(0)
        await harness.drained()
        assert harness.handled == [0], "the call is not made again"
        assert harness.log.next_offset == 1
        assert len(harness.sent) == 1


async def test_lost_answer_to_a_commit_writes_once() -> None:
    async with driver_harness() as harness:
        harness.log.lost_answers = 3
        for offset in range(20):
            await harness.put(offset, key=b"%d" % (offset % 3))
        await harness.drained()
        assert harness.log.next_offset == 20
        assert sorted(int(output.value or b"") for output in harness.sent) == list(range(20))


async def test_results_after_a_slow_record_are_committed() -> None:
    async with driver_harness() as harness:
        harness.gates[0] = asyncio.Event()
        await harness.put_all(range(4))
        await until(lambda: len(harness.sent) == 3)
        assert harness.log.next_offset is None
        harness.gates[0].set()
        await harness.drained()
        assert harness.log.next_offset == 4


async def test_records_a_predecessor_committed_are_not_handled() -> None:
    async with driver_harness() as harness:
        harness.log.next_offset = 3
        await harness.assign(0)
        harness.log.refused_takeovers = 2
        harness.generation += 1
        await harness.driver.assign({0}, harness.generation)
        await harness.put_all(range(5))
        await harness.drained()
        await harness.committed(5)
        assert sorted(harness.handled) == [3, 4]


async def test_fenced_committer_breaks_the_driver() -> None:
    async with driver_harness() as harness:
        await harness.log.writer().initialize()
        await harness.put(0)
        await until(lambda: isinstance(harness.driver.failure, FencedError))
        assert harness.sent == []


async def test_a_worker_without_the_partition_commits_and_fences_nothing() -> None:
    async with driver_harness() as harness:
        epoch = harness.log.epoch
        harness.generation += 1
        await harness.put(0)
        await until(lambda: not harness.driver.is_recovered)
        assert harness.handled == [0]
        assert harness.log.commits == []
        assert harness.log.epoch == epoch, "who does not own the partition fences nobody"


async def test_keyed_partition_commits_trailing_markers_when_idle() -> None:
    async with driver_harness() as harness:
        harness.paused.next_fetch = 7
        await harness.put(0)
        await harness.committed(7)
        assert harness.log.commits[-1].outputs == []
        assert harness.driver.next_offsets == {0: 7}


async def test_only_the_output_refused_by_kafka_is_dead_lettered() -> None:
    async with driver_harness() as harness:
        harness.log.too_large = b"1"
        harness.log.gate = asyncio.Event()
        await harness.put_all(range(4))
        harness.log.gate.set()
        await harness.drained()
        assert reasons(harness.sent) == [b"too_large"]
        assert harness.log.next_offset == 4


async def test_redelivery_joins_the_running_attempt() -> None:
    async with driver_harness() as harness:
        harness.gates[0] = asyncio.Event()
        await harness.put(0)
        await until(lambda: harness.handled == [0])
        await harness.assign(0)
        await harness.put(0)
        harness.gates[0].set()
        await harness.drained()
        assert harness.handled == [0]
        assert [output.value for output in harness.sent] == [b"0"]
        assert harness.log.next_offset == 1


async def test_result_computed_while_revoked_is_written_on_redelivery() -> None:
    async with driver_harness() as harness:
        harness.gates[0] = asyncio.Event()
        await harness.put(0)
        await until(lambda: harness.handled == [0])
        await harness.driver.revoke()
        harness.gates[0].set()
        await asyncio.sleep(0)
        assert harness.sent == []
        await harness.assign(0)
        await harness.put(0)
        await harness.drained()
        assert harness.handled == [0]
        assert [output.value for output in harness.sent] == [b"0"]


async def test_stale_attempt_does_not_block_a_returned_partition() -> None:
    async with driver_harness() as harness:
        harness.gates[0] = asyncio.Event()
        await harness.put(0)
        await until(lambda: harness.handled == [0])
        await harness.assign()
        await harness.assign(0)
        await harness.put(1)
        await harness.drained()
        harness.gates[0].set()
        await until(lambda: harness.driver.backlog == 0)
        assert harness.log.next_offset == 2
        assert [output.value for output in harness.sent] == [b"1"]


async def test_commit_cut_off_by_a_rebalance_is_repeated() -> None:
    async with driver_harness() as harness:
        gate = harness.log.gate = asyncio.Event()
        await harness.put(0)
        await until(lambda: harness.log.waiting == 1)
        await harness.assign(0)
        await harness.put(0)
        gate.set()
        await harness.drained()
        assert harness.handled == [0]
        assert harness.log.next_offset == len(harness.sent) == 1


async def test_one_trial_record_runs_during_an_outage() -> None:
    async with driver_harness(reset_s=0.5) as harness:
        harness.answers = {offset: failing(TransientError("away", dependency="llm")) for offset in range(40)}
        for offset in range(40):
            await harness.put(offset, key=b"%d" % offset)
        first_round = 2 * SLOTS - 1  # each but the last of the first failures lets one more begin
        await until(lambda: len(harness.handled) > first_round)
        assert len(harness.handled) == first_round + 1
        harness.answers.clear()
        await harness.drained()
        assert not reasons(harness.sent)
        assert harness.log.next_offset == 40


async def test_occasional_failures_delay_no_other_record() -> None:
    async with driver_harness(reset_s=3600.0) as harness:
        harness.answers = {offset: failing(TransientError("now and then", dependency="llm")) for offset in range(0, 40, 2)}
        for offset in range(40):
            await harness.put(offset, key=b"%d" % offset)
        await until(lambda: set(range(1, 40, 2)) <= set(harness.handled))


async def test_finish_writes_running_records_and_starts_none() -> None:
    async with driver_harness() as harness:
        harness.gates = {offset: asyncio.Event() for offset in range(SLOTS)}
        for offset in range(10):
            await harness.put(offset, key=b"%d" % offset)
        await until(lambda: len(harness.handled) == SLOTS)
        finishing = asyncio.create_task(harness.driver.finish())
        for gate in harness.gates.values():
            gate.set()
        await finishing
        assert sorted(harness.handled) == list(range(SLOTS))
        assert harness.log.next_offset == SLOTS


async def test_used_up_budget_pauses_the_tenants_other_records() -> None:
    async with driver_harness() as harness:
        used_up = TransientError("used up", dependency="budget", retry_after_s=0.3, counts_as_attempt=False)
        harness.tenants = dict.fromkeys(range(30), "spender")
        harness.answers = {offset: failing(used_up) for offset in range(30)}
        await harness.put_all(range(40))
        await until(lambda: set(range(30, 40)) <= set(harness.handled))
        assert len(harness.handled) <= 10 + SLOTS
        await until(lambda: len(harness.handled) > 10 + SLOTS)
        harness.answers.clear()
        await harness.drained()
        assert not reasons(harness.sent)
        assert harness.log.next_offset == 40


async def test_only_the_flooded_partition_is_paused() -> None:
    async with driver_harness() as harness:
        await harness.assign(0, 1)
        harness.gates = {offset: asyncio.Event() for offset in range(SPAN)}
        for offset in range(SPAN):
            assert not harness.paused
            await harness.put(offset)
        assert harness.paused == {0}
        await harness.put(SPAN, key=b"another", partition=1)
        await harness.committed(SPAN + 1, partition=1)
        for offset in range(SPAN):
            assert harness.paused == ({0} if offset < SPAN // 4 else set()), offset
            harness.gates[offset].set()
            await harness.committed(offset + 1)


async def test_an_unrestored_partition_blocks_no_other() -> None:
    async with driver_harness() as harness:
        harness.logs[1].refused_takeovers = 10**9
        await harness.driver.revoke()
        harness.generation += 1
        await harness.driver.assign({0, 1}, harness.generation)
        async with asyncio.timeout(60):
            for offset in range(3):
                await harness.put(offset, key=b"%d" % offset, partition=1)
                await harness.put(offset, key=b"%d" % offset)
        await harness.committed(3)
        assert (harness.paused, harness.logs[1].next_offset) == ({1}, None)
        oldest = harness.driver.oldest_pending[1]
        assert (oldest.offset, oldest.state) == (0, "restoring")
        harness.logs[1].next_offset, harness.logs[1].refused_takeovers = 1, 0
        await harness.committed(3, partition=1)
        assert not harness.paused
        assert sorted(harness.handled) == [0, 1, 1, 2, 2], "what was done before the take-over is not done again"


async def test_reassigned_partition_is_resumed() -> None:
    async with driver_harness() as harness:
        harness.gates = {0: asyncio.Event()}
        for offset in range(SPAN):
            await harness.put(offset)
        assert harness.paused == {0}
        await harness.assign(0)
        assert harness.paused == set()


async def test_throttled_tenant_gives_its_trial_back() -> None:
    async with driver_harness(reset_s=0.2) as harness:
        harness.answers = {offset: failing(TransientError("away", dependency="llm")) for offset in range(12)}
        await harness.put_all(range(12))
        await until(lambda: len(harness.handled) >= 2 * SLOTS)
        used_up = TransientError("used up", dependency="budget", retry_after_s=3600.0, counts_as_attempt=False)
        harness.tenants = {offset: f"poor {offset}" for offset in range(12, 62)}
        harness.answers |= {offset: failing(used_up) for offset in range(12, 62)}
        await harness.put_all(range(12, 62))
        for offset in range(12):
            del harness.answers[offset]
        # Fifty tenants out of budget, one trial each reset: without their giving it back the rich one would wait for 10 s.
        await until(lambda: (harness.log.next_offset or 0) >= 12, deadline_s=5)


async def test_many_results_share_few_transactions() -> None:
    async with driver_harness() as harness:
        gate = harness.log.gate = asyncio.Event()
        harness.answers = dict.fromkeys(range(2000), failing(PoisonRecordError("unknown_tenant", "nobody")))
        await harness.put_all(range(2000))
        await until(lambda: len(harness.handled) == 2000)
        gate.set()
        await harness.drained()
        assert len(harness.log.commits) <= 22
        assert harness.log.next_offset == len(harness.log.letters) == 2000


async def test_a_record_that_waits_holds_no_slot() -> None:
    async with driver_harness() as harness:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for offset in range(SLOTS):
            harness.answers[offset] = failing(NotReadyError("others work", ready=ready))
        await harness.put_all(range(SLOTS))
        await harness.put(SLOTS, b"0")
        await harness.put(SLOTS + 1, b"other")
        await until(lambda: len(harness.sent) == 1)
        assert [output.value for output in harness.sent] == [b"%d" % (SLOTS + 1)], "the next record of a waiting key waits"
        harness.answers.clear()
        ready.set_result(None)
        await harness.drained()
        assert harness.handled.count(0) == 2
        assert [output.value for output in harness.sent if output.key == b"acme/0"] == [b"0", b"%d" % SLOTS]
        assert harness.log.next_offset == SLOTS + 2


async def test_a_wait_is_no_failure() -> None:
    async with driver_harness() as harness:
        waits: list[asyncio.Future[None]] = []

        def wait() -> list[OutgoingRecord]:
            if len(waits) == 20:
                raise PoisonRecordError("bad", "a poison record")
            waits.append(asyncio.get_running_loop().create_future())
            asyncio.get_running_loop().call_soon(waits[-1].set_result, None)
            raise NotReadyError("others work", ready=waits[-1])

        harness.answers[0] = wait
        await harness.put(0)
        await harness.drained()
        (letter,) = harness.log.letters
        assert dict(letter.headers)["varve-dlq-tries"] == b"1"


async def test_a_wait_gives_its_trial_back() -> None:
    async with driver_harness(reset_s=0.2) as harness:
        harness.answers = {offset: failing(TransientError("away", dependency="llm")) for offset in range(6)}
        await harness.put_all(range(6))
        await until(lambda: len(harness.handled) >= 2 * SLOTS)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        harness.answers |= {offset: failing(NotReadyError("others work", ready=ready)) for offset in range(6, 39)}
        await harness.put_all(range(6, 39))
        for offset in range(6):
            del harness.answers[offset]
        # Without their giving it back, a trial each reset would take longer.
        await until(lambda: (harness.log.next_offset or 0) >= 6, deadline_s=5)
        harness.answers.clear()
        ready.set_result(None)
        await harness.drained()


async def test_a_revoked_wait_is_handled_by_its_redelivery() -> None:
    async with driver_harness() as harness:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        harness.answers[0] = failing(NotReadyError("others work", ready=ready))
        await harness.put(0)
        await until(lambda: harness.handled == [0])
        await harness.assign(0)
        harness.answers.clear()
        await harness.put(0)
        ready.set_result(None)
        await harness.drained()
        assert [output.value for output in harness.sent] == [b"0"]
        assert harness.handled == [0, 0]


async def test_poison_that_may_wait_becomes_no_dead_letter() -> None:
    async with driver_harness() as harness:
        harness.answers[0] = failing(WaitedTooLongError("unreadable_tenant", "damaged"))
        harness.tenants[0] = "broken"
        await harness.put(0)
        await harness.put(1, b"other")
        await until(lambda: len(harness.sent) == 1)
        assert reasons(harness.sent) == []
        harness.answers.clear()
        await harness.drained()
        assert [output.value for output in harness.sent] == [b"1", b"0"]
