-- Deleting what has expired: URLs without use (U-8), specials of hosts last seen long ago (C-6), old faces (C-11).

-- name: list_over
-- The orphans since that day or longer, by the wiki that had their last use (0 = it is not known), and how many of them it
-- holds no more: it has completed a pass since, or was forgotten. Where the wiki is not known, any wiki's pass will do.
-- fan-out: the orphans of all buckets, once a run, by an index of orphans only.
WITH guard AS (
    SELECT wiki, dbname || '@' || farm.name AS name, passed FROM wiki JOIN farm USING (farm)
    UNION ALL
    SELECT 0, '', max(passed) FROM wiki HAVING count(*) > 0
)
SELECT coalesce(url.orphaned_by, 0), coalesce(guard.name, ''), guard.passed, count(*),
    count(*) FILTER (WHERE guard.wiki IS NULL OR url.orphaned < guard.passed), guard.wiki IS NOT NULL
FROM url LEFT JOIN guard ON guard.wiki = coalesce(url.orphaned_by, 0)
WHERE url.orphaned <= %(until)s
    AND NOT EXISTS (SELECT FROM link WHERE link.bucket = url.bucket AND link.host_key = url.host_key
        AND link.url_key = url.url_key)
GROUP BY url.orphaned_by, guard.wiki, guard.name, guard.passed
ORDER BY guard.passed NULLS FIRST, url.orphaned_by

-- name: count_urls_of
-- Of the first so many uses on a wiki's pages: how many URLs they are of, and how many uses there were.
SELECT count(DISTINCT key), count(*)
FROM (
    SELECT substring(urls FROM 18 * place + 1 FOR 18) AS key
    FROM page CROSS JOIN LATERAL generate_series(0, octet_length(urls) / 18 - 1) AS place
    WHERE wiki = %(wiki)s
    LIMIT %(uses)s::bigint
) AS used

-- name: count_urls
-- fan-out: once a run, to see whether one URL in a hundred expires; counting stops at the limit, as then fewer do;
-- and once before a rekey, for the progress bar, without a limit.
SELECT count(*) FROM (SELECT FROM url LIMIT %(limit)s::bigint) AS known

-- name: list_orphans
-- Orphans that have expired, and any that are in use nevertheless. Of wikis that are held another day counts.
-- fan-out: the orphans of all buckets from a key on, by an index of orphans only.
SELECT bucket, host_key, url_key FROM url
LEFT JOIN unnest(%(wiki)s::integer[], %(held)s::integer[]) AS held (wiki, until) ON held.wiki = coalesce(orphaned_by, 0)
WHERE orphaned IS NOT NULL
    AND (bucket, host_key, url_key) > (%(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
    AND (orphaned <= coalesce(held.until, %(until)s) OR EXISTS (SELECT FROM link WHERE link.bucket = url.bucket
        AND link.host_key = url.host_key AND link.url_key = url.url_key))
ORDER BY bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_locked
-- Locked in the order of keys, before their hosts, as rounds and intake do.
SELECT url.bucket, url.host_key, url.url_key, url.orphaned <= coalesce((
        SELECT held.until FROM unnest(%(wiki)s::integer[], %(held)s::integer[]) AS held (wiki, until)
        WHERE held.wiki = coalesce(url.orphaned_by, 0)
    ), %(until)s)
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
WHERE url.orphaned IS NOT NULL
ORDER BY url.bucket, url.host_key, url.url_key
FOR UPDATE OF url

-- name: list_used
-- A statement of its own, so that it sees what the transactions wrote for which the locks waited.
SELECT bucket, host_key, url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
WHERE EXISTS (SELECT FROM link WHERE link.bucket = given.bucket AND link.host_key = given.host_key
    AND link.url_key = given.url_key)

-- name: record_used
-- under lock: upkeep/expiry list_locked, of the same URLs before.
UPDATE url SET orphaned = NULL
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS used (bucket, host_key, url_key)
WHERE url.bucket = used.bucket AND url.host_key = used.host_key AND url.url_key = used.url_key

-- name: delete_changes
-- under lock: upkeep/expiry list_locked, of the same URLs before.
DELETE FROM change
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE change.bucket = gone.bucket AND change.host_key = gone.host_key AND change.url_key = gone.url_key

-- name: delete_old_changes
-- Old ones, but neither deaths (verdict 3) nor returns, nor what a URL is now by the log; and of each age that a URL
-- worked when it was checked first, as it was once logged.
DELETE FROM change
USING (
    SELECT change FROM change AS old
    WHERE bucket >= %(first)s AND bucket < %(end)s AND (before = 3) = (after = 3)
        AND (before = 0 AND after = 1 AND day < %(day)s - 1 OR day < %(day)s - %(kept_days)s AND EXISTS (
            SELECT FROM change AS later
            WHERE later.bucket = old.bucket AND later.host_key = old.host_key AND later.url_key = old.url_key
                AND later.wiki = old.wiki AND later.change > old.change
        ))
    ORDER BY change
    FOR UPDATE SKIP LOCKED
) AS old
WHERE change.change = old.change

-- name: delete_urls
-- under lock: upkeep/expiry list_locked, of the same URLs before.
DELETE FROM url
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE url.bucket = gone.bucket AND url.host_key = gone.host_key AND url.url_key = gone.url_key

-- name: list_locked_hosts
SELECT host.bucket, host.host_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
JOIN host USING (bucket, host_key)
ORDER BY host.bucket, host.host_key
FOR UPDATE OF host

-- name: delete_hosts
-- Hosts without any URL left. An intake that adds a URL meanwhile writes the host after it, so after this statement.
-- under lock: upkeep/expiry list_locked_hosts, of the same hosts before.
DELETE FROM host
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
WHERE host.bucket = given.bucket AND host.host_key = given.host_key
    AND NOT EXISTS (SELECT FROM url WHERE url.bucket = given.bucket AND url.host_key = given.host_key)
RETURNING host.bucket, host.host_key

-- name: delete_specials_of_hosts
-- under lock: upkeep/expiry list_locked_hosts, of the same hosts before.
DELETE FROM special
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS gone (bucket, host_key)
WHERE special.bucket = gone.bucket AND special.host_key = gone.host_key

-- name: delete_faces_of_hosts
-- under lock: upkeep/expiry list_locked_hosts, of the same hosts before.
DELETE FROM face
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS gone (bucket, host_key)
WHERE face.bucket = gone.bucket AND face.host_key = gone.host_key

-- name: delete_slots_of_hosts
-- A pause that a host demands (Retry-After) is kept, whether or not the host is known.
DELETE FROM slot
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[])
        AS asked (bucket, host_key)
    JOIN slot USING (bucket, host_key)
    WHERE slot.free < clock_timestamp()
    ORDER BY slot.bucket, slot.host_key
    FOR UPDATE OF slot
) AS gone
WHERE slot.bucket = gone.bucket AND slot.host_key = gone.host_key AND slot.free < clock_timestamp()

-- name: delete_old_specials
-- Locked rows are skipped: a special that a round is writing is not old.
DELETE FROM special
USING (
    SELECT bucket, host_key, kind FROM special
    JOIN unnest(%(kind)s::smallint[], %(kept_days)s::integer[]) AS known (kind, kept_days) USING (kind)
    WHERE special.until < %(day)s - known.kept_days
    LIMIT %(limit)s
    FOR UPDATE OF special SKIP LOCKED
) AS old
WHERE special.bucket = old.bucket AND special.host_key = old.host_key AND special.kind = old.kind

-- name: delete_old_faces
-- fan-out: once a run, with the limit of a batch. Locked rows are skipped: a face that a round is writing is not old.
-- by shard: the order does not matter.
DELETE FROM face
USING (
    SELECT bucket, host_key FROM face WHERE learned < %(before)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS old
WHERE face.bucket = old.bucket AND face.host_key = old.host_key
