-- The URLs of pages that somebody looks at become due (C-4).

-- name: find_moved
SELECT urls FROM moved_forward WHERE day = %(day)s

-- name: lock_urls
-- Those that were not checked for so long and are not due yet. What a round or an intake is writing is left alone:
-- nobody who looks at a page waits for it. What is never due (32767) stays so.
SELECT url.bucket, url.host_key, url.url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
WHERE url.due > %(day)s AND url.due < 32767 AND url.orphaned IS NULL AND coalesce(url.asked, url.since, 0) <= %(before)s
ORDER BY url.asked NULLS FIRST, url.bucket, url.host_key, url.url_key
LIMIT %(limit)s
FOR NO KEY UPDATE OF url SKIP LOCKED

-- name: lock_hosts
SELECT host.bucket, host.host_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
JOIN host USING (bucket, host_key)
ORDER BY host.bucket, host.host_key
FOR NO KEY UPDATE OF host SKIP LOCKED

-- name: record_due
-- under lock: pages/forward lock_urls, by the same transaction.
UPDATE url SET due = %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: record_hosts
-- under lock: pages/forward lock_hosts, by the same transaction.
UPDATE host SET next_day = %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
WHERE host.bucket = given.bucket AND host.host_key = given.host_key
    AND (host.next_day IS NULL OR host.next_day > %(day)s)

-- name: record_moved
INSERT INTO moved_forward (day, urls) VALUES (%(day)s, %(urls)s)
ON CONFLICT (only_row) DO UPDATE
SET day = excluded.day,
    urls = CASE WHEN moved_forward.day = excluded.day THEN moved_forward.urls + excluded.urls ELSE excluded.urls END
