"""``python -m varve``: the same as the ``varve`` command."""

from varve.cli import main

if __name__ == "__main__":
    main()
