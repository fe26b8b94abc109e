"""What people touch: `pdj`. It composes the other layers into a process, and decides nothing about jobs."""
