"""The loop: observe, plan, act, one status write. It talks; what to say is decided in `plan`."""
