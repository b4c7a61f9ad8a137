"""The operator of docs/build/write-an-operator.md, installed as a package is, drives an entity."""

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from memory.schema.operator_specs import operator_specs

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "build" / "write-an-operator.md"
EXAMPLE = ROOT / "examples" / "operator_spread"
TABLE = ROOT / "docs" / "build" / "operators.md"

PROGRAM = """
from datetime import UTC, datetime
from statistics import pstdev
import orjson
from memory.records import Change, Contribution
from memory.schema import parse_schema, to_json
from operators.entities.apply import apply_contribution
from operators.entities.render import render

schema = parse_schema({
    "EventTypes": [{"EventType": "run", "Properties": [{"PropertyName": "km", "PropertyValueType": "float32"}]}],
    "EntityTypes": [{"EntityType": "log", "WindowDays": 7, "Properties": [{
        "PropertyName": "spread", "PropertyValueType": "float32",
        "AggregateExpression": {"Op": "SPREAD", "EventType": "run", "EventPropertyName": "km"}}]}],
})
assert parse_schema(to_json(schema)) == schema
time = datetime(2026, 5, 1, tzinfo=UTC)
state = None
for position, (op, km) in enumerate([("apply", 3.5), ("apply", 9), ("apply", 4.25), ("retract", 9), ("apply", 12)]):
    change = Change(op=op, property="spread", source_id=str(km), value=km, event_time=time, message_ids=["m"])
    contribution = Contribution(tenant="acme", user="ann", entity_type="log", entity_key="ann", source="extractions/0",
                                position=position, changes=[change], time=time, schema_name="sport")
    state = apply_contribution(state, contribution, schema.entity_types[0]).state
value = render(state, schema.entity_types[0], "acme", "ann").properties["spread"]
print(orjson.dumps([value, pstdev([3.5, 4.25, 12])]).decode())
"""


def test_the_guides_own_operator_drives_an_entity(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    module = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "AdditiveOperator" in block)
    name, target = re.findall(r'^(\w+) = "(.+)"$', text, re.MULTILINE)[0]
    (tmp_path / f"{target.partition(':')[0]}.py").write_text(module)
    metadata = tmp_path / "spread-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: spread\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[varve.operators]\n{name} = {target}\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr.decode()
    value, expected = orjson.loads(result.stdout)
    assert abs(value - expected) < 1e-12


def test_the_examples_own_test_checks_the_laws(tmp_path: Path) -> None:
    path = os.pathsep.join([str(EXAMPLE), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*command, str(EXAMPLE / "test_spread.py")],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert b"1 passed" in result.stdout, result.stdout.decode()


OPERATOR = """
from operators.plugin_api import AdditiveOperator, OperatorSpec
class Odd(AdditiveOperator):
    spec = OperatorSpec(name="ODD", input="number", gives=lambda source: ("float32",))
    def add(self, state, operand, times): return state
    def merge(self, one, other): return one
    def value(self, state): return state
"""
NUMBERS = {
    "EventTypes": [{"EventType": "run", "Properties": [{"PropertyName": "km", "PropertyValueType": "float32"}]}],
    "EntityTypes": [
        {
            "EntityType": "log",
            "Properties": [
                {
                    "PropertyName": "odd",
                    "PropertyValueType": "float32",
                    "AggregateExpression": {"Op": "ODD", "EventType": "run", "EventPropertyName": "km"},
                }
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("    def add(self, state, operand, times): return state\n", "", "must define add"),
        ("    spec = ", "    specs = ", "is not an operator: it needs a spec with the name 'ODD'"),
        ("class Odd", "class Od", "of the package odd (varve.operators) cannot be imported from 'odd:Odd': AttributeError: module 'odd'"),
        ("import AdditiveOperator", "import AditiveOperator", "ImportError: cannot import name 'AditiveOperator'"),
        (', gives=lambda source: ("float32",)', "", "missing 1 required keyword-only argument: 'gives'. Correct the package"),
        ('input="number"', 'input="numbers"', "its spec has the input 'numbers'; did you mean 'number'?"),
        ('("float32",)', '"float32"', "gives must return a tuple of types, ('float32',), not 'float32'"),
    ],
)
def test_a_wrong_operator_is_refused_by_name(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    assert right in OPERATOR
    (tmp_path / "odd.py").write_text(OPERATOR.replace(right, wrong))
    (tmp_path / "numbers.json").write_bytes(orjson.dumps(NUMBERS))
    metadata = tmp_path / "odd-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[varve.operators]\nODD = odd:Odd\n")
    result = subprocess.run(
        [sys.executable, "-m", "varve", "methods", "show", "vikingmem", "--schema", "numbers.json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 1
    assert message in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()
    assert "'ODD'" in result.stderr.decode()


def test_the_guide_shows_the_example() -> None:
    text = GUIDE.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert (EXAMPLE / "spread.py").read_text() in blocks
    assert (EXAMPLE / "test_spread.py").read_text() in blocks
    named = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert named is not None
    assert named[1] in (EXAMPLE / "pyproject.toml").read_text()


def test_the_guide_names_every_operator() -> None:
    table = [line.split("|")[1] for line in TABLE.read_text().splitlines() if line.startswith("| `")]
    assert {name for cell in table for name in re.findall(r"`([A-Z_]+)`", cell)} == set(operator_specs())
