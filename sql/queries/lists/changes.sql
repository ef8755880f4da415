-- The verdict log as news of one wiki: links that died on its pages, and links that came back (W-12, W-14).
-- In the log 3 is the verdict "dead"; the condition is that of the indexes. Of a wiki with rules of its own its own lines
-- count since it began to have them, and those of all until then; of any other wiki the lines of all (wiki 0).

-- name: find_first_of_day
SELECT change FROM change
WHERE (before = 3) <> (after = 3) AND day >= %(day)s
ORDER BY day, change
LIMIT 1

-- name: list_news
-- fan-out: the log in its order, at most `budget` lines of it. Returns those of URLs that the wiki uses, and the last
-- one that was read, after which to go on. `of`: only those that these pages use; `to`: only changes to these verdicts,
-- which are looked for among the same lines, so that no call reads more of them.
SELECT change, day, before, after, reason, bucket, host_key, url_key, used.pages, place = %(budget)s::bigint AS more
FROM (
    SELECT *, row_number() OVER (ORDER BY change) AS place, count(*) OVER () AS examined
    FROM (
        SELECT * FROM change
        WHERE (before = 3) <> (after = 3) AND change > %(since)s AND change <= %(until)s
        ORDER BY change
        LIMIT %(budget)s
    ) AS line
) AS log
CROSS JOIN (
    SELECT coalesce(min(begins), 9223372036854775807) AS begins FROM wiki_rule WHERE wiki = %(wiki)s
) AS own
CROSS JOIN LATERAL (
    SELECT array_agg(page ORDER BY page) AS pages
    FROM (
        SELECT page FROM link
        WHERE link.bucket = log.bucket AND link.host_key = log.host_key AND link.url_key = log.url_key
            AND link.wiki = %(wiki)s
            AND (log.wiki = 0 AND log.change <= own.begins OR log.wiki = %(wiki)s AND log.change > own.begins)
            AND (%(of)s::integer[] IS NULL OR page = ANY(%(of)s::integer[]))
            AND (%(to)s::smallint[] IS NULL OR log.after = ANY(%(to)s::smallint[]))
        ORDER BY page
        LIMIT %(pages)s
    ) AS uses
) AS used
WHERE used.pages IS NOT NULL OR place = examined
ORDER BY change
LIMIT %(limit)s

-- name: list_newest
-- fan-out: as list_news, newest first.
SELECT change, day, before, after, reason, bucket, host_key, url_key, used.pages, false
FROM (
    SELECT * FROM change WHERE (before = 3) <> (after = 3) ORDER BY change DESC LIMIT %(budget)s
) AS log
CROSS JOIN (
    SELECT coalesce(min(begins), 9223372036854775807) AS begins FROM wiki_rule WHERE wiki = %(wiki)s
) AS own
CROSS JOIN LATERAL (
    SELECT array_agg(page ORDER BY page) AS pages
    FROM (
        SELECT page FROM link
        WHERE link.bucket = log.bucket AND link.host_key = log.host_key AND link.url_key = log.url_key
            AND link.wiki = %(wiki)s
            AND (log.wiki = 0 AND log.change <= own.begins OR log.wiki = %(wiki)s AND log.change > own.begins)
        ORDER BY page
        LIMIT %(pages)s
    ) AS uses
) AS used
WHERE used.pages IS NOT NULL
ORDER BY change DESC
LIMIT %(limit)s

-- name: list_doubtful
-- fan-out: as list_newest, of URLs that became doubtful (2); of these no wiki has lines of its own.
SELECT change, day, before, after, reason, bucket, host_key, url_key, used.pages, false
FROM (
    SELECT * FROM change WHERE after = 2 AND wiki = 0 ORDER BY change DESC LIMIT %(budget)s
) AS log
CROSS JOIN LATERAL (
    SELECT array_agg(page ORDER BY page) AS pages
    FROM (
        SELECT page FROM link
        WHERE link.bucket = log.bucket AND link.host_key = log.host_key AND link.url_key = log.url_key
            AND link.wiki = %(wiki)s AND (%(of)s::integer[] IS NULL OR page = ANY(%(of)s::integer[]))
            AND (%(namespace)s::integer IS NULL OR %(namespace)s::integer = (
                SELECT namespace FROM page WHERE page.wiki = %(wiki)s AND page.page = link.page LIMIT 1))
        ORDER BY page
        LIMIT %(pages)s
    ) AS uses
) AS used
WHERE used.pages IS NOT NULL
ORDER BY change DESC
LIMIT %(limit)s

-- name: list_newest_of
-- The changes by which some dead links died.
SELECT died.change, died.day, died.before, died.after, died.reason, gone.bucket, gone.host_key, gone.url_key,
    gone.pages, false
FROM (
    SELECT bucket, host_key, url_key, array_agg(page ORDER BY page) AS pages
    FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (page, bucket, host_key, url_key)
    GROUP BY bucket, host_key, url_key
) AS gone
CROSS JOIN (
    SELECT coalesce(min(begins), 9223372036854775807) AS begins FROM wiki_rule WHERE wiki = %(wiki)s
) AS own
CROSS JOIN LATERAL (
    SELECT change, day, before, after, reason FROM change
    WHERE change.bucket = gone.bucket AND change.host_key = gone.host_key AND change.url_key = gone.url_key
        AND after = 3 AND before <> 3
        AND (wiki = 0 AND change <= own.begins OR wiki = %(wiki)s AND change > own.begins)
    ORDER BY change DESC
    LIMIT 1
) AS died
ORDER BY died.change DESC
LIMIT %(limit)s
