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
INSERT INTO spam_link (wiki, page, bucket, host_key, url_key, url, day)
SELECT %(wiki)s, page, bucket, host_key, url_key, url, %(day)s::smallint
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
-- Of the next `most` pages of one wiki with spam after `first` those in a namespace: by id, or those with the most first
-- (`sign` -1; of a page `rank` is the number of its links, or 0).
SELECT page, namespace, title, links, day
FROM (
    SELECT page.page, page.namespace, page.title, counted.links, counted.day, %(sign)s * counted.links AS rank
    FROM (
        SELECT page, count(*) AS links, max(day) AS day FROM spam_link
        WHERE wiki = %(wiki)s AND page > %(first)s
        GROUP BY page
        ORDER BY page
        LIMIT %(most)s
    ) AS counted
    JOIN page ON page.wiki = %(wiki)s AND page.page = counted.page
    WHERE %(namespace)s::integer IS NULL OR page.namespace = %(namespace)s::integer
) AS listed
WHERE (rank, page) > (%(after_rank)s::bigint, %(after_page)s::bigint)
ORDER BY rank, page
LIMIT %(limit)s

-- name: find_last_page
-- The last of the next `most` pages with spam, NULL if there are fewer.
SELECT page FROM (
    SELECT DISTINCT page FROM spam_link WHERE wiki = %(wiki)s AND page > %(first)s ORDER BY page LIMIT %(most)s
) AS next
OFFSET %(most)s - 1

-- name: count_pages
SELECT count(*) FROM (
    SELECT DISTINCT spam_link.page FROM spam_link WHERE wiki = %(wiki)s LIMIT %(most)s
) AS counted
WHERE %(namespace)s::integer IS NULL OR %(namespace)s::integer = (
    SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = counted.page LIMIT 1)

-- name: list_newest_pages
-- The pages on which the newest spam was met, of the newest `most` links with a day.
SELECT page.page, page.namespace, page.title, newest.links, newest.day
FROM (
    SELECT page, count(*) AS links, max(day) AS day
    FROM (
        SELECT page, day FROM spam_link WHERE wiki = %(wiki)s AND day IS NOT NULL ORDER BY day DESC LIMIT %(most)s
    ) AS links
    GROUP BY page
) AS newest
JOIN page ON page.wiki = %(wiki)s AND page.page = newest.page
WHERE %(namespace)s::integer IS NULL OR page.namespace = %(namespace)s::integer
ORDER BY newest.day DESC, page.page
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
