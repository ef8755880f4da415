-- Pages and the uses of URLs on them (P-3, L-7).

-- name: list_known
-- Also whether an event has added links after the moment of what was read.
SELECT page, namespace, title, latest, mark, urls, flagged,
    coalesce(grown > %(as_of)s::timestamptz, false)
FROM page
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])
ORDER BY page
FOR UPDATE

-- name: record_pages
INSERT INTO page (wiki, page, namespace, title, latest, mark, urls, touched, flagged)
SELECT %(wiki)s, page, namespace, title, latest, mark, urls, %(day)s, flagged
FROM unnest(%(page)s::integer[], %(namespace)s::integer[], %(title)s::text[], %(latest)s::bigint[], %(mark)s::bigint[],
    %(urls)s::bytea[], %(flagged)s::boolean[]) AS given (page, namespace, title, latest, mark, urls, flagged)
ORDER BY page
ON CONFLICT (wiki, page) DO UPDATE
SET namespace = excluded.namespace, title = excluded.title, latest = excluded.latest, mark = excluded.mark,
    urls = excluded.urls, flagged = excluded.flagged

-- name: record_new_pages
-- Under urls/url lock_intake, as nobody else records pages then.
COPY page (wiki, page, namespace, title, latest, mark, urls, touched, flagged) FROM STDIN

-- name: record_seen
-- under lock: pages/page list_known, of the same pages before.
UPDATE page SET flagged = given.flagged
FROM unnest(%(page)s::integer[], %(flagged)s::boolean[]) AS given (page, flagged)
WHERE page.wiki = %(wiki)s AND page.page = given.page

-- name: record_touches
-- Pages that match: known ones are flagged if their links may have changed; new ones get revision 0 and are flagged.
INSERT INTO page (wiki, page, namespace, title, latest, mark, touched, flagged)
SELECT %(wiki)s, page, namespace, title, 0, mark, %(day)s, true
FROM unnest(%(page)s::integer[], %(namespace)s::integer[], %(title)s::text[], %(mark)s::bigint[])
    AS given (page, namespace, title, mark)
ORDER BY page
ON CONFLICT (wiki, page) DO UPDATE
SET touched_before = CASE WHEN page.touched < (SELECT started FROM pass WHERE pass.wiki = page.wiki)
        THEN page.touched ELSE page.touched_before END,
    touched = excluded.touched, namespace = excluded.namespace, title = excluded.title,
    flagged = page.flagged OR excluded.mark IS NULL OR page.mark IS DISTINCT FROM excluded.mark

-- name: record_exclusions
-- Takes back the touch of this pass; if such a page is included again, it is read again (D-33).
UPDATE page SET touched = touched_before, touched_before = touched, flagged = false, mark = NULL
FROM (
    SELECT page.page FROM pass JOIN page USING (wiki)
    WHERE pass.wiki = %(wiki)s AND page.page = ANY(%(pages)s::integer[]) AND page.touched >= pass.started
    ORDER BY page.page
    FOR NO KEY UPDATE OF page
) AS locked
WHERE page.wiki = %(wiki)s AND page.page = locked.page

-- name: list_records
SELECT page, mark, touched, flagged, asked, touched_before > touched FROM page
WHERE wiki = %(wiki)s AND page > %(after)s
ORDER BY page
LIMIT %(limit)s

-- name: list_urls_of
SELECT page, urls FROM page WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[]) ORDER BY page FOR UPDATE

-- name: record_urls_of
-- Without a mark, so that the next pass reads these pages again. Nothing for an event that has come before.
-- under lock: pages/page list_known, or list_urls_of, of the same pages before.
UPDATE page SET urls = given.urls, mark = NULL, grown = greatest(given.grown, page.grown)
FROM unnest(%(page)s::integer[], %(urls)s::bytea[], %(grown)s::timestamptz[]) AS given (page, urls, grown)
WHERE page.wiki = %(wiki)s AND page.page = given.page
    AND (page.urls <> given.urls OR given.grown > coalesce(page.grown, '-infinity'))

-- name: record_released
-- under lock: pages/page list_known, of the same pages before.
DELETE FROM page WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: record_many_links
-- Fails if one of them is there already.
COPY link (wiki, page, bucket, host_key, url_key) FROM STDIN

-- name: record_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
INSERT INTO link (wiki, page, bucket, host_key, url_key)
SELECT %(wiki)s, page, bucket, host_key, url_key
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
ON CONFLICT DO NOTHING

-- name: record_links_gone
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
DELETE FROM link
USING unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
    AND link.wiki = %(wiki)s AND link.page = given.page

-- name: record_asked
-- At most one write a day (P-3).
UPDATE page SET asked = %(day)s
FROM (
    SELECT page FROM page
    WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[]) AND asked IS DISTINCT FROM %(day)s
    ORDER BY page
    FOR NO KEY UPDATE
) AS locked
WHERE page.wiki = %(wiki)s AND page.page = locked.page AND asked IS DISTINCT FROM %(day)s
RETURNING urls

-- name: find_by_id
SELECT page, namespace, title, latest, urls, touched FROM page WHERE wiki = %(wiki)s AND page = %(page)s

-- name: list_parts
-- Some of the links of pages, in the order of the pages: from number `first` of the first page on, until there are
-- `limit`; pages after these are left out, and none of their links is read. Of each page also the number and the digest
-- of all its watched links, the number of those that are spam, and how many links may be listed of it.
SELECT page, namespace, title, latest,
    substring(urls FROM begin * %(bytes)s + 1 FOR (%(limit)s - earlier) * %(bytes)s), touched,
    octet_length(urls) / %(bytes)s, encode(substring(sha256(urls) FROM 1 FOR 4), 'hex'), spam, %(limit)s - earlier
FROM (
    SELECT *, (sum(rest) OVER (ORDER BY place) - rest)::integer AS earlier
    FROM (
        SELECT page.*, given.place, spam_links.spam,
            CASE WHEN given.place = 1 THEN %(first)s ELSE 0 END AS begin,
            greatest(octet_length(page.urls) / %(bytes)s + spam_links.spam
                - CASE WHEN given.place = 1 THEN %(first)s ELSE 0 END, 0) AS rest
        FROM unnest(%(pages)s::bigint[]) WITH ORDINALITY AS given (page, place)
        JOIN page ON page.wiki = %(wiki)s AND page.page = given.page
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS spam FROM spam_link
            WHERE spam_link.wiki = page.wiki AND spam_link.page = page.page
        ) AS spam_links
    ) AS counted
) AS placed
WHERE earlier < %(limit)s
ORDER BY place

-- name: list_by_spots
SELECT page.namespace, page.title, page.page
FROM unnest(%(namespaces)s::integer[], %(titles)s::text[]) AS spot (namespace, title)
JOIN page ON page.wiki = %(wiki)s AND page.namespace = spot.namespace AND page.title = spot.title

-- name: list_by_ids
SELECT page, title, octet_length(urls),
    (SELECT count(*) FROM spam_link WHERE spam_link.wiki = page.wiki AND spam_link.page = page.page)
FROM page
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])
ORDER BY page

-- name: list_of_namespace
-- Only pages that have been read; by title, as there is an index for that.
SELECT page, title, octet_length(urls),
    (SELECT count(*) FROM spam_link WHERE spam_link.wiki = page.wiki AND spam_link.page = page.page)
FROM page
WHERE wiki = %(wiki)s AND namespace = %(namespace)s AND title >= %(title)s
    AND (title, page) > (%(title)s, %(page)s) AND latest > 0
ORDER BY title, page
LIMIT %(limit)s
