-- Spam lists, and which links are spam on which page (L-3, L-8).

-- name: list_lists
-- The lists of one wiki and of its farm; those of other wikis are never returned.
SELECT dbname, kind, day, lines, unusable FROM spam_list
WHERE farm = %(farm)s AND dbname = ANY(%(dbnames)s::text[])
ORDER BY dbname, kind

-- name: list_stamps
-- Locked: no list changes before the caller's transaction ends.
SELECT dbname, kind, md5(lines) FROM spam_list
WHERE farm = %(farm)s AND dbname = ANY(%(dbnames)s::text[])
ORDER BY dbname, kind
FOR SHARE

-- name: list_stamps_of
-- The same for some wikis by number.
SELECT wiki.wiki, spam_list.dbname, spam_list.kind, md5(spam_list.lines)
FROM wiki JOIN spam_list ON spam_list.farm = wiki.farm AND spam_list.dbname IN ('', wiki.dbname)
WHERE wiki.wiki = ANY(%(wikis)s::integer[])
ORDER BY spam_list.farm, spam_list.dbname, spam_list.kind, wiki.wiki
FOR SHARE OF spam_list

-- name: record_list
INSERT INTO spam_list (farm, dbname, kind, day, lines, unusable)
VALUES (%(farm)s, %(dbname)s, %(kind)s, %(day)s, %(lines)s, %(unusable)s)
ON CONFLICT (farm, dbname, kind) DO UPDATE
SET day = excluded.day, lines = excluded.lines, unusable = excluded.unusable

-- name: record_applied
UPDATE spam_list SET day = %(day)s
FROM (
    SELECT kind FROM spam_list WHERE farm = %(farm)s AND dbname = %(dbname)s
    ORDER BY kind
    FOR NO KEY UPDATE
) AS locked
WHERE spam_list.farm = %(farm)s AND spam_list.dbname = %(dbname)s AND spam_list.kind = locked.kind

-- name: list_spam_links
SELECT page, bucket, host_key, url_key, url FROM spam_link
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])
ORDER BY page, bucket, host_key, url_key

-- name: list_spam_parts
-- Of each page at most so many, by key.
SELECT given.page, part.bucket, part.host_key, part.url_key, part.url
FROM unnest(%(page)s::integer[], %(first)s::integer[], %(limit)s::integer[]) AS given (page, first, most)
CROSS JOIN LATERAL (
    SELECT bucket, host_key, url_key, url FROM spam_link
    WHERE spam_link.wiki = %(wiki)s AND spam_link.page = given.page
    ORDER BY bucket, host_key, url_key
    OFFSET given.first
    LIMIT given.most
) AS part

-- name: is_spam_somewhere
SELECT FROM spam_link
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s
LIMIT 1

-- name: record_spam_links
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
INSERT INTO spam_link (wiki, page, bucket, host_key, url_key, url)
SELECT %(wiki)s, page, bucket, host_key, url_key, url
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(url)s::text[])
    AS given (page, bucket, host_key, url_key, url)
ON CONFLICT (wiki, page, bucket, host_key, url_key) DO UPDATE SET url = excluded.url
WHERE spam_link.url <> excluded.url

-- name: record_spam_links_gone
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
DELETE FROM spam_link
USING unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
WHERE spam_link.wiki = %(wiki)s AND spam_link.page = given.page AND spam_link.bucket = given.bucket
    AND spam_link.host_key = given.host_key AND spam_link.url_key = given.url_key
RETURNING spam_link.page, spam_link.bucket, spam_link.host_key, spam_link.url_key

-- name: record_pages_gone
-- under lock: urls/url lock_intake, as one intake at a time changes uses.
DELETE FROM spam_link WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: list_pages
-- The pages of one wiki with spam, by id.
SELECT page.page, page.namespace, page.title, count(*)
FROM spam_link JOIN page ON page.wiki = spam_link.wiki AND page.page = spam_link.page
WHERE spam_link.wiki = %(wiki)s AND spam_link.page > %(after)s
GROUP BY page.page, page.namespace, page.title
ORDER BY page.page
LIMIT %(limit)s

-- name: list_stretch
-- The next pages of a wiki with the keys of their URLs.
SELECT page, urls FROM page WHERE wiki = %(wiki)s AND page > %(after)s ORDER BY page LIMIT %(limit)s

-- name: list_urls
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
JOIN host USING (bucket, host_key)
