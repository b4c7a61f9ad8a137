#!/bin/sh
# Removes what no role of the image uses from an installed environment: weights that are converted already, tests and sources of
# packages, data and parts of libraries that nothing imports, symbols of libraries, and bytecode.
#   deploy/slim.sh PREFIX         needs strip (binutils); see deploy/install.sh
set -eu
python=$1/venv/bin/python
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# Converted to $1/cache; the tokenizer next to them stays.
"$python" -B -c 'from models.embedding.weights import verified_weights; verified_weights().unlink()'

find "$packages" -type d -name tests -prune -exec rm -r {} +
find "$packages" -type f '(' -name '*.pyi' -o -name '*.py[xd]' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.a' ')' -delete

# Names of places and carriers: redaction finds and checks telephone numbers, and never looks up where they belong.
rm -r "$packages"/phonenumbers/geodata "$packages"/phonenumbers/carrierdata "$packages"/phonenumbers/tzdata
# Makers of network cards, and of telephone networks; redaction checks IBANs, payment cards and personal numbers.
rm "$packages"/stdnum/oui.dat "$packages"/stdnum/imsi.dat
# Rich colours tracebacks of Python only.
find "$packages"/pygments/lexers -name '*.py' -not -name '__init__.py' -not -name '_mapping.py' -not -name 'python.py' -not -name 'special.py' -delete
# Builders of extension modules, and modules that only numpy's own tests import.
rm -r "$packages"/numpy/distutils "$packages"/numpy/f2py
rm "$packages"/numpy/_core/_simd.*.so "$packages"/numpy/_core/*_tests.*.so
# Varve calls chat completions and embeddings; openai imports every other part of the API only when it is called.
for part in admin audio beta containers conversations evals fine_tuning live realtime responses safety skills uploads vector_stores webhooks; do
    rm -r "$packages/openai/resources/$part"
done
for part in admin beta containers conversations evals fine_tuning live realtime skills uploads vector_stores webhooks; do
    rm -r "$packages/openai/types/$part"
done

# Not numpy.libs: strip gains little there, and can damage libraries whose paths were rewritten.
find "$packages" -type f -name '*.so*' -not -path '*/numpy.libs/*' -exec strip --strip-unneeded {} +

# deploy/write_bytecode.py writes it in the image, for what is imported.
find "$packages" -type d -name __pycache__ -prune -exec rm -r {} +
