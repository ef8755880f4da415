-- How hosts answer for made-up URLs, as far as known, instead of their honesty alone (C-11).

CREATE TABLE face (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    learned smallint NOT NULL,
    face bytea NOT NULL,
    PRIMARY KEY (bucket, host_key)
);
-- Honesty was a special, number 5; it is learned anew, at the next look.
DELETE FROM special WHERE kind = 5;
