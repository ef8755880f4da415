-- The data set per URL (W-13): files of a second kind, in pieces of bounded size, and what is known of a whole file.
ALTER TABLE dataset
    ADD COLUMN kind smallint NOT NULL DEFAULT 0,
    ADD COLUMN piece integer NOT NULL DEFAULT 0,
    DROP CONSTRAINT dataset_pkey,
    ADD PRIMARY KEY (day, farm, kind, part, piece);
CREATE TABLE dataset_file (
    day smallint NOT NULL,
    farm smallint NOT NULL REFERENCES farm,
    kind smallint NOT NULL,
    lines bigint NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    PRIMARY KEY (day, farm, kind)
);
