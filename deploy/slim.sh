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

# Names of places and carriers, and emergency numbers: redaction finds and checks telephone numbers, and never looks up where they belong.
rm -r "$packages"/phonenumbers/geodata "$packages"/phonenumbers/carrierdata "$packages"/phonenumbers/tzdata
rm "$packages"/phonenumbers/shortdata/region_*.py
# Makers, places, trades and books; redaction checks IBANs, payment cards and personal numbers.
for each in oui imsi at/postleitzahl cfi cn/loc eu/nace20 eu/nace21 gs1_ai isbn nz/banks; do
    rm "$packages/stdnum/$each.dat"
done
# Croniter declares pytz for its UTC alone. Time zones come from tzdata.
rm -r "$packages"/pytz/zoneinfo
# Rich colours tracebacks of Python only.
find "$packages"/pygments/lexers -name '*.py' -not -name '__init__.py' -not -name '_mapping.py' -not -name 'python.py' -not -name 'special.py' -delete
# The compiler of bindings; cryptography uses the module beside it.
rm -r "$packages"/cffi
# Conventions for spans of other kinds than Varve's.
find "$packages"/opentelemetry/semconv/_incubating -name '*.py' -not -name '__init__.py' -not -name 'otel_*.py' -delete
# Builders of extension modules, mathematics that Varve does not use, and modules that only numpy's own tests import.
for each in distutils f2py fft ma polynomial random testing; do
    rm -r "$packages/numpy/$each"
done
rm "$packages"/numpy/_core/_simd.*.so "$packages"/numpy/_core/*_tests.*.so
# Varve calls chat completions and embeddings; openai imports every other part of the API only when it is called.
for part in admin audio beta containers conversations evals fine_tuning live realtime responses safety skills uploads vector_stores webhooks; do
    rm -r "$packages/openai/resources/$part"
done
for part in batches completions content_provenance_checks decisions files images moderations videos; do
    rm "$packages/openai/resources/$part.py"
done
for part in admin beta containers conversations evals fine_tuning live realtime skills uploads vector_stores webhooks; do
    rm -r "$packages/openai/types/$part"
done
for part in beta live responses_websocket browser.py computer.py decisions_tool_runner.py responses_tool_runner.py; do
    rm -r "$packages/openai/lib/$part"
done

# Not numpy.libs: strip gains little there, and can damage libraries whose paths were rewritten.
find "$packages" -type f -name '*.so*' -not -path '*/numpy.libs/*' -exec strip --strip-unneeded {} +

# deploy/write_bytecode.py writes it in the image, for what is imported.
find "$packages" -type d -name __pycache__ -prune -exec rm -r {} +
