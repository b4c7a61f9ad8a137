"""LINK: notes that are linked with each other and change each other (A-MEM), or facts that are kept apart or replaced (Mem0).

Each event has its own entity: a note. The operator asks for the nearest notes of the user, and decides, by a model or by rule, what
follows: ``link`` gives keywords, tags, a context and links, and rewrites the tags and contexts of neighbours; ``reconcile`` adds the fact,
merges it into a neighbour, or hides a neighbour that it contradicts.

A decision changes notes only by updates. An update names the event that owns it, and the retraction of that event undoes it. A note keeps
its own words and the updates side by side, so without an update it is exactly as before. An update is void if either event has another
wording by now. Links are updates of both notes, each owned by the other. A model reads only the own words of a neighbour, not what other
notes have made of it, so an update is based on the words of two events only.

A note is compared with the notes of earlier events only. So of two notes that ask at the same time, the later one decides, as if it had
been sent after the other was stored, and two equal facts never hide each other.
"""

import hashlib
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, Final, cast

import orjson
from pydantic import JsonValue

from memory.dates.event_date import shown_date
from memory.ids import entity_id
from memory.keys import entity_key, entity_key_parts
from memory.records import Link, Lookup, NotePlace, NoteRef, NoteUpdate
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.terms import words_of
from memory.times import time_of_microseconds
from operators.applied_positions import covers, joined, source_without_copy
from operators.errors import RefusedChangeError
from operators.links.link_prompt import Decision, PromptNote, link_prompt, read_link_answer, read_reconcile_answer, reconcile_prompt
from operators.links.link_updates import Neighbour, neighbour_of, note_digest, note_text, updates_of_decision
from operators.llm.llm_operator import RULE, LLMOperator, Moment, Outcome, Prompt, Question, Settled, is_news
from operators.operator import Operand, State, Value
from operators.publishing import LinkedOperator, Note, Owner

MAX_UPDATES: Final = 64
"""Updates of one note by others, so also its links. Further ones are refused: a note that has so many neighbours is linked enough."""
SAME: Final = 0.9
"""Minimum cosine of two statements that the rule takes for the same, if their words are the same."""

_EMPTY: Final[dict[str, Any]] = {"number": 0, "sources": {}, "of": None}
"""The initial outcome. ``number`` counts the outcomes up to this one; ``sources`` is the covered part of the log; ``of`` is the digest of
the words that were decided on."""


class LinkedNote(LLMOperator, LinkedOperator):
    """See the module's docstring.

    A state has ``own`` (the event), ``outcome`` (the newest decision), ``asked`` (the open question), and ``updates``, by owner: the
    position in the log and the change.
    """

    spec: ClassVar[OperatorSpec] = built_in("LINK")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`; takes an event, or another event's update."""
        before: State = state or {}
        update = _update_of(operand.value)
        if update is not None:
            return _with_update(before, operand, update)
        value, text = operand.value, note_text(operand.value)
        if not isinstance(value, dict) or not text:
            raise RefusedChangeError("no_value")
        own = {
            "id": operand.source_id,
            "text": text,
            "time": operand.time,
            "offset": operand.offset,
            "source": operand.source,
            "position": operand.position,
            "order": operand.order,
            "window": value["window_id"],
        }
        if value.get("date") is not None:
            own["date"] = value["date"]
        if value.get("vector") and not covers(_outcome_of(before)["sources"], operand.source, operand.position):
            own["vector"] = value["vector"]
        return {**before, "own": own}

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. The updates of other events remain, in case the event is applied again with the same words."""
        before: State = state or {}
        after = dict(before)
        if _update_of(operand.value) is not None:
            updates = {owner: each for owner, each in before.get("updates", {}).items() if owner != operand.source_id}
            if updates == before.get("updates", {}):
                raise RefusedChangeError("not_updated")
            after["updates"] = updates
            if not updates:
                del after["updates"]
        elif before.get("own", {}).get("id") != operand.source_id:
            raise RefusedChangeError("not_applied")
        else:
            del after["own"]
        return after or None

    def value(self, state: State) -> Value:
        """The note's own words."""
        return cast(str, state["own"]["text"]) if "own" in state else None

    def note(self, state: State) -> Note | None:
        """See :meth:`LinkedOperator.note`."""
        own = state.get("own")
        if own is None:
            return None
        outcome, updates = _decided(state), _updates(state)
        shown: dict[str, Any] = {name: outcome.get(name) for name in ("keywords", "tags", "context")}
        for _, change in updates:
            shown |= {name: change[name] for name in ("tags", "context", "hidden") if name in change}
        texts = [change["text"] for _, change in updates if "text" in change]
        hidden = shown.get("hidden")
        by = [owner for owner, change in updates if change.keys() & {"tags", "context", "text", "hidden"}]
        hider = next((owner for owner, change in reversed(updates) if "hidden" in change), None)
        properties: dict[str, JsonValue] = {
            "window": own["window"],
            "place": _place_of(own).model_dump(),
            "tags": shown["tags"] or None,
            "context": shown["context"] or None,
            "decided_by": outcome.get("by"),
            "changed_by": [*by] or None,
            "hidden_because": hidden,
            "hidden_by": hider,
        }
        words = [*(shown["keywords"] or ()), *(shown["tags"] or ())]
        labels = f"({', '.join(dict.fromkeys(words))})" if words else None
        return Note(
            content="\n".join(each for each in (*(texts or [own["text"]]), shown["context"], labels) if each),
            event_time=_moment_of(own),
            date=own.get("date"),
            keywords=tuple(words),
            properties={name: each for name, each in properties.items() if each is not None},
            hidden_at=time_of_microseconds(own["time"]) if hidden else None,
        )

    def links(self, state: State, owner: Owner) -> tuple[Link, ...]:
        """See :meth:`LinkedOperator.links`: strongest first."""
        found: dict[str, Link] = {}
        for _, change in _updates(state):
            if "link" in change:
                event, score, relation = change["link"]
                found[event] = Link(id=_memory_id(owner, event), relation=relation, score=score)
        return tuple(sorted(found.values(), key=lambda each: (-each.score, each.id)))

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`: one question for each application of the event. The rule answers without a model."""
        own, outcome = state.get("own"), _outcome_of(state)
        if "asked" in state:
            return Settled(state)
        covered = joined(outcome["sources"], moment.sources)
        if own is None:
            is_ahead = covered != joined(moment.sources, {})
            if outcome["of"] is None or is_ahead:
                return Settled(state)
            nothing = Outcome({**_EMPTY, "number": outcome["number"] + 1, "sources": covered})
            return Settled(self.apply_outcome(state, nothing), outcomes=(nothing,))
        if covers(outcome["sources"], own["source"], own["position"]):
            return Settled(state)
        content: dict[str, JsonValue] = {
            "note": {
                **{name: own[name] for name in ("id", "window", "text", "order")},
                "day": shown_date(_moment_of(own), own.get("date")),
            },
            "then": {"number": outcome["number"] + 1, "sources": cast(JsonValue, covered), "of": note_digest(own["text"])},
        }
        content["id"] = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        limit = self._configuration.whole("Neighbours")
        lookup = Lookup(text=own["text"], vector=own.get("vector"), limit=limit, without=[own["id"]], before=_place_of(own))
        after = {**state, "own": {name: each for name, each in own.items() if name != "vector"}, "asked": content["id"]}
        return Settled(after, questions=(Question(content, lookups=(lookup,)),))

    def outcomes(self, state: State) -> tuple[Outcome, ...]:
        """See :meth:`LLMOperator.outcomes`: the newest."""
        return (Outcome(dict(state["outcome"])),) if "outcome" in state else ()

    def apply_outcome(self, state: State | None, outcome: Outcome) -> State:
        """See :meth:`LLMOperator.apply_outcome`."""
        content: dict[str, Any] = dict(outcome.content)
        answered = content.pop("question", None)
        before: State = state or {}
        after = dict(before)
        if is_news(content, _outcome_of(before)):
            after["outcome"] = content
        elif before.get("asked") is None or before["asked"] != answered:
            return before
        if after.get("asked") == answered:
            after.pop("asked", None)
        return after

    def adopted(self, state: State) -> int:
        """See :meth:`LLMOperator.adopted`."""
        return cast(int, _outcome_of(state)["number"])

    def updates(self, state: State) -> tuple[NoteUpdate, ...]:
        """See :meth:`LLMOperator.updates`."""
        return tuple(NoteUpdate.model_validate(each) for each in _decided(state).get("updates", ()))

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`."""
        content = question.content
        neighbours = [each.note for each in self._neighbours(question)]
        build = reconcile_prompt if self._reconciles else link_prompt
        note = PromptNote(text=content["note"]["text"], day=content["note"]["day"])
        return build(subject=self._described(subject), new=note, neighbours=neighbours)

    def outcome(self, question: Question, answer: str, *, model: str) -> Outcome:
        """See :meth:`LLMOperator.outcome`."""
        read = read_reconcile_answer if self._reconciles else read_link_answer
        return self._outcome(question, read(answer, neighbours=len(self._neighbours(question))), by=model)

    def outcome_by_rule(self, question: Question) -> Outcome:
        """See :meth:`LLMOperator.outcome_by_rule`: links near notes, or takes a statement with the same words for the same fact."""
        neighbours = self._neighbours(question)
        if self._reconciles:
            words = words_of(question.content["note"]["text"])
            same = (index for index, each in enumerate(neighbours) if each.score >= SAME and words_of(each.note.text) == words)
            found = next(same, None)
            decision = Decision() if found is None or not words else Decision(known_as=found)
        else:
            least = self._configuration.whole("LinkAbove") / 100
            decision = Decision(links={index: "" for index, each in enumerate(neighbours) if each.score >= least})
        return self._outcome(question, decision, by=RULE)

    @property
    def _reconciles(self) -> bool:
        return self._configuration.parameters["Decide"] == "reconcile"

    def _neighbours(self, question: Question) -> list[Neighbour]:
        found = question.content.get("found") or []
        return [each for each in map(neighbour_of, found) if each is not None]

    def _outcome(self, question: Question, decision: Decision, *, by: str) -> Outcome:
        content = question.content
        neighbours = self._neighbours(question)
        own = NoteRef(id=content["note"]["id"], window_id=content["note"]["window"], digest=content["then"]["of"])
        return Outcome(
            {
                **content["then"],
                "by": by,
                "keywords": list(decision.keywords),
                "tags": list(decision.tags),
                "context": decision.context,
                "found": [[each["id"], each["version"], each["score"]] for each in content.get("found") or []],
                "updates": [
                    each.model_dump(mode="json")
                    for each in updates_of_decision(decision, own, neighbours, order=cast(int, content["note"]["order"]))
                ],
                "question": content["id"],
            }
        )


def _moment_of(own: dict[str, Any]) -> datetime:
    """The time of a note's event, with its UTC offset."""
    return time_of_microseconds(own["time"]).astimezone(timezone(timedelta(microseconds=own["offset"])))


def _place_of(own: dict[str, Any]) -> NotePlace:
    return NotePlace(source=source_without_copy(own["source"]), position=own["position"], order=own["order"])


def _update_of(value: JsonValue) -> dict[str, Any] | None:
    update = value.get("update") if isinstance(value, dict) else None
    return update if isinstance(update, dict) else None


def _with_update(before: State, operand: Operand, update: dict[str, Any]) -> State:
    updates: dict[str, Any] = before.get("updates", {})
    known = updates.get(operand.source_id)
    if known is None and len(updates) >= MAX_UPDATES:
        raise RefusedChangeError("too_many_updates")
    # A second update of an owner adds to its first one, unless the words have changed since.
    is_further = known is not None and known[1]["of"] == update["of"]
    change = {**known[1], **update} if known is not None and is_further else update
    return {**before, "updates": dict(sorted({**updates, operand.source_id: [operand.position, change]}.items()))}


def _outcome_of(state: State) -> dict[str, Any]:
    return cast(dict[str, Any], state.get("outcome") or _EMPTY)


def _decided(state: State) -> dict[str, Any]:
    """The outcome, if it is about the present words."""
    own, outcome = state.get("own"), _outcome_of(state)
    return outcome if own is not None and outcome["of"] == note_digest(own["text"]) else {}


def _updates(state: State) -> list[tuple[str, dict[str, Any]]]:
    """The updates in force by owner, in the order of the notes that decided them: the models may have answered in another order."""
    if "own" not in state:
        return []
    digest = note_digest(state["own"]["text"])
    found = [(owner, position, change) for owner, (position, change) in state.get("updates", {}).items() if change["of"] == digest]
    return [(owner, change) for owner, _, change in sorted(found, key=lambda each: (each[2]["order"], each[1], each[0]))]


def _memory_id(owner: Owner, event: str) -> str:
    """The id of the note of another event of the same user."""
    parts = dict(zip(owner.entity_type.keys, entity_key_parts(owner.key), strict=True)) | {"event": event}
    return entity_id(owner.tenant, owner.entity_type.name, entity_key(*parts.values()), owner.generation)
