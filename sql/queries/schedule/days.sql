-- The clock of the database, which all workers share, the newest day on which one worked (C-16), and the sums of each
-- day (O-5).

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

-- name: record_totals
INSERT INTO day_total (day, figure, total)
SELECT day, figure, total
FROM unnest(%(day)s::smallint[], %(figure)s::text[], %(total)s::bigint[]) AS given (day, figure, total)
ORDER BY day, figure
ON CONFLICT (day, figure) DO UPDATE SET total = day_total.total + excluded.total

-- name: list_totals
SELECT day, figure, total FROM day_total WHERE day BETWEEN %(first)s AND %(day)s ORDER BY day, figure LIMIT %(limit)s

-- name: delete_totals
DELETE FROM day_total
USING (
    SELECT day, figure FROM day_total WHERE day < %(before)s
    FOR UPDATE SKIP LOCKED
) AS gone
WHERE day_total.day = gone.day AND day_total.figure = gone.figure

