"""The `ordsvm` command: `ordsvm_command` starts it."""
