"""Memory of the robot's tasks from run to run: their runs, the URLs that they asked for, documents, links."""
