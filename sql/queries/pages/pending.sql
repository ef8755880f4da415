-- Pages handed in to the feeder between two passes (P-6, P-8).

-- name: record_pending
INSERT INTO pending (wiki, page, title, seen, matched)
SELECT %(wiki)s, page, title, seen, matched
FROM unnest(%(page)s::integer[], %(title)s::text[], %(seen)s::timestamptz[], %(matched)s::boolean[])
    AS given (page, title, seen, matched)
ORDER BY page, title
ON CONFLICT (wiki, page, title) DO UPDATE
SET seen = greatest(pending.seen, excluded.seen), matched = pending.matched OR excluded.matched

-- name: record_strangers
-- Pages that a request named and that are not watched: the feeder decides whether to watch them (P-8). As requests may
-- name any number of pages, no more than `most` wait; they are counted only where there are any to add. Of a wiki
-- that was just forgotten none does.
WITH strange AS MATERIALIZED (
    SELECT page FROM unnest(%(pages)s::integer[]) AS given (page)
    WHERE NOT EXISTS (SELECT FROM page WHERE page.wiki = %(wiki)s AND page.page = given.page)
)
INSERT INTO pending (wiki, page, title, seen, matched)
SELECT wiki, page, '', now(), false FROM strange JOIN wiki ON wiki = %(wiki)s
WHERE %(most)s::bigint > (
    SELECT count(*)
    FROM (SELECT FROM pending WHERE wiki = %(wiki)s AND EXISTS (SELECT FROM strange) LIMIT %(most)s) AS waiting
)
ORDER BY page
ON CONFLICT DO NOTHING

-- name: list_pending
SELECT page, title, seen, matched FROM pending
WHERE wiki = %(wiki)s AND seen <= %(until)s
ORDER BY seen, page, title
LIMIT %(limit)s

-- name: record_done
-- Not the pages that were handed in again meanwhile.
DELETE FROM pending
USING (
    SELECT asked.* FROM unnest(%(page)s::integer[], %(title)s::text[], %(seen)s::timestamptz[])
        AS asked (page, title, seen)
    JOIN pending USING (page, title)
    WHERE pending.wiki = %(wiki)s
        AND pending.seen = asked.seen
    ORDER BY pending.page, pending.title
    FOR UPDATE OF pending
) AS given
WHERE pending.wiki = %(wiki)s AND pending.page = given.page AND pending.title = given.title
    AND pending.seen = given.seen

-- name: record_strange_titles
-- As record_strangers, for pages of which only the title is known. Page 0 = the id is not known yet.
INSERT INTO pending (wiki, page, title, seen, matched)
SELECT wiki, 0, title, now(), false FROM unnest(%(titles)s::text[]) AS given (title) JOIN wiki ON wiki = %(wiki)s
WHERE %(most)s::bigint > (
    SELECT count(*) FROM (SELECT FROM pending WHERE wiki = %(wiki)s LIMIT %(most)s) AS waiting
)
ORDER BY title
ON CONFLICT DO NOTHING

-- name: has_room
SELECT %(most)s::bigint > count(*) FROM (SELECT FROM pending WHERE wiki = %(wiki)s LIMIT %(most)s) AS waiting

-- name: count_waiting
SELECT count(*)
FROM (SELECT DISTINCT page, title FROM unnest(%(page)s::integer[], %(title)s::text[]) AS given (page, title)) AS wanted
JOIN pending ON pending.wiki = %(wiki)s AND pending.page = wanted.page AND pending.title = wanted.title

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
-- under lock: pages/pending lock_urls, by the same transaction.
UPDATE url SET due = %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: record_hosts
-- under lock: pages/pending lock_hosts, by the same transaction.
UPDATE host SET next_day = %(day)s
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
WHERE host.bucket = given.bucket AND host.host_key = given.host_key
    AND (host.next_day IS NULL OR host.next_day > %(day)s)

-- name: record_moved
INSERT INTO moved_forward (day, urls) VALUES (%(day)s, %(urls)s)
ON CONFLICT (only_row) DO UPDATE
SET day = excluded.day,
    urls = CASE WHEN moved_forward.day = excluded.day THEN moved_forward.urls + excluded.urls ELSE excluded.urls END
