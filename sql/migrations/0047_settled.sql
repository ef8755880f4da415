-- How far both logs are settled, for readers on a hot standby: there the sequences are ahead of the lines, and nothing
-- shows who is writing. One row.
CREATE TABLE settled (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    change bigint NOT NULL DEFAULT 0,
    audit bigint NOT NULL DEFAULT 0
);
INSERT INTO settled DEFAULT VALUES;
