-- Title and first heading of a copy, as it was played when it was last verified (A-3), with a line break between them;
-- NULL = not known. Editors see by it at a glance that a copy shows something else.
ALTER TABLE snapshot ADD COLUMN preview text CHECK (octet_length(preview) <= 200);
