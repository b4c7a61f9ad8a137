"""LLM_MERGE: a text that a model keeps up to date with the events (VikingMem 3.2).

A state has the newest outcome, and the changes after it. The outcome has the merged text, the statements that were merged last, one by one,
and the text before those (``settled``). If a recent statement is retracted, the other recent statements are merged again without it; if an
older one is retracted, the model removes it from the settled text.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

import orjson
from pydantic import JsonValue

from memory.records import WrittenText
from memory.schema.operator_specs import OperatorSpec, built_in
from operators.applied_positions import Sources, covers, joined
from operators.errors import RefusedChangeError
from operators.llm.llm_operator import RULE, LLMOperator, Moment, Outcome, Prompt, Question, Settled, is_news
from operators.llm.merge_by_rule import Statement, bounded, flat, merge_by_rule
from operators.llm.merge_prompt import merge_prompt, read_merge_answer
from operators.operator import Operand, State, Value

MAX_STATEMENT: Final = 2000
"""Characters of a statement."""
MAX_RECENT: Final = 32
"""Maximum number of statements that can be retracted one by one; without a model also of changes merged when the text is read."""
MAX_RECENT_TEXT: Final = 16_000
"""Their characters in all."""
MAX_WAITING: Final = 128
"""Changes that wait for a model."""
MAX_WAITING_TEXT: Final = 48_000
"""Their characters in all."""

_APPLY: Final = 1
_RETRACT: Final = -1
_EMPTY: Final[dict[str, Any]] = {
    "number": 0,
    "count": 0,
    "sources": {},
    "settled": "",
    "recent": [],
    "text": "",
    "by": "",
    "superseded": [],
    "unasked": False,
}
"""The initial outcome. ``number`` counts the outcomes up to this one; ``count`` the statements in force; ``sources`` is the covered part
of the log; ``recent`` has ``[time, id, text, order, offset]`` of the statements after ``settled`` (without zeros at the end); ``unasked``:
the rule merged, because no model answered in time. An outcome that merges no statement also has ``waiting``: the changes that it covers and
that are still to be merged. They do not count in ``count``."""


@dataclass(slots=True)
class NetChange:
    """The net effect of the changes after an outcome."""

    count: int
    recent: dict[str, Statement]
    """The outcome's recent statements that are still in force."""
    added: dict[str, Statement]
    lost: list[Statement]
    """The outcome's recent statements that were retracted."""
    withdrawn: list[Statement]
    """Retracted statements that are part of the settled text."""

    @property
    def is_empty(self) -> bool:
        """Whether the changes cancel each other."""
        return not (self.added or self.lost or self.withdrawn)

    @property
    def statements(self) -> dict[str, Statement]:
        """The recent statements in force, with those added, in order."""
        return _in_order(self.recent | self.added)


class MergedText(LLMOperator):
    """See the module's docstring. A retraction leaves no trace in the text once it is merged; until then the text is marked as stale."""

    spec: ClassVar[OperatorSpec] = built_in("LLM_MERGE")

    @property
    def _limit(self) -> int:
        return self._configuration.whole("Characters")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`; takes a value of at most 2,000 characters."""
        return _with_change(state, operand, _APPLY)

    def retract(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.retract`."""
        return _with_change(state, operand, _RETRACT)

    def value(self, state: State) -> Value:
        """The text, followed by the statements that are not merged yet."""
        base, net = base_of(state), net_of(state)
        if net.count <= 0:
            return None
        if net.lost and base["by"] == RULE:
            return self._by_rule(base["settled"], net.statements, net.withdrawn) or None
        return self._by_rule(base["text"], _in_order(net.added), [*net.lost, *net.withdrawn]) or None

    def written(self, state: State) -> WrittenText | None:
        """See :meth:`LLMOperator.written`."""
        base, net = base_of(state), net_of(state)
        by_model = base["by"] not in ("", RULE)
        return WrittenText(
            by=base["by"] or RULE,
            pending=len(net.added) if by_model or state.get("asked") else 0,
            stale=by_model and bool(net.lost or net.withdrawn),
            superseded=base["superseded"],
        )

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`. At most one question is open. A first statement stands as it is: it needs no model.

        While it has no answer, the rule merges statements above the limit; the operator asks a model about those once it answers again.
        """
        changes, asked = waiting_changes(state), state.get("asked")
        base, net = base_of(state), net_of(state)
        covered = joined(base["sources"], moment.sources)
        if _is_too_much(changes, has_llm=moment.has_llm) and (asked or not moment.has_llm):
            outcome = self.outcome_by_rule(self._question(base, net, covered))
            return self._settled(state, Outcome({**outcome.content, "unasked": True}))
        if asked or not moment.has_llm or not (changes or base["unasked"]):
            return Settled(state)
        if net.count <= 0:
            return self._settled(state, _moved_on(self._emptied(base), net, covered))
        if net.is_empty and not base["unasked"]:
            return self._settled(state, _moved_on(base, net, covered))
        question = self._question(base, net, covered)
        if net.count == 1 and not base["text"] and self._may_stand(net.added):
            # As an outcome, so that a rebuild, which may see other statements in between, asks no model either.
            return self._settled(state, self.outcome_by_rule(question))
        return Settled({**state, "asked": _digest(question)}, questions=(question,))

    def forget(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.forget`: the rule merges the remaining statements, and the operator asks a model again.

        Only a model can remove a statement from the settled text, so the operator asks it to, as after any retraction.
        """
        base, net = base_of(state), net_of(state)
        covered = joined(base["sources"], moment.sources)
        if net.count <= 0:
            return self._settled(state, _moved_on(self._emptied(base), net, covered))
        if not waiting_changes(state) or (net.withdrawn and moment.has_llm):
            return Settled(state)
        outcome = self.outcome_by_rule(self._question(base, net, covered))
        return self._settled(state, Outcome({**outcome.content, "unasked": moment.has_llm}))

    def outcomes(self, state: State) -> tuple[Outcome, ...]:
        """See :meth:`LLMOperator.outcomes`: the newest."""
        return (Outcome(dict(state["base"])),) if "base" in state else ()

    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """See :meth:`LLMOperator.apply_outcome`."""
        content: dict[str, Any] = dict(outcome.content)
        answered = content.pop("question", None)
        before: State = state or {"changes": []}
        asked = before.get("asked")
        base, changes = before.get("base"), before["changes"]
        if is_news(content, base or _EMPTY):
            base = content
            changes = [each for each in changes if not covers(content["sources"], each[0], each[1])]
        elif asked is None or asked != answered:
            return before
        after = {"changes": changes, **({} if base is None else {"base": base})}
        return after if asked is None or asked == answered else {**after, "asked": asked}

    def adopted(self, state: State) -> int:
        """See :meth:`LLMOperator.adopted`."""
        return cast(int, base_of(state)["number"])

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`."""
        content = question.content
        return merge_prompt(
            subject=self._described(subject),
            text=content["text"],
            added=[Statement(*each) for each in content["added"]],
            withdrawn=[Statement(*each) for each in content["withdrawn"]],
            limit=self._limit,
        )

    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """See :meth:`LLMOperator.outcome`."""
        text, superseded = read_merge_answer(answer)
        return self._outcome(question, bounded(text, self._limit), by=model, superseded=superseded)

    def outcome_by_rule(self, question: Question) -> Outcome:
        """See :meth:`LLMOperator.outcome_by_rule`."""
        content = question.content
        added = [Statement(*each) for each in content["added"]]
        text = merge_by_rule(content["text"], added, [each[1] for each in content["withdrawn"]], limit=self._limit)
        return self._outcome(question, text, by=RULE, superseded=())

    def _outcome(self, question: Question, text: str, *, by: str, superseded: Sequence[str]) -> Outcome:
        then = question.content["then"]
        settled = text if then["settled"] is None else then["settled"]
        content = {**then, "settled": settled, "text": text, "by": by, "superseded": list(superseded), "unasked": False}
        return Outcome({**content, "question": _digest(question)})

    def _may_stand(self, statements: dict[str, Statement]) -> bool:
        """Whether first statements may stand in the text as they are: they fit without being shortened."""
        return all(flat(each.text) in self._by_rule("", {name: each}, ()) for name, each in statements.items())

    def _emptied(self, base: dict[str, Any]) -> dict[str, Any]:
        """The outcome of a text without any statement."""
        return {**_EMPTY, "number": base["number"]}

    def _settled(self, state: State, outcome: Outcome) -> Settled:
        return Settled(self.apply_outcome(state, outcome), outcomes=(outcome,))

    def _by_rule(self, text: str, added: dict[str, Statement], withdrawn: Sequence[Statement]) -> str:
        if not added and not withdrawn:
            return text
        return merge_by_rule(text, list(added.values()), [each.text for each in withdrawn], limit=self._limit)

    def _question(self, base: dict[str, Any], net: NetChange, covered: Sources) -> Question:
        """The statements to merge, and the outcome's other fields after the merge; ``settled`` None means the answer's text."""
        if net.lost:
            # The text contains retracted statements: merge the remaining ones again into the settled text.
            text, added = base["settled"], net.statements
        else:
            text, added = base["text"], _in_order(net.added)
        settled, recent = base["settled"], net.statements
        if net.withdrawn:
            settled, recent = None, {}
        elif not _fits(recent):
            settled, recent = (None, {}) if net.lost or not _fits(net.added) else (base["text"], _in_order(net.added))
        return Question(
            {
                "text": text,
                "added": [[each.time, each.text, *_kept(0, each.offset)] for each in added.values()],
                "withdrawn": [[each.time, each.text, *_kept(0, each.offset)] for each in net.withdrawn],
                "then": {
                    "number": base["number"] + 1,
                    "count": net.count,
                    "sources": covered,
                    "settled": settled,
                    "recent": [[each.time, name, each.text, *_kept(each.order, each.offset)] for name, each in recent.items()],
                },
            }
        )


def _is_too_much(changes: list[Any], *, has_llm: bool) -> bool:
    most, most_text = (MAX_WAITING, MAX_WAITING_TEXT) if has_llm else (MAX_RECENT, MAX_RECENT_TEXT)
    return len(changes) > most or sum(len(each[5]) for each in changes) > most_text


def _moved_on(base: dict[str, Any], net: NetChange, covered: Sources) -> Outcome:
    """The same outcome, further on in the log."""
    base = {name: each for name, each in base.items() if name != "waiting"}
    return Outcome({**base, "number": base["number"] + 1, "count": net.count, "sources": covered})


def _with_change(state: State | None, operand: Operand, sign: int) -> State:
    text = _text_of(operand.value)
    if not text or len(text) > MAX_STATEMENT:
        raise RefusedChangeError("value_too_long" if text else "no_value")
    before: State = state or {"changes": []}
    if covers(base_of(before)["sources"], operand.source, operand.position):
        # A rebuild comes by what the newest outcome has merged already.
        return before
    change = [operand.source, operand.position, sign, operand.time, operand.source_id, text, *_kept(operand.order, operand.offset)]
    # Sorted, since a rebuild may bring the sources in another order; those of one position keep theirs.
    return {**before, "changes": sorted([*before["changes"], change], key=lambda each: (each[0], each[1]))}


def _text_of(value: JsonValue) -> str:
    values = value if isinstance(value, list) else [value]
    return "; ".join(str(each).strip() for each in values if each is not None)


def base_of(state: State) -> dict[str, Any]:
    """The newest outcome of a state; the initial one if there is none."""
    return cast(dict[str, Any], state.get("base") or _EMPTY)


def waiting_changes(state: State) -> list[Any]:
    """The changes that are still to be merged, oldest first."""
    return [*base_of(state).get("waiting", ()), *state["changes"]]


def net_of(state: State) -> NetChange:
    """The net effect of the changes after the newest outcome."""
    base = base_of(state)
    net = NetChange(base["count"], {name: Statement(time, text, *more) for time, name, text, *more in base["recent"]}, {}, [], [])
    taken: dict[str, tuple[Statement, list[Statement]]] = {}
    for _, _, sign, time, name, text, *more in waiting_changes(state):
        statement = Statement(time, text, *more)
        net.count += sign
        if sign == _RETRACT:
            if name in net.added:
                del net.added[name]
            elif name in net.recent:
                net.lost.append(net.recent.pop(name))
                taken[name] = net.lost[-1], net.lost
            elif base["settled"]:
                net.withdrawn.append(statement)
                taken[name] = statement, net.withdrawn
        elif name in taken and taken[name][0].is_again(statement):
            # The same again, as a repeated extraction gives it: nothing has changed.
            lost, place = taken.pop(name)
            place.remove(lost)
            if place is net.lost:
                net.recent[name] = statement
        else:
            net.added[name] = statement
    net.recent = _in_order(net.recent)
    return net


def _in_order(statements: dict[str, Statement]) -> dict[str, Statement]:
    """Sorts by time, then by order; ids break ties only if no order is known."""
    return dict(sorted(statements.items(), key=lambda each: (each[1].time, each[1].order, each[0])))


def _kept(order: int, offset: int) -> list[int]:
    """Order and UTC offset as the last parts of a row; without parts that are 0 at its end."""
    return [order, offset] if offset else [order] if order else []


def _fits(statements: dict[str, Statement]) -> bool:
    return len(statements) <= MAX_RECENT and sum(len(each.text) for each in statements.values()) <= MAX_RECENT_TEXT


def _digest(question: Question) -> str:
    return hashlib.sha256(orjson.dumps(question.content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
