"""Everything that runs in the child process: nothing here is trusted by the host."""
