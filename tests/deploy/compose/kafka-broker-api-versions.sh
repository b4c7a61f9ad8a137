#!/bin/sh
# As the command of this name, but without a JVM of its own: whether the broker takes connections.
exec python -c 'import socket, sys; host, port = sys.argv[2].split(":"); socket.create_connection((host, int(port)), 3)' "$@"
