-- The workers that want buckets, each with the moment of its last wish: so many share those with hosts that are due.
CREATE TABLE asking_worker (
    worker text PRIMARY KEY,
    asked timestamptz NOT NULL
);
