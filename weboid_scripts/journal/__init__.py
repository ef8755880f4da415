"""What the scripts did, on disk."""
