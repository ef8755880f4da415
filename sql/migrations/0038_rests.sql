-- A host of which many URLs are due is visited in portions, and rests in between (C-3).
ALTER TABLE host ADD COLUMN rests_until timestamptz, ADD COLUMN asked_every real;
