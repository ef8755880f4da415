-- Lists for readers: where a URL is used, and which links of a wiki are dead or doubtful (W-6, W-7).

-- name: list_uses
-- Of one farm, the wiki of the request before the others: of each wiki a range of the primary key.
SELECT place.wiki, place.dbname, used.page, used.namespace, used.title
FROM (
    SELECT wiki, dbname, wiki <> %(own)s::integer AS other,
        CASE WHEN wiki = %(after_wiki)s::integer THEN %(after_page)s::bigint ELSE 0 END AS after
    FROM wiki
    WHERE farm = %(farm)s
        AND (wiki <> %(own)s::integer, wiki) >= (%(after_wiki)s::integer <> %(own)s::integer, %(after_wiki)s::integer)
) AS place
CROSS JOIN LATERAL (
    SELECT link.page, page.namespace, page.title
    FROM link JOIN page ON page.wiki = link.wiki AND page.page = link.page
    WHERE link.bucket = %(bucket)s AND link.host_key = %(host_key)s AND link.url_key = %(url_key)s
        AND link.wiki = place.wiki AND link.page > place.after
    ORDER BY link.page
    LIMIT %(limit)s
) AS used
ORDER BY place.other, place.wiki, used.page
LIMIT %(limit)s

-- name: list_spam_uses
-- Only of the wiki of the request: a link that is spam on another wiki may be so by another wiki's own list (L-3, D-41).
SELECT wiki.wiki, wiki.dbname, spam_link.page, page.namespace, page.title
FROM spam_link JOIN page ON page.wiki = spam_link.wiki AND page.page = spam_link.page
    JOIN wiki ON wiki.wiki = spam_link.wiki
WHERE spam_link.bucket = %(bucket)s AND spam_link.host_key = %(host_key)s AND spam_link.url_key = %(url_key)s
    AND spam_link.wiki = %(own)s AND spam_link.page > %(after_page)s
ORDER BY spam_link.page
LIMIT %(limit)s

-- name: list_dead_links
-- fan-out: by wiki and page, a range of the primary key; a wiki's dead links are in all buckets.
SELECT page, bucket, host_key, url_key FROM dead
WHERE wiki = %(wiki)s AND rule <> 1
    AND (page, bucket, host_key, url_key) > (%(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
ORDER BY page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_dead_links_by_copy
-- fan-out: by wiki and page, as list_dead_links, of which at most `budget` are read. Returns those with an archived copy
-- or without one, and the last one that was read, after which to go on. Copies themselves need none.
SELECT page, bucket, host_key, url_key, fits, place = examined AND place = %(budget)s::bigint AS more
FROM (
    SELECT links.*,
        (EXISTS (SELECT FROM snapshot
                    WHERE snapshot.bucket = links.bucket AND snapshot.host_key = links.host_key
                        AND snapshot.url_key = links.url_key AND snapshot.archive = ANY(%(offered)s::smallint[]))
                OR EXISTS (SELECT FROM replacement
                    WHERE replacement.bucket = links.bucket AND replacement.host_key = links.host_key
                        AND replacement.url_key = links.url_key AND replacement.archive = ANY(%(offered)s::smallint[])
                        AND replacement.works))
            = %(copied)s::boolean
            AND NOT EXISTS (SELECT FROM cited_copy
                    WHERE cited_copy.bucket = links.bucket AND cited_copy.host_key = links.host_key
                        AND cited_copy.url_key = links.url_key) AS fits,
        row_number() OVER (ORDER BY page, bucket, host_key, url_key) AS place, count(*) OVER () AS examined
    FROM (
        SELECT page, bucket, host_key, url_key FROM dead
        WHERE wiki = %(wiki)s AND rule <> 1
            AND (page, bucket, host_key, url_key) > (%(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
        ORDER BY page, bucket, host_key, url_key
        LIMIT %(budget)s
    ) AS links
) AS examined
WHERE fits OR place = examined
ORDER BY page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_dead_links_below
-- Of a domain, host by host from the domain down. At most `budget` links are read. Returns those whose path begins with
-- `path` and that have an archived copy or none as wanted (NULL = both), and the last one that was read, after which to go on. The hosts of a domain are in one bucket, except those
-- below a public suffix that is itself below the domain: so the bucket is taken from each host.
SELECT reversed, page, bucket, host_key, url_key, fits, place = examined AND place = %(budget)s::bigint AS more
FROM (
    SELECT found.*, starts_with(url.path, %(path)s)
            AND (%(copied)s::boolean IS NULL OR %(copied)s::boolean
                = (EXISTS (SELECT FROM snapshot
                    WHERE snapshot.bucket = found.bucket AND snapshot.host_key = found.host_key
                        AND snapshot.url_key = found.url_key AND snapshot.archive = ANY(%(offered)s::smallint[]))
                OR EXISTS (SELECT FROM replacement
                    WHERE replacement.bucket = found.bucket AND replacement.host_key = found.host_key
                        AND replacement.url_key = found.url_key AND replacement.archive = ANY(%(offered)s::smallint[])
                        AND replacement.works))
                AND NOT EXISTS (SELECT FROM cited_copy
                    WHERE cited_copy.bucket = found.bucket AND cited_copy.host_key = found.host_key
                        AND cited_copy.url_key = found.url_key)) AS fits,
        row_number() OVER (ORDER BY found.reversed, found.page, found.url_key) AS place, count(*) OVER () AS examined
    FROM (
        SELECT hosts.reversed, links.page, hosts.bucket, hosts.host_key, links.url_key
        FROM (
            SELECT reversed, bucket, host_key,
                CASE WHEN reversed = %(after)s THEN %(after_page)s::bigint ELSE 0 END AS after_page,
                CASE WHEN reversed = %(after)s THEN %(after_url_key)s::bigint ELSE 0 END AS after_url_key
            FROM host
            WHERE reversed >= %(first)s AND reversed < %(end)s AND reversed >= %(after)s
        ) AS hosts
        CROSS JOIN LATERAL (
            SELECT page, url_key FROM dead
            WHERE wiki = %(wiki)s AND bucket = hosts.bucket AND host_key = hosts.host_key
                AND (page, url_key) > (hosts.after_page, hosts.after_url_key) AND rule <> 1
            ORDER BY page, url_key
            LIMIT %(budget)s
        ) AS links
        ORDER BY hosts.reversed, links.page, links.url_key
        LIMIT %(budget)s
    ) AS found
    CROSS JOIN LATERAL (
        SELECT path FROM url
        WHERE url.bucket = found.bucket AND url.host_key = found.host_key AND url.url_key = found.url_key
        LIMIT 1
    ) AS url
) AS examined
WHERE fits OR place = examined
ORDER BY reversed, page, url_key
LIMIT %(limit)s

-- name: list_stretch
-- The next pages of a wiki with the keys of their URLs, from page `page` on.
SELECT page, urls FROM page WHERE wiki = %(wiki)s AND page >= %(page)s ORDER BY page LIMIT %(limit)s

-- name: list_titles
SELECT page, namespace, title FROM page WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[])

-- name: list_first_pages
-- fan-out: a few pages of each wiki with the number of their dead links; limited to the pages of one screen.
SELECT given.wiki, page.page, page.namespace, page.title,
    dead_links.count, dead_links.repaired
FROM unnest(%(wikis)s::integer[]) AS given (wiki)
CROSS JOIN LATERAL (
    SELECT * FROM page WHERE page.wiki = given.wiki ORDER BY page.page LIMIT %(limit)s
) AS page
CROSS JOIN LATERAL (
    SELECT count(*), count(*) FILTER (WHERE repaired) AS repaired FROM dead
    WHERE dead.wiki = given.wiki AND dead.page = page.page AND rule <> 1
) AS dead_links
