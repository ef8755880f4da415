-- Whether the page of a dead link already offers an archived copy of it (L-10). It takes a byte that was padding.
ALTER TABLE dead ADD COLUMN repaired boolean;
CREATE INDEX dead_repaired_unknown ON dead (wiki, page) WHERE repaired IS NULL;
