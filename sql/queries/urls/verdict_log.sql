-- The verdict log, and which links are dead on which page (U-10).

-- name: record_changes
INSERT INTO change (bucket, host_key, url_key, day, before, after, reason, wiki)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(day)s::smallint[],
    %(before)s::smallint[], %(after)s::smallint[], %(reason)s::smallint[], %(wiki)s::integer[])

-- name: record_dead
-- under lock: urls/check record_checks, or lock_urls, of the same URLs before.
INSERT INTO dead (wiki, page, bucket, host_key, url_key, since)
SELECT wiki, page, bucket, host_key, url_key, given.since
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(since)s::smallint[])
    AS given (bucket, host_key, url_key, since)
JOIN link USING (bucket, host_key, url_key)
ON CONFLICT (wiki, page, bucket, host_key, url_key) DO UPDATE SET since = excluded.since, rule = 0

-- name: record_alive
-- under lock: urls/check record_checks, or lock_urls, of the same URLs before.
DELETE FROM dead
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN link USING (bucket, host_key, url_key)
WHERE dead.wiki = link.wiki AND dead.page = link.page
    AND dead.bucket = given.bucket AND dead.host_key = given.host_key AND dead.url_key = given.url_key

-- name: record_dead_links
-- under lock: urls/url lock_urls, of what fails before; or one repair.
INSERT INTO dead (wiki, page, bucket, host_key, url_key, since)
SELECT %(wiki)s, page, bucket, host_key, url_key, since
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(since)s::smallint[]) AS given (page, bucket, host_key, url_key, since)
ON CONFLICT DO NOTHING

-- name: record_dead_links_gone
-- under lock: urls/url lock_urls, of what fails before.
DELETE FROM dead
USING unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
WHERE dead.wiki = %(wiki)s AND dead.page = given.page
    AND dead.bucket = given.bucket AND dead.host_key = given.host_key AND dead.url_key = given.url_key

-- name: list_dead_links_of
-- fan-out: by wiki and page, ranges of the primary key.
SELECT page, bucket, host_key, url_key FROM dead WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: list_dead_by_log
SELECT bucket, host_key, url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
WHERE %(dead)s::smallint = (
    SELECT after FROM change
    WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key
        AND change.wiki = 0
    ORDER BY change DESC LIMIT 1
)

-- name: list_verdicts_on
-- Of each URL the newest change by the rule of all wikis, until that day.
SELECT given.bucket, given.host_key, given.url_key, changed.day, changed.after, changed.reason
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT day, after, reason FROM change
    WHERE change.bucket = given.bucket AND change.host_key = given.host_key AND change.url_key = given.url_key
        AND change.wiki = 0 AND change.day <= %(day)s
    ORDER BY change DESC LIMIT 1
) AS changed

-- name: find_newest
-- The number that was assigned last, whether its change is committed or not; on a standby the number up to which all are.
SELECT CASE WHEN pg_is_in_recovery() THEN (SELECT change FROM settled) WHEN is_called THEN last_value ELSE 0 END
FROM change_change_seq

-- name: list_writers
-- The transactions that have written to the log and not ended yet.
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = 'change'::regclass AND mode = 'RowExclusiveLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: count_died
-- Changes of a host's URLs to dead on that day or later; counting stops at the limit.
SELECT count(*) FROM (
    SELECT FROM change
    WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND day >= %(day)s AND after = %(dead)s
    LIMIT %(limit)s
) AS died
