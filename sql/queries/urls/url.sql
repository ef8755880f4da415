-- Hosts and URLs: intake, due ones, answers (U-1, C-3).

-- name: lock_intake
SELECT pg_advisory_xact_lock(hashtextextended('weboid intake', 0))

-- name: list_known
-- Of URLs those that are known, and whether each may have to be locked: orphans and those that fail. LIMIT, so that each
-- is found by its key: for some thousand keys a join might read the whole table, batch for batch.
SELECT given.bucket, given.host_key, given.url_key, url.is_special
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT orphaned IS NOT NULL OR status >= 16 AS is_special FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    LIMIT 1
) AS url

-- name: lock_urls
-- Of URLs whose uses come or go those that may be written and those that fail.
SELECT url.bucket, url.host_key, url.url_key, url.status >= 16, NOT given.left_ AND url.orphaned IS NOT NULL
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(left)s::boolean[])
    AS given (bucket, host_key, url_key, left_)
JOIN url USING (bucket, host_key, url_key)
ORDER BY url.bucket, url.host_key, url.url_key
FOR NO KEY UPDATE OF url

-- name: lock_hosts
-- Of hosts whose URLs' uses come or go, those that will be written and those that fail; the others are not locked.
SELECT host.bucket, host.host_key, host.strikes > 0
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(written)s::boolean[])
    AS given (bucket, host_key, written)
JOIN host USING (bucket, host_key)
WHERE given.written OR host.strikes > 0
ORDER BY host.bucket, host.host_key
FOR NO KEY UPDATE OF host

-- name: record_hosts
INSERT INTO host (bucket, host_key, host, reversed, next_day)
SELECT bucket, host_key, host, reversed, next_day
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(host)s::text[], %(reversed)s::text[],
    %(next_day)s::smallint[]) AS given (bucket, host_key, host, reversed, next_day)
ORDER BY bucket, host_key
ON CONFLICT (bucket, host_key) DO UPDATE SET next_day = excluded.next_day
WHERE host.next_day IS NULL OR host.next_day > excluded.next_day

-- name: record_urls
-- Under lock_intake, as nobody else records URLs then.
COPY url (bucket, host_key, url_key, scheme, port, path, due) FROM STDIN

-- name: record_uses_again
-- Orphaned URLs that are in use again; their records are kept as they were (U-8).
-- under lock: urls/url lock_urls, of the same URLs before.
UPDATE url SET orphaned = NULL
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS given (bucket, host_key, url_key)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: record_orphans
-- under lock: urls/url lock_urls, of the same URLs before.
UPDATE url SET orphaned = %(day)s, orphaned_by = given.wiki
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(wiki)s::integer[])
    AS given (bucket, host_key, url_key, wiki)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    AND url.orphaned IS NULL
    AND NOT EXISTS (SELECT FROM link WHERE link.bucket = given.bucket AND link.host_key = given.host_key
        AND link.url_key = given.url_key)
RETURNING url.bucket, url.host_key, url.url_key

-- name: list_due_hosts
-- Each bucket gives its oldest due hosts, by index, at most `depth`; of all of these the oldest are taken. The last
-- column of the first row names the buckets that may have more than they gave, each with the day of its last one; where
-- the store is on several servers, of each of them.
WITH found AS MATERIALIZED (
    SELECT first.*, held.depth
    FROM unnest(%(buckets)s::smallint[], %(depths)s::integer[]) AS held (bucket, depth)
    CROSS JOIN LATERAL (
        SELECT bucket, host_key, host, strikes, failing_since, failing_until, evidence, reason, next_day
        FROM host
        WHERE host.bucket = held.bucket AND next_day <= %(day)s
            AND (next_day < %(day)s OR mod(mod(host_key, 24) + 14 * next_day + next_day / 7 + 24, 24) <= %(hour)s)
            AND (rests_until IS NULL OR rests_until <= now() OR %(hour)s = 24)
            AND host_key NOT IN (SELECT unnest(%(open)s::bigint[]))
        ORDER BY next_day
        LIMIT held.depth
    ) AS first
), taken AS MATERIALIZED (
    SELECT * FROM found ORDER BY next_day, random() LIMIT %(limit)s
), cut AS (
    SELECT ARRAY[bucket, max(next_day)] AS at FROM found GROUP BY bucket HAVING count(*) >= min(depth)
)
SELECT bucket, host_key, host, strikes, failing_since, failing_until, evidence, reason, next_day,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT array_agg(at) FROM cut) END
FROM taken

-- name: list_due_urls
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path,
    url.status, url.since, url.asked, url.older, url.strikes, url.failing_since, url.failing_until, url.evidence,
    url.reason, url.target, url.mime, url.size_kib, url.http, url.state_since, url.portrait
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key)
JOIN host USING (bucket, host_key)
CROSS JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = wanted.bucket AND url.host_key = wanted.host_key AND due <= %(day)s AND orphaned IS NULL
    ORDER BY due
    LIMIT %(per_host)s
) AS url

-- name: count_due_of
-- By index; of each host no more than `most` are counted. What it was asked by before is forgotten some hours later.
SELECT host.bucket, host.host_key, CASE WHEN rests_until > now() - make_interval(secs => %(rest)s) THEN asked_every END, (
    SELECT count(*) FROM (
        SELECT FROM url
        WHERE url.bucket = wanted.bucket AND url.host_key = wanted.host_key AND due <= %(day)s AND orphaned IS NULL
        LIMIT %(most)s
    ) AS due
)
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS wanted (bucket, host_key)
JOIN host USING (bucket, host_key)

-- name: find_urls
-- LIMIT, so that each is found by its full key: a join might go through all URLs of a host instead. The last column is
-- whether it is frozen on the wiki (B-6).
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path,
    url.status, url.since, url.asked, url.older, url.strikes, url.failing_since, url.failing_until, url.evidence,
    url.reason, url.target, url.mime, url.size_kib, url.http, url.state_since, url.portrait, url.due, url.orphaned,
    url.meant, host.strikes, host.failing_since, host.failing_until, host.evidence, host.reason,
    (SELECT true FROM revert WHERE revert.bucket = given.bucket AND revert.host_key = given.host_key
        AND revert.url_key = given.url_key AND revert.wiki = %(wiki)s::integer AND revert.state < 2 LIMIT 1) IS NOT NULL
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    LIMIT 1
) AS url
JOIN host ON host.bucket = url.bucket AND host.host_key = url.host_key

-- name: count_due
-- fan-out: for the progress bar of a round, once at its start; counting stops at the limit.
SELECT count(*) FROM (SELECT FROM url WHERE due <= %(day)s AND orphaned IS NULL LIMIT %(limit)s) AS due

-- name: list_canaries
-- fan-out: a few URLs that worked, in any buckets; nearly every row is one. Archives are not asked for that.
SELECT DISTINCT ON (bucket, host_key) url.scheme, host.host, url.port, url.path
FROM url JOIN host USING (bucket, host_key)
WHERE url.status = 1 AND url.bucket >= %(bucket)s AND orphaned IS NULL AND due < 32767
LIMIT %(limit)s

-- name: list_much_used
-- The hosts on whose URLs more uses hang than that; counting stops there.
SELECT bucket, host_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
WHERE (
    SELECT count(*) FROM (
        SELECT FROM link WHERE link.bucket = given.bucket AND link.host_key = given.host_key
        LIMIT %(uses)s::integer + 1
    ) AS uses
) > %(uses)s::integer

-- name: list_some
-- The first URLs of a host by key, which is a hash.
SELECT bucket, host_key, url_key FROM url
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND orphaned IS NULL AND due < 32767
ORDER BY url_key
LIMIT %(limit)s
