-- The counts of each day and wiki, for its page (W-6): made once a day by maintain, in stretches of bounded size.

-- name: count_pages
SELECT count(*), coalesce(min(page), 0), coalesce(max(page), 0) FROM page WHERE wiki = %(wiki)s

-- name: list_dead
-- fan-out: by wiki and page, a stretch of the primary key.
SELECT link.page, link.bucket, link.host_key, link.url_key, coalesce(link.repaired, false),
    coalesce(page.namespace, 0)
FROM (
    SELECT page, bucket, host_key, url_key, repaired FROM dead
    WHERE wiki = %(wiki)s AND rule <> 1
        AND (page, bucket, host_key, url_key) > (%(page)s, %(bucket)s, %(host_key)s, %(url_key)s)
    ORDER BY page, bucket, host_key, url_key
    LIMIT %(limit)s
) AS link
LEFT JOIN page ON page.wiki = %(wiki)s AND page.page = link.page
ORDER BY link.page, link.bucket, link.host_key, link.url_key

-- name: list_hosts
SELECT given.place, host.host
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) WITH ORDINALITY AS given (bucket, host_key, place)
JOIN host ON host.bucket = given.bucket AND host.host_key = given.host_key

-- name: find_stretch_end
-- Of a day's lines of the log about links that died or came back: the number of the last of the next ones.
SELECT max(change) FROM (
    SELECT change FROM change
    WHERE (before = 3) <> (after = 3) AND day = %(day)s AND change > %(after)s
    ORDER BY day, change
    LIMIT %(limit)s
) AS stretch

-- name: count_changed
-- fan-out: a stretch of the log, and the uses of its URLs in all wikis. Which lines count is as in lists/changes.
SELECT link.wiki, count(*) FILTER (WHERE log.after = 3), count(*) FILTER (WHERE log.after <> 3)
FROM (
    SELECT change, bucket, host_key, url_key, after, wiki FROM change
    WHERE (before = 3) <> (after = 3) AND day = %(day)s AND change > %(after)s AND change <= %(end)s
) AS log
JOIN link USING (bucket, host_key, url_key)
LEFT JOIN wiki_rule AS own ON own.wiki = link.wiki
WHERE log.wiki = 0 AND (own.begins IS NULL OR log.change <= own.begins)
    OR log.wiki = link.wiki AND log.change > own.begins
GROUP BY link.wiki

-- name: record_total
INSERT INTO wiki_total (wiki, day, pages, links, dead, repaired, doubtful, died, back, sampled)
VALUES (%(wiki)s, %(day)s, %(pages)s, %(links)s, %(dead)s, %(repaired)s, %(doubtful)s, %(died)s, %(back)s, %(sampled)s)
ON CONFLICT (wiki, day) DO UPDATE SET pages = excluded.pages, links = excluded.links, dead = excluded.dead,
    repaired = excluded.repaired, doubtful = excluded.doubtful, died = excluded.died, back = excluded.back,
    sampled = excluded.sampled

-- name: delete_totals
DELETE FROM wiki_total
USING (
    SELECT wiki, day FROM wiki_total WHERE wiki = %(wiki)s AND day < %(before)s
    ORDER BY wiki, day
    FOR UPDATE
) AS gone
WHERE wiki_total.wiki = gone.wiki AND wiki_total.day = gone.day

-- name: delete_places
DELETE FROM wiki_place
USING (
    SELECT wiki, kind, subject FROM wiki_place WHERE wiki = %(wiki)s
    ORDER BY wiki, kind, subject
    FOR UPDATE
) AS gone
WHERE wiki_place.wiki = gone.wiki AND wiki_place.kind = gone.kind AND wiki_place.subject = gone.subject

-- name: record_places
INSERT INTO wiki_place (wiki, kind, subject, dead, repaired)
SELECT %(wiki)s, kind, subject, dead, repaired
FROM unnest(%(kind)s::smallint[], %(subject)s::text[], %(dead)s::integer[], %(repaired)s::integer[])
    AS given (kind, subject, dead, repaired)
ORDER BY kind, subject

-- name: list_totals
SELECT day, pages, links, dead, repaired, doubtful, died, back, sampled FROM wiki_total
WHERE wiki = %(wiki)s AND day > %(after)s
ORDER BY day

-- name: list_places
SELECT kind, subject, dead, repaired FROM wiki_place
WHERE wiki = %(wiki)s
ORDER BY kind, dead DESC, subject
