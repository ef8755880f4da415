"""Web archives, pure: what their services answer, which copy shows what was cited, whether a copy is still there."""
