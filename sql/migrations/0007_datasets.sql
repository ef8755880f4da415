-- The public data set (W-13), in parts that are whole gzip files by themselves.

CREATE TABLE dataset (
    day smallint NOT NULL,
    farm smallint NOT NULL REFERENCES farm,
    part smallint NOT NULL,
    lines integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (day, farm, part)
);
ALTER TABLE dataset ALTER COLUMN body SET STORAGE EXTERNAL;
