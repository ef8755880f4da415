-- The parts that run (O-5): one row for each process, written while it lives.
CREATE TABLE part (
    role text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    machine text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    seen timestamptz NOT NULL DEFAULT now(),
    doing text NOT NULL DEFAULT '',
    figures jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (role, name)
) WITH (fillfactor = 50);
