#!/bin/sh
# Removes what no role of the image uses from an installed environment: weights that are converted already, tests and sources of
# packages, and symbols of libraries. Then writes bytecode for the modules that Varve imports; the other modules stay as source.
#   deploy/slim.sh PREFIX         needs strip (binutils); see deploy/install.sh
set -eu
python=$1/venv/bin/python
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# Converted to $1/cache; the tokenizer next to them stays.
"$python" -B -c 'from models.embedding.weights import verified_weights; verified_weights().unlink()'

find "$packages" -type d -name tests -prune -exec rm -r {} +
find "$packages" -type f '(' -name '*.pyi' -o -name '*.py[xd]' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.a' ')' -delete

# Not numpy.libs: its linker has placed segments so that strip moves them to where they cannot be loaded.
find "$packages" -type f -name '*.so*' -not -path '*/numpy.libs/*' -exec strip --strip-unneeded {} +

find "$packages" -type d -name __pycache__ -prune -exec rm -r {} +
"$python" "$(dirname "$0")/write_bytecode.py"
