"""Fields of an entity that its schema no longer has: readable and unchanged."""

from dataclasses import replace

from operators.entities.apply import apply_contribution
from operators.entities.former_fields import has_former_fields, with_former_fields
from operators.entities.render import render
from tests.operators.person import KEY, PERSON, Person, job, note

WITHOUT_JOB = replace(PERSON, properties=tuple(each for each in PERSON.properties if each.name != "job"))


def test_a_removed_field_keeps_its_value() -> None:
    person = Person()
    person.read(*job("A", "e-a", 1))
    assert person.live is not None
    assert not has_former_fields(person.live, PERSON)
    assert has_former_fields(person.live, WITHOUT_JOB)
    later = person.contributions[0].model_copy(update={"position": 9, "changes": [*job("B", "e-b", 2), *note("x", "p", 2)]})
    applied = apply_contribution(person.live, later, WITHOUT_JOB)
    assert [each.reason for each in applied.refused] == ["unknown_property"]
    shown = with_former_fields(applied.state, WITHOUT_JOB, [WITHOUT_JOB, PERSON])
    assert render(applied.state, shown, "acme", KEY).properties == {"user": KEY, "jobs": 2, "notes": "x", "job": "A"}
    assert render(applied.state, WITHOUT_JOB, "acme", KEY).properties == {"user": KEY, "jobs": 2, "notes": "x"}


def test_a_field_of_another_operator_is_not_it() -> None:
    person = Person()
    person.read(*job("A", "e-a", 1))
    assert person.live is not None
    patched = replace(PERSON, properties=tuple(replace(each, aggregate=None) if each.name == "job" else each for each in PERSON.properties))
    assert with_former_fields(person.live, WITHOUT_JOB, [patched]) == WITHOUT_JOB
    found = with_former_fields(person.live, WITHOUT_JOB, [patched, PERSON]).property("job")
    assert found == PERSON.property("job")
