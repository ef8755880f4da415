-- Transactions that the database ended because two waited for each other, or would have read what never was.

-- name: record_conflict
-- By the clock of the database: days since 2017-01-01.
INSERT INTO day_total (day, figure, total)
VALUES ((now() AT TIME ZONE 'UTC')::date - DATE '2017-01-01', 'conflicts', 1)
ON CONFLICT (day, figure) DO UPDATE SET total = day_total.total + 1
