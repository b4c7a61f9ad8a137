"""The signing snippets of docs/build/producers.md run, and all give the same signature."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.signing_vectors import KEY, VECTORS

PRODUCERS = Path(__file__).parents[1] / "docs/build/producers.md"
SNIPPET = re.compile(r"^```(python|java|go|javascript)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS: dict[str, str] = dict(SNIPPET.findall(PRODUCERS.read_text()))

PYTHON = """{}
import sys
print(varve_signature(sys.stdin.buffer.read(), sys.argv[1], sys.argv[3], int(sys.argv[2]))[1].decode())
"""
JAVA = """{}
class Main {{
    public static void main(String[] words) throws Exception {{
        System.out.println(new String(VarveSignature.of(System.in.readAllBytes(), words[0], words[2], Long.parseLong(words[1]))));
    }}
}}
"""
GO = """package main
import (
	"io"
	"os"
	"strconv"
)
{}
func main() {{
	value, _ := io.ReadAll(os.Stdin)
	nowMs, _ := strconv.ParseInt(os.Args[2], 10, 64)
	header, err := VarveSignature(value, os.Args[1], os.Args[3], nowMs)
	if err != nil {{ panic(err) }}
	fmt.Println(string(header))
}}
"""
JAVASCRIPT = """{}
import {{ readFileSync }} from "node:fs";
const [keyId, nowMs, key] = process.argv.slice(2);
console.log(varveSignature(readFileSync(0), keyId, key, Number(nowMs)));
"""


def run(*command: str | Path, folder: Path, given: bytes = b"") -> str:
    environment = {
        "PATH": "/usr/bin:/bin:/usr/local/bin:/usr/local/go/bin",
        "HOME": str(folder),
        "GOCACHE": str(folder / "go"),
        "GO111MODULE": "off",
    }
    done = subprocess.run([str(word) for word in command], cwd=folder, input=given, capture_output=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def program(language: str, folder: Path) -> list[str | Path]:
    """Writes the snippet as a program, compiles it where that is usual, and says how it is run."""
    snippet = SNIPPETS[language]
    match language:
        case "python":
            (folder / "sign.py").write_text(PYTHON.format(snippet))
            return [sys.executable, "sign.py"]
        case "java":
            _needs("javac")
            # Its imports have to come first, which they do in the snippet.
            (folder / "Main.java").write_text(JAVA.format(snippet))
            run(_needs("javac"), "Main.java", folder=folder)
            return [_needs("java"), "-cp", ".", "Main"]
        case "go":
            (folder / "sign.go").write_text(GO.format(snippet))
            run(_needs("go"), "build", "-o", "sign", "sign.go", folder=folder)
            return [folder / "sign"]
        case _:
            (folder / "sign.mjs").write_text(JAVASCRIPT.format(snippet))
            return [_needs("node"), "sign.mjs"]


def _needs(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    return found


@pytest.mark.parametrize("language", ["python", "java", "go", "javascript"])
def test_a_documented_snippet_signs_as_openssl_does(language: str, tmp_path: Path) -> None:
    command = program(language, tmp_path)
    for vector in VECTORS:
        header = run(*command, vector.key_id, str(vector.now_ms), KEY.hex(), folder=tmp_path, given=vector.value)
        assert header.encode() == vector.header
