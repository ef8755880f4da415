-- The newest good backup (O-9).

CREATE TABLE backup (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint,
    moment timestamptz,
    bytes bigint,
    place text,
    why text NOT NULL DEFAULT ''
);
