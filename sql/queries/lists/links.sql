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

-- name: list_dead_of_pages
-- fan-out: by wiki and page, ranges of the primary key. Pages without dead links have zeros; those that are not watched
-- are left out.
SELECT page.page, page.namespace, page.title, count(dead.page), count(dead.page) FILTER (WHERE dead.repaired)
FROM page LEFT JOIN dead ON dead.wiki = page.wiki AND dead.page = page.page AND dead.rule <> 1
WHERE page.wiki = %(wiki)s AND page.page = ANY(%(pages)s::integer[])
GROUP BY page.page, page.namespace, page.title

-- name: list_dead_links
-- fan-out: by wiki and page, a range of the primary key; a wiki's dead links are in all buckets.
SELECT '', since, page, bucket, host_key, url_key FROM dead
WHERE wiki = %(wiki)s AND rule <> 1
    AND (page, bucket, host_key, url_key) > (%(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
ORDER BY page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_oldest
-- fan-out: by wiki and the day since when they are dead, a range of an index.
SELECT '', since, page, bucket, host_key, url_key FROM dead
WHERE wiki = %(wiki)s AND rule <> 1
    AND (since, page, bucket, host_key, url_key) > (%(since)s, %(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
ORDER BY since, page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_newest
-- fan-out: as list_oldest, from the end.
SELECT '', since, page, bucket, host_key, url_key FROM dead
WHERE wiki = %(wiki)s AND rule <> 1
    AND (since, page, bucket, host_key, url_key) < (%(since)s, %(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
ORDER BY since DESC, page DESC, bucket DESC, host_key DESC, url_key DESC
LIMIT %(limit)s

-- name: list_dead_links_below
-- Of a domain, host by host from the domain down. The hosts of a domain are in one bucket, except those below a public
-- suffix that is itself below the domain: so the bucket is taken from each host.
-- fan-out: a range of names in any buckets.
SELECT hosts.reversed, links.since, links.page, hosts.bucket, hosts.host_key, links.url_key
FROM (
    SELECT reversed, bucket, host_key,
        CASE WHEN reversed = %(reversed)s THEN %(page)s::bigint ELSE 0 END AS after_page,
        CASE WHEN reversed = %(reversed)s THEN %(url_key)s::bigint ELSE 0 END AS after_url_key
    FROM host
    WHERE reversed >= %(first)s AND reversed < %(end)s AND reversed >= %(reversed)s
) AS hosts
CROSS JOIN LATERAL (
    SELECT since, page, url_key FROM dead
    WHERE wiki = %(wiki)s AND bucket = hosts.bucket AND host_key = hosts.host_key
        AND (page, url_key) > (hosts.after_page, hosts.after_url_key) AND rule <> 1
    ORDER BY page, url_key
    LIMIT %(limit)s
) AS links
ORDER BY hosts.reversed, links.page, links.url_key
LIMIT %(limit)s

-- name: list_below_by_day
-- Of a domain, the first `most` of its dead links sorted: by the day since when they are dead, or backwards (`sign`).
-- fan-out: a range of names in any buckets.
SELECT '', since, page, bucket, host_key, url_key
FROM (
    SELECT links.since, links.page, hosts.bucket, hosts.host_key, links.url_key
    FROM (SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s) AS hosts
    CROSS JOIN LATERAL (
        SELECT since, page, url_key FROM dead
        WHERE wiki = %(wiki)s AND bucket = hosts.bucket AND host_key = hosts.host_key AND rule <> 1
    ) AS links
    LIMIT %(most)s
) AS listed
WHERE %(begins)s OR (%(sign)s * since, page, bucket, host_key, url_key)
    > (%(sign)s * %(since)s::integer, %(page)s::integer, %(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
ORDER BY %(sign)s * since, page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_dead_links_of_pages
-- fan-out: of each of these pages, a range of the primary key; sorted as list_below_by_day, by page where `sign` is 0.
SELECT '', since, page, bucket, host_key, url_key
FROM (
    SELECT links.* FROM unnest(%(pages)s::integer[]) AS given (page)
    CROSS JOIN LATERAL (
        SELECT since, page, bucket, host_key, url_key FROM dead
        WHERE wiki = %(wiki)s AND dead.page = given.page AND rule <> 1
    ) AS links
    LIMIT %(most)s
) AS listed
WHERE %(begins)s OR (%(sign)s * since, page, bucket, host_key, url_key)
    > (%(sign)s * %(since)s::integer, %(page)s::integer, %(bucket)s::smallint, %(host_key)s::bigint, %(url_key)s::bigint)
ORDER BY %(sign)s * since, page, bucket, host_key, url_key
LIMIT %(limit)s

-- name: list_fitting
-- Of some dead links of a wiki, each by its keys. The places of those whose path begins with `path`, that are in a
-- namespace, repaired or not, and have an archived copy or none (NULL = any). Copies themselves need none. Values with
-- LIMIT, not EXISTS: of that a plan may be to read whole tables into a hash first.
SELECT given.place
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    WITH ORDINALITY AS given (page, bucket, host_key, url_key, place)
WHERE (%(path)s::text = '' OR starts_with((
        SELECT path FROM url
        WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
        LIMIT 1), %(path)s))
    AND (%(namespace)s::integer IS NULL OR %(namespace)s::integer = (
        SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = given.page LIMIT 1))
    AND (%(repaired)s::boolean IS NULL OR %(repaired)s::boolean = coalesce((
        SELECT repaired FROM dead
        WHERE dead.wiki = %(wiki)s AND dead.page = given.page AND dead.bucket = given.bucket
            AND dead.host_key = given.host_key AND dead.url_key = given.url_key
        LIMIT 1), false))
    AND (%(copied)s::boolean IS NULL OR %(copied)s::boolean = coalesce((
            SELECT true FROM snapshot
            WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key
                AND snapshot.url_key = given.url_key AND snapshot.archive = ANY(%(offered)s::smallint[])
            LIMIT 1), (
            SELECT true FROM replacement
            WHERE replacement.bucket = given.bucket AND replacement.host_key = given.host_key
                AND replacement.url_key = given.url_key AND replacement.archive = ANY(%(offered)s::smallint[])
                AND replacement.works
            LIMIT 1), false)
        AND (SELECT true FROM cited_copy
            WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
                AND cited_copy.url_key = given.url_key
            LIMIT 1) IS NULL)
ORDER BY given.place

-- name: count_dead_links
-- fan-out: of a wiki, at most so many rows of an index.
SELECT count(*) FROM (SELECT FROM dead WHERE wiki = %(wiki)s AND rule <> 1 LIMIT %(limit)s) AS counted

-- name: count_dead_links_below
-- fan-out: a range of names in any buckets.
SELECT count(*) FROM (
    SELECT FROM (SELECT bucket, host_key FROM host WHERE reversed >= %(first)s AND reversed < %(end)s) AS hosts
    CROSS JOIN LATERAL (
        SELECT FROM dead
        WHERE wiki = %(wiki)s AND bucket = hosts.bucket AND host_key = hosts.host_key AND rule <> 1
    ) AS links
    LIMIT %(limit)s
) AS counted

-- name: count_dead_links_of_pages
-- fan-out: of each of these pages, a range of the primary key.
SELECT count(*) FROM (
    SELECT FROM unnest(%(pages)s::integer[]) AS given (page)
    CROSS JOIN LATERAL (SELECT FROM dead WHERE wiki = %(wiki)s AND dead.page = given.page AND rule <> 1) AS links
    LIMIT %(limit)s
) AS counted

-- name: list_stretch
-- The next pages of a wiki with the keys of their URLs, from page `page` on.
SELECT page, urls FROM page WHERE wiki = %(wiki)s AND page >= %(page)s ORDER BY page LIMIT %(limit)s

-- name: list_stretch_of
-- The same of some pages.
SELECT page, urls FROM page
WHERE wiki = %(wiki)s AND page = ANY(%(pages)s::integer[]) AND page >= %(page)s
ORDER BY page
LIMIT %(limit)s

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
