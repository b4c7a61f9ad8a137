#!/bin/sh
# Lays down all that the image holds, in one folder: the production packages by hash, Varve, the converted embedding model, licences and
# the bill of materials. The Dockerfile calls it; so does `make test-image`, on a machine without Docker.
#   deploy/install.sh PREFIX      needs uv and strip (binutils) on the path, and a Python 3.11 as python3.11 (or PYTHON)
set -eu
prefix=$1
source=$(cd "$(dirname "$0")/.." && pwd)
command -v strip >/dev/null || { echo "strip is missing: apt-get install binutils" >&2; exit 1; }
# slim.sh changes libraries in place: links to the cache's files would change them in every environment that uses the cache.
export UV_LINK_MODE=copy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

uv venv --quiet --python "${PYTHON:-python3.11}" "$prefix/venv"
uv pip sync --quiet --python "$prefix/venv/bin/python" --require-hashes "$source/deploy/requirements/image.lock"

uv venv --quiet --python "${PYTHON:-python3.11}" "$work/tools"
uv pip sync --quiet --python "$work/tools/bin/python" --require-hashes "$source/deploy/requirements/build.lock"
# Setuptools leaves its traces where it builds.
mkdir "$work/source"
for each in pyproject.toml README.md LICENSE NOTICE client varve api streams retrieval extraction stores control operators models runtime memory methods; do
    cp -R "$source/$each" "$work/source/"
done
uv build --quiet --wheel --no-build-isolation --python "$work/tools/bin/python" --out-dir "$work/wheels" "$work/source"
uv build --quiet --wheel --no-build-isolation --python "$work/tools/bin/python" --out-dir "$work/wheels" "$work/source/client"
uv pip install --quiet --python "$prefix/venv/bin/python" --no-deps "$work"/wheels/*.whl

# The root file system is read-only: the model is converted and the rules of extraction are prepared here, once, not by every process at
# its start.
"$prefix/venv/bin/python" -c "
from pathlib import Path
import extraction.build
from extraction.offline.kept_literals import prepare_rules
from models.embedding.conversion import converted_model
cache = Path('$prefix/cache')
converted_model(cache=cache, compute_type='int8')
prepare_rules(cache)"
"$source/deploy/slim.sh" "$prefix"

mkdir -p "$prefix/licences"
cp "$source/LICENSE" "$source/NOTICE" "$prefix/licences/"
"$work/tools/bin/cyclonedx-py" environment --pyproject "$source/pyproject.toml" --output-reproducible \
    --output-format JSON --output-file "$prefix/sbom.cdx.json" "$prefix/venv/bin/python"
