#!/bin/sh
# Removes what no role of the image uses from an installed environment: weights that are converted already, tests and sources of
# packages, symbols of libraries, and bytecode.
#   deploy/slim.sh PREFIX         needs strip (binutils); see deploy/install.sh
set -eu
python=$1/venv/bin/python
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# Converted to $1/cache; the tokenizer next to them stays.
"$python" -B -c 'from models.embedding.weights import verified_weights; verified_weights().unlink()'

find "$packages" -type d -name tests -prune -exec rm -r {} +
find "$packages" -type f '(' -name '*.pyi' -o -name '*.py[xd]' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.a' ')' -delete

# Not numpy.libs: strip gains little there, and can damage libraries whose paths were rewritten.
find "$packages" -type f -name '*.so*' -not -path '*/numpy.libs/*' -exec strip --strip-unneeded {} +

# deploy/write_bytecode.py writes it in the image, for what is imported.
find "$packages" -type d -name __pycache__ -prune -exec rm -r {} +
