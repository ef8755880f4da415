-- The clock of the database, which all workers share, and the newest day on which one worked (C-16).

-- name: find_moment
SELECT clock_timestamp()

-- name: find_lived
SELECT day FROM lived

-- name: record_lived
INSERT INTO lived (day) VALUES (%(day)s)
ON CONFLICT (only_row) DO UPDATE SET day = excluded.day WHERE lived.day < excluded.day

-- name: record_confirmed
INSERT INTO lived (day) VALUES (%(day)s)
ON CONFLICT (only_row) DO UPDATE SET day = excluded.day
