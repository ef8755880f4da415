-- URLs that a task of the robot has asked for, their documents and links (R-5).

-- name: list_states
-- Since when what it found can be used (it worked, is kept in full, and its anchors are known if they are wanted; what
-- the run that goes on has found, at any time), whether its last verdict in a whole run before was that it is broken,
-- and since when it is.
SELECT url_key,
    extract(epoch FROM CASE WHEN run > 0 AND reason = ANY(%(working)s::smallint[]) AND NOT (
        %(with_anchors)s AND EXISTS (
            SELECT FROM robot_page AS page
            WHERE page.task = robot_entry.task AND page.url_key = robot_entry.url_key AND content_hash <> '' AND ids = ''
        )
    ) THEN CASE WHEN run = %(run)s THEN 'infinity' ELSE loaded END END)::float,
    CASE WHEN run > %(whole_run)s THEN was_broken ELSE broken END,
    CASE WHEN broken THEN coalesce(failing_since, since) END
FROM robot_entry
WHERE task = %(task)s AND (%(after)s::bigint IS NULL OR url_key > %(after)s)
ORDER BY url_key
LIMIT %(limit)s

-- name: find_entries
SELECT robot_entry.url_key, content_hash, etag, modified, ids, followed, title, description, links,
    status, since, asked, older, strikes, failing_since, failing_until, evidence, reason, target, mime, size_kib, http,
    state_since
FROM unnest(%(url_key)s::bigint[]) AS given (url_key)
JOIN robot_entry ON robot_entry.task = %(task)s AND robot_entry.url_key = given.url_key
LEFT JOIN robot_page ON robot_page.task = %(task)s AND robot_page.url_key = given.url_key
LEFT JOIN robot_link ON robot_link.task = %(task)s AND robot_link.url_key = given.url_key

-- name: record_entries
INSERT INTO robot_entry (
    task, url_key, url, run, broken, was_broken, status, since, asked, older, strikes, failing_since, failing_until,
    evidence, reason, target, mime, size_kib, http, state_since, loaded
)
SELECT %(task)s, given.url_key, given.url, given.run, given.broken, given.was_broken, given.status, given.since,
    given.asked, given.older, given.strikes, given.failing_since, given.failing_until, given.evidence, given.reason,
    given.target, given.mime, given.size_kib, given.http, given.state_since, now()
FROM unnest(
    %(url_key)s::bigint[], %(url)s::text[], %(run)s::integer[], %(broken)s::boolean[], %(was_broken)s::boolean[],
    %(status)s::smallint[], %(since)s::smallint[], %(asked)s::smallint[], %(older)s::bytea[], %(strikes)s::smallint[],
    %(failing_since)s::smallint[], %(failing_until)s::smallint[], %(evidence)s::integer[], %(reason)s::smallint[],
    %(target)s::text[], %(mime)s::smallint[], %(size_kib)s::integer[], %(http)s::smallint[], %(state_since)s::smallint[]
) AS given (
    url_key, url, run, broken, was_broken, status, since, asked, older, strikes, failing_since, failing_until,
    evidence, reason, target, mime, size_kib, http, state_since
)
ORDER BY given.url_key
ON CONFLICT (task, url_key) DO UPDATE SET
    run = excluded.run, broken = excluded.broken, was_broken = excluded.was_broken, status = excluded.status,
    since = excluded.since, asked = excluded.asked, older = excluded.older, strikes = excluded.strikes,
    failing_since = excluded.failing_since, failing_until = excluded.failing_until, evidence = excluded.evidence,
    reason = excluded.reason, target = excluded.target, mime = excluded.mime, size_kib = excluded.size_kib,
    http = excluded.http, state_since = excluded.state_since, loaded = excluded.loaded

-- name: record_pages
INSERT INTO robot_page (task, url_key, content_hash, etag, modified, ids, followed, title, description)
SELECT %(task)s, given.*
FROM unnest(
    %(url_key)s::bigint[], %(content_hash)s::bytea[], %(etag)s::text[], %(modified)s::text[], %(ids)s::bytea[],
    %(followed)s::boolean[], %(title)s::text[], %(description)s::text[]
) AS given (url_key, content_hash, etag, modified, ids, followed, title, description)
ORDER BY given.url_key
ON CONFLICT (task, url_key) DO UPDATE SET
    content_hash = excluded.content_hash, etag = excluded.etag, modified = excluded.modified, ids = excluded.ids,
    followed = excluded.followed, title = excluded.title, description = excluded.description

-- name: record_links
-- The keys of a page come as a text of an array: rows of an array of arrays have one length.
INSERT INTO robot_link (task, url_key, links, leads_to)
SELECT %(task)s, given.url_key, given.links, given.leads_to::bigint[]
FROM unnest(%(url_key)s::bigint[], %(links)s::bytea[], %(leads_to)s::text[]) AS given (url_key, links, leads_to)
ORDER BY given.url_key
ON CONFLICT (task, url_key) DO UPDATE SET links = excluded.links, leads_to = excluded.leads_to

-- name: list_leading
-- fan-out: by the index of keys; a folder has no address that others could open.
SELECT CASE WHEN left(entry.url, 1) = '/' THEN substring(task.starts[1] FROM '^https?://[^/]+') || entry.url
    ELSE entry.url END, page.title, page.description
FROM robot_link AS link
JOIN robot_task AS task USING (task)
JOIN robot_entry AS entry USING (task, url_key)
JOIN robot_page AS page USING (task, url_key)
WHERE link.leads_to @> ARRAY[%(url_key)s::bigint] AND task.starts[1] LIKE 'http%%'
ORDER BY link.task, link.url_key
LIMIT %(limit)s
