"""One module for each peer. Each runs in the peers' own virtual environment: `python -m peers.monty`."""
