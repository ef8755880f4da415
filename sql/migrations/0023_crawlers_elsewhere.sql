-- Turns known by a random number of each, and what crawlers without a database had done here within the last day.
ALTER TABLE slot ADD COLUMN claim bigint NOT NULL DEFAULT 0;

CREATE TABLE done_request (
    client text NOT NULL,
    request uuid NOT NULL,
    done timestamptz NOT NULL DEFAULT now(),
    answer bytea,
    PRIMARY KEY (client, request)
);

CREATE INDEX done_request_done ON done_request (done);
