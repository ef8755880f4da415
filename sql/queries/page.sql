-- Pages and the uses of URLs on them (P-3, L-7).

-- name: list_known
SELECT page, namespace, title, latest, urls FROM page
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])
ORDER BY page
FOR UPDATE

-- name: record_pages
INSERT INTO page (wiki, page, namespace, title, latest, urls, touched)
SELECT %(wiki)s, page, namespace, title, latest, urls, %(day)s
FROM unnest(%(page)s::integer[], %(namespace)s::integer[], %(title)s::text[], %(latest)s::bigint[], %(urls)s::bytea[])
    AS given (page, namespace, title, latest, urls)
ON CONFLICT (wiki, page) DO UPDATE
SET namespace = excluded.namespace, title = excluded.title, latest = excluded.latest, urls = excluded.urls,
    touched = excluded.touched, flagged = false

-- name: record_links
INSERT INTO link (wiki, page, bucket, host_key, url_key)
SELECT %(wiki)s, page, bucket, host_key, url_key
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
ON CONFLICT DO NOTHING

-- name: record_links_gone
DELETE FROM link
USING unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
WHERE link.bucket = given.bucket AND link.host_key = given.host_key AND link.url_key = given.url_key
    AND link.wiki = %(wiki)s AND link.page = given.page

-- name: find_by_id
SELECT page, namespace, title, latest, urls, touched FROM page WHERE wiki = %(wiki)s AND page = %(page)s

-- name: find_by_title
SELECT page, namespace, title, latest, urls, touched FROM page
WHERE wiki = %(wiki)s AND namespace = %(namespace)s AND title = %(title)s
