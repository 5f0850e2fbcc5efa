"""`python -m meshpart`: the command line."""

from meshpart.cli import main

main()
