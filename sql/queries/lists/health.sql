-- The health of the system, for operators and the public (O-5, P-6, P-7). Each statement reads a bounded number of
-- rows, however large the store is; numbers beyond the bound are estimates.

-- name: set_patience
-- To compile these statements takes longer than to run them.
SELECT set_config('statement_timeout', %(milliseconds)s, true), set_config('jit', 'off', true)

-- name: count_all
-- fan-out: the first rows of any buckets, at most `limit`; beyond that the estimate of the last ANALYZE.
SELECT clock_timestamp(),
    (SELECT count(*) FROM (SELECT FROM url LIMIT %(limit)s) AS counted),
    (SELECT sum(reltuples)::bigint FROM pg_class
        WHERE 'url'::regclass IN (oid, (SELECT inhparent FROM pg_inherits WHERE inhrelid = oid)) AND relkind = 'r'),
    (SELECT count(*) FROM (SELECT FROM host LIMIT %(limit)s) AS counted),
    (SELECT sum(reltuples)::bigint FROM pg_class
        WHERE 'host'::regclass IN (oid, (SELECT inhparent FROM pg_inherits WHERE inhrelid = oid)) AND relkind = 'r')

-- name: list_wikis
-- Pages are counted up to the limit, by index; beyond it ANALYZE has the shares of the wikis with the most pages.
SELECT wiki.dbname, farm.name, wiki.passed, wiki.pass_days, wiki.pass_s, pass.started, pass.step,
    pages.counted, (common.share * (SELECT reltuples FROM pg_class WHERE oid = 'page'::regclass))::bigint,
    waiting.counted
FROM wiki JOIN farm USING (farm) LEFT JOIN pass USING (wiki)
CROSS JOIN LATERAL (
    SELECT count(*) FROM (SELECT FROM page WHERE page.wiki = wiki.wiki LIMIT %(limit)s) AS counted
) AS pages (counted)
CROSS JOIN LATERAL (
    SELECT count(*) FROM (SELECT FROM pending WHERE pending.wiki = wiki.wiki LIMIT %(limit)s) AS counted
) AS waiting (counted)
LEFT JOIN (
    SELECT unnest(most_common_vals::text::integer[]) AS wiki, unnest(most_common_freqs) AS share
    FROM pg_stats JOIN pg_class ON relname = tablename JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = 'page'::regclass AND nspname = schemaname AND attname = 'wiki'
) AS common USING (wiki)
ORDER BY farm.farm, wiki.dbname
LIMIT %(wikis)s

-- name: list_streams
SELECT streams, greatest(0, extract(epoch FROM clock_timestamp() - moment))::bigint FROM stream_position
ORDER BY streams

-- name: count_due
-- Due hosts by index, and the due URLs of each by index, up to the limits; with nothing due, one look-up a bucket.
-- fan-out: every bucket, one look-up by index in each.
-- by shard: the numbers are added.
SELECT count(*) FROM (
    SELECT FROM (
        SELECT due_host.bucket, due_host.host_key FROM lease CROSS JOIN LATERAL (
            SELECT bucket, host_key FROM host
            WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
            LIMIT %(limit)s
        ) AS due_host
        LIMIT %(limit)s
    ) AS visit
    CROSS JOIN LATERAL (
        SELECT FROM url
        WHERE url.bucket = visit.bucket AND url.host_key = visit.host_key AND due <= %(day)s AND orphaned IS NULL
        LIMIT %(limit)s
    ) AS due_url
    LIMIT %(limit)s
) AS counted

-- name: count_unavailable
-- fan-out: by an index of its own; the number is that of Reason.UNAVAILABLE.
SELECT count(*) FROM (
    SELECT FROM url WHERE reason = 67 AND since <= %(before)s AND orphaned IS NULL LIMIT %(limit)s
) AS counted

-- name: find_oldest_due
-- One look-up in each bucket, by index: the host that was due first, and its URL that was due first.
-- fan-out: every bucket, one look-up by index in each.
SELECT min(oldest.due) FROM lease CROSS JOIN LATERAL (
    SELECT first.due FROM host CROSS JOIN LATERAL (
        SELECT due FROM url
        WHERE url.bucket = host.bucket AND url.host_key = host.host_key AND due <= %(day)s AND orphaned IS NULL
        ORDER BY due
        LIMIT 1
    ) AS first
    WHERE host.bucket = lease.bucket AND host.next_day <= %(day)s
    ORDER BY host.next_day
    LIMIT 1
) AS oldest

-- name: count_changes
-- The log has no index by day, but its numbers grow with the days: where each day begins is found by bisection. Of a
-- day with over `slices` * `rows` changes only that many are read, in slices spread over it, and extrapolated.
WITH RECURSIVE search AS (
    SELECT day, ends.low, ends.high
    FROM (SELECT coalesce(min(change), 1) AS low, coalesce(max(change), 0) + 1 AS high FROM change) AS ends
    CROSS JOIN generate_series(%(first)s::integer, %(day)s::integer + 1) AS day
    UNION ALL
    SELECT day, CASE WHEN reached THEN low ELSE middle + 1 END, CASE WHEN reached THEN middle ELSE high END
    FROM search
    CROSS JOIN LATERAL (SELECT (low + high) / 2) AS half (middle)
    CROSS JOIN LATERAL (
        SELECT (
            SELECT change.day >= search.day FROM change WHERE change.change >= middle ORDER BY change.change LIMIT 1
        ) IS NOT FALSE
    ) AS found (reached)
    WHERE low < high
), stretch AS (
    SELECT low, lead(low) OVER (ORDER BY day) AS high FROM search WHERE low >= high
), measured AS (
    SELECT low, high, greatest(%(rows)s::bigint, ceil((high - low) / %(slices)s::numeric)::bigint) AS width
    FROM stretch WHERE low < high
)
SELECT logged.day, logged.after, round(sum(width / %(rows)s::numeric))::bigint, bool_or(width > %(rows)s)
FROM measured
CROSS JOIN LATERAL generate_series(low, high - 1, width) AS begin
CROSS JOIN LATERAL (
    SELECT day, after FROM change
    WHERE change.change >= begin AND change.change < least(begin + %(rows)s, high) AND change.wiki = 0
    LIMIT %(rows)s
) AS logged
WHERE logged.day BETWEEN %(first)s AND %(day)s
GROUP BY logged.day, logged.after
ORDER BY logged.day, logged.after

-- name: list_spam_lists
-- How many lines each list has, and the first of those that cannot be run.
SELECT farm.name, dbname, kind, day,
    CASE WHEN lines = '' THEN 0 ELSE 1 + octet_length(lines) - octet_length(replace(lines, E'\n', '')) END,
    CASE WHEN unusable = '' THEN 0 ELSE 1 + octet_length(unusable) - octet_length(replace(unusable, E'\n', '')) END,
    (string_to_array(unusable, E'\n'))[:%(shown)s]
FROM spam_list JOIN farm USING (farm)
ORDER BY farm.farm, dbname, kind
LIMIT %(lists)s
