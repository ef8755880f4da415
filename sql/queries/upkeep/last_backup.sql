-- The newest good backup (O-9).

-- name: find_backup
SELECT day, moment, bytes, place, why FROM backup

-- name: record_backup
INSERT INTO backup (day, moment, bytes, place) VALUES (%(day)s, %(moment)s, %(bytes)s, %(place)s)
ON CONFLICT (only_row) DO UPDATE
SET day = excluded.day, moment = excluded.moment, bytes = excluded.bytes, place = excluded.place, why = ''

-- name: record_failure
INSERT INTO backup (why) VALUES (%(why)s) ON CONFLICT (only_row) DO UPDATE SET why = excluded.why

-- name: record_gone
-- one row: the table has no more.
UPDATE backup SET day = NULL, moment = NULL, bytes = NULL, place = NULL
