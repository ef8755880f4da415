"""The generic robot (R-1 … R-12): tasks, their orders, queues and statistics; pure, so that loaders can be chosen."""
